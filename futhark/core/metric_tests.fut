-- | Tests of `metric`.

import "metric"
import "rng"

def on_grid (x: i32) (y: i32) : i32 =
  let data = ([0, x], [0, y])
  in grid.dist data (grid.point data 0) (grid.point data 1)

def on_plane (up: bool) (x: f64) (y: f64) : i32 =
  let data = ([0, x], [0, y], f64.bool up)
  in plane.dist data (plane.point data 0) (plane.point data 1)

-- The last three lie next to a half: 1 + 1 = 2 < 1.5^2, and d^2 + d is the last square to be rounded down to d.
-- ==
-- entry: grid_distance
-- input { 0i32 0i32 } output { 0i32 }
-- input { 1i32 0i32 } output { 1i32 }
-- input { 3i32 -4i32 } output { 5i32 }
-- input { 46000i32 0i32 } output { 46000i32 }
-- input { 27600i32 36800i32 } output { 46000i32 }
-- input { 1i32 1i32 } output { 1i32 }
-- input { 4i32 4i32 } output { 6i32 }
-- input { 2i32 4i32 } output { 4i32 }
entry grid_distance (x: i32) (y: i32) : i32 = on_grid x y

-- The definition of nint in whole numbers, at every distance of an axis and of a diagonal, and at random ones.
-- ==
-- entry: grid_is_exact
-- input { 46001i64 } output { true }
entry grid_is_exact (most: i64) : bool =
  let exact x y =
    let d = i64.i32 (on_grid x y)
    let s = i64.i32 x * i64.i32 x + i64.i32 y * i64.i32 y
    in if s == 0 then d == 0 else d * d - d < s && s <= d * d + d
  let k = rng.stream 1 1
  in all (\p -> exact (i32.i64 p) 0 && exact (i32.i64 p * 7 / 10) (i32.i64 p * 7 / 10)) (iota most)
     && all (\p -> exact (rng.below k p 32527) (-(rng.below k (p + most) 32527))) (iota most)

-- `grid` and `plane` agree wherever both are defined.
-- ==
-- entry: grid_is_plane
-- input { 100000i64 } output { true }
entry grid_is_plane (tries: i64) : bool =
  let k = rng.stream 2 2
  in all (\p ->
            let x = rng.below k p 32527
            let y = rng.below k (p + tries) 32527
            in on_grid x y == on_plane false (f64.i32 x) (f64.i32 y))
         (iota tries)

-- ==
-- entry: plane_distance
-- input { false 0.0f64 0.0f64 } output { 0i32 }
-- input { false 0.5f64 0.0f64 } output { 1i32 }
-- input { false 0.25f64 0.25f64 } output { 0i32 }
-- input { false 2.5f64 0.0f64 } output { 3i32 }
-- input { false 1073741823.0f64 0.0f64 } output { 1073741823i32 }
-- input { true 0.0f64 0.0f64 } output { 0i32 }
-- input { true 0.001f64 0.0f64 } output { 1i32 }
-- input { true 3.0f64 -4.0f64 } output { 5i32 }
-- input { true 1.0f64 1.0f64 } output { 2i32 }
-- input { true 1073741822.5f64 0.0f64 } output { 1073741823i32 }
entry plane_distance (up: bool) (x: f64) (y: f64) : i32 = on_plane up x y

-- What is below a bound may be below it, by every metric, next to a half and far away; what has twice the length is told from it.
-- ==
-- entry: below_may_be_below
-- input { 20000i64 } output { true }
entry below_may_be_below (tries: i64) : bool =
  let k = rng.stream 3 3
  let is_right (x: f64) (y: f64) (up: bool): bool =
    let data = ([0, x], [0, y], f64.bool up)
    let (a, b) = (plane.point data 0, plane.point data 1)
    let d = i64.i32 (plane.dist data a b)
    let halved = d < 8 || !plane.may_be_below data a b (d / 2)
    in halved && plane.may_be_below data a b (d + 1) && !plane.may_be_below data a b (-d)
  let is_whole_right (x: i32) (y: i32): bool =
    let data = ([0, x], [0, y])
    let (a, b) = (grid.point data 0, grid.point data 1)
    let d = i64.i32 (grid.dist data a b)
    in grid.may_be_below data a b (d + 1) && !grid.may_be_below data a b d
  in all (\p ->
            let x = rng.below k p 32527
            let y = rng.below k (p + tries) 32527
            let side = f64.i32 x + 0.5
            in is_whole_right x y
               && is_right side 0 false
               && is_right side 0 true
               && is_right (f64.i32 x / 16) (f64.i32 y / 16) (x % 2 == 0)
               && is_right (f64.i32 x * 23000) (f64.i32 y * 23000) (y % 2 == 0))
         (iota tries)

-- ==
-- entry: matrix_distances
-- input { [[0i32, 1i32, 2i32], [1i32, 0i32, 3i32], [2i32, 3i32, 0i32]] }
-- output { [[0i32, 1i32, 2i32], [1i32, 0i32, 3i32], [2i32, 3i32, 0i32]] }
entry matrix_distances [n] (d: [n][n]i32) : [n][n]i32 =
  let point c = matrix.point d (i32.i64 c)
  in tabulate_2d n n (\a b -> matrix.dist d (point a) (point b))

-- A point knows its city.
-- ==
-- entry: cities
-- input { 9i64 } output { true }
entry cities (n: i64) : bool =
  let zeros = replicate n 0
  let whole = (zeros, zeros)
  let real = (map f64.i32 zeros, map f64.i32 zeros, 1)
  in all (\c ->
            matrix.city (matrix.point (replicate n zeros) c) == c
            && grid.city (grid.point whole c) == c
            && plane.city (plane.point real c) == c)
         (map i32.i64 (iota n))
