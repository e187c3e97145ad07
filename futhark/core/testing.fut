-- | What tests have in common: random cities.

import "rng"

-- | Cities on a square grid of side `bound`.
def random_grid (n: i64) (bound: i32) : ([n]i32, [n]i32) =
  let k = rng.stream 9 0
  in (tabulate n (\c -> rng.below k c bound), tabulate n (\c -> rng.below k (c + n) bound))

-- | The matrix of their taxicab distances.
def taxicab [n] (xs: [n]i32, ys: [n]i32) : [n][n]i32 =
  tabulate_2d n n (\a b -> i32.abs (xs[a] - xs[b]) + i32.abs (ys[a] - ys[b]))
