-- Positions, and nearest-neighbour tours.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/tour"
import "near_tours"

module N = mk_near_tours matrix threads

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
  N.near_tour distances lists (rng.stream 0 0) 0 first
