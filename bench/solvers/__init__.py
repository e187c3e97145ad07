"""How good tours are after how long, beside other solvers, and what starting costs."""
