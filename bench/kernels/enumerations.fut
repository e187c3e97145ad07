-- | What the three enumerations of the 2-opt neighbourhood cost: the best move of each of `count` random tours of `n`
-- cities on a grid. `python -m bench.kernels.enumerations` runs this and divides.

import "../../futhark/core/metric"
import "../../futhark/core/rng"
import "../../futhark/core/tour"
import "../../futhark/two_opt/enumerations"

def cities (n: i64) : grid.data [n] =
  let coordinate key step = rng.below key step 10000
  in ( tabulate n (\c -> coordinate (rng.stream 1 0) c)
     , tabulate n (\c -> coordinate (rng.stream 1 1) c)
     )

-- The sum of the best moves' gains and places: the same for all three.
module measure (N: two_opt with data [n] = grid.data [n] with point = grid.point) = {
  def run (n: i64) (count: i64) : i64 =
    let data = cities n
    let plan = N.plan n
    let best (c: i64) =
      let move = N.best data plan (map (grid.point data) (random_tour n 0 c))
      in i64.i32 move.gain + i64.i32 move.i + i64.i32 move.j
    in loop total = 0 for c < count do total + best c
}

module run_flat = measure (flat grid)
module run_closed_form = measure (closed_form grid)
module run_diagonals = measure (diagonals grid)

-- ==
-- entry: by_flat by_closed_form by_diagonals
-- input { 100i64 1000i64 }
-- input { 200i64 250i64 }
-- input { 442i64 50i64 }
-- input { 1002i64 10i64 }
entry by_flat (n: i64) (count: i64) : i64 = run_flat.run n count
entry by_closed_form (n: i64) (count: i64) : i64 = run_closed_form.run n count
entry by_diagonals (n: i64) (count: i64) : i64 = run_diagonals.run n count
