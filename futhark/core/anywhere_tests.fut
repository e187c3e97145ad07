-- | Tests of `anywhere`.

import "anywhere"
import "metric"
import "space"

-- Whether the distances of n cities are those of another metric, and what may be below them.
local
def are_those [n] (data: anywhere.data [n]) (dist: i32 -> i32 -> i32) (may_be_below: i32 -> i32 -> i64 -> bool) : bool =
  let alike a b =
    let (c, d) = (i32.i64 a, i32.i64 b)
    let (p, q) = (anywhere.point data c, anywhere.point data d)
    in anywhere.city p == c
       && anywhere.dist data p q == dist c d
       && all (\m -> anywhere.may_be_below data p q m == may_be_below c d m) (iota 14)
  in all id (flatten (tabulate_2d n n alike))

-- A plane's are those of `plane`.
-- ==
-- entry: planes_are_planes
-- input { 0.0f64 } output { true }
-- input { 1.0f64 } output { true }
entry planes_are_planes (up: f64) : bool =
  let data = ([0, 3, 9, 3, 1.5], [0, 4, 9, 2, 1], up)
  let of f a b = f data (plane.point data a) (plane.point data b)
  in are_those (plane_data {plane = data}) (of plane.dist) (of plane.may_be_below)

-- A matrix's are those of `matrix`.
-- ==
-- entry: matrices_are_matrices
-- input { [[0i32, 5i32, 12i32], [5i32, 0i32, 7i32], [12i32, 7i32, 0i32]] } output { true }
entry matrices_are_matrices [n] (distances: [n][n]i32) : bool =
  let of f a b = f distances (matrix.point distances a) (matrix.point distances b)
  in are_those (matrix_data {matrix = distances}) (of matrix.dist) (of matrix.may_be_below)

-- Those of places beyond a plane are those of `space`, by the formula of a plane, too.
-- ==
-- entry: places_are_places
-- input { 0i32 } output { true }
-- input { 1i32 } output { true }
-- input { 2i32 } output { true }
-- input { 3i32 } output { true }
-- input { 4i32 } output { true }
-- input { 5i32 } output { true }
-- input { 6i32 } output { true }
entry places_are_places (formula: i32) : bool =
  let data = beyond_planes [0, 3, 9, 3, 1] [0, 4, 9, 2, 1] [5, 1, 0, 2, 8] [4, 7, -1, 0, 2] [0, 1, 2, 0, 4] {formula, radius = 3, longer = 5}
  let of f a b = f data (space.point data a) (space.point data b)
  in are_those (anywhere.of_places data) (of space.dist) (of space.may_be_below)
