-- Positions, and nearest-neighbour tours. What generations promise is tested from Python, on every backend.

import "../core/metric"
import "../core/positions"
import "../core/rng"
import "../core/schedule"
import "generation"

module G = mk_generation matrix threads

-- ==
-- entry: places
-- input { [2, 0, 3, 1] } output { [1, 3, 0, 2] }
-- input { [0] } output { [0] }
entry places [n] (tour: [n]i32) : [n]i32 = positions tour

-- From a city: along its list; where all on it are visited or it is empty, to the nearest city, the smallest among equals.
-- ==
-- entry: nearest
-- input { [[0, 3, 3, 3], [3, 0, 3, 3], [3, 3, 0, 3], [3, 3, 3, 0]] [[2], [0], [0], [1]] 0 } output { [0, 2, 1, 3] }
-- input { [[0, 3, 3, 3], [3, 0, 3, 3], [3, 3, 0, 3], [3, 3, 3, 0]] [[1], [0], [0], [1]] 3 } output { [3, 1, 0, 2] }
-- input { [[0, 9, 8, 7], [9, 0, 1, 2], [8, 1, 0, 3], [7, 2, 3, 0]] empty([4][0]i32) 0 } output { [0, 3, 1, 2] }
-- input { [[0, 1073741823], [1073741823, 0]] empty([2][0]i32) 1 } output { [1, 0] }
-- input { [[0]] empty([1][0]i32) 0 } output { [0] }
entry nearest [n] [k] (distances: [n][n]i32) (lists: [n][k]i32) (first: i32) : [n]i32 =
  G.near_tour distances lists (rng.stream 0 0) 0 first

-- ==
-- entry: bounds
-- input { [0i64, -1i64, 0i64, 0i64, 0i64, 7i64] [0, 0, -1, 0, 0, 9] [1i64, 1i64, 1i64, 0i64, 33i64, 32i64] }
-- output { [true, false, false, false, false, true] }
entry bounds [m] (generation: [m]i64) (children: [m]i32) (spread: [m]i64) : [m]bool =
  map3 is_generation generation children spread
