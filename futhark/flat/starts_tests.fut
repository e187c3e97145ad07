-- Starts: tours along curves and by fragments, with lengths. More is tested from Python.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "plans"
import "rows"
import "starts"

module S = mk_starts matrix

def plan : bulk_plan = {seed = 0, first = 0, curved = false, noise = 256, joins = 8, wide = 0, least = 0, rounds = 0}

-- ==
-- entry: bounds
-- input { [32i64, 33i64, 5i64, 5i64] [0, 0, -1, 4097] } output { [true, false, false, false] }
entry bounds [m] (k: [m]i64) (noise: [m]i32) : [m]bool = map2 (\k noise -> is_joining k (plan with noise = noise)) k noise

-- ==
-- entry: length
-- input { [0, 1, 2, 3] } output { 4i64 }
-- input { [0, 2, 1, 3] } output { 6i64 }
entry length (tour: [4]i32) : i64 =
  (S.measured (one_row 4) (taxicab ([0, 0, 1, 1], [0, 1, 1, 0])) [tour] [tour]).lengths[0]

-- Both kinds are tours, and tours differ.
-- ==
-- entry: starts_hold
-- input { 1i64 } output { true }
-- input { 2i64 } output { true }
-- input { 3i64 } output { true }
-- input { 100i64 } output { true }
entry starts_hold (n: i64) : bool =
  let cities = random_grid n 1000
  let lists = tabulate_2d n (i64.min 5 (n - 1)) (\a j -> i32.i64 ((a + j + 1) % n))
  let keys = map (rng.stream 0) (iota 3)
  let curves = S.curves (one_row n) (taxicab cities) cities keys
  let greedy = S.greedy (one_row n) (taxicab cities) lists cities keys plan
  let differ (tours: [3][n]i32) = n < 4 || or (map2 (!=) tours[0] tours[1])
  in all is_tour curves.tours && all is_tour greedy.tours && differ curves.tours && differ greedy.tours
