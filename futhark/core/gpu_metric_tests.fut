-- | Tests of `gpu_metric`: the same whole numbers as TSPLIB's definition gives.

import "gpu_metric"
import "metric"
import "rng"

-- Whether d = nint(sqrt(x^2 + y^2)), by the definition of nint in whole numbers.
def is_nint (d: i64) (x: i64) (y: i64) : bool =
  let s = x * x + y * y
  in if s == 0 then d == 0 else d * d - d < s && s <= d * d + d

module mk_exact (M: gpu_metric with data [n] = ([n]f32, [n]f32)) = {
  -- Whether the distance of two cities that are x and y apart is exact, whichever way they lie.
  def exact (x: i32) (y: i32) : bool =
    let data = (map f32.i32 [0, x, 0, x], map f32.i32 [0, y, y, 0])
    let point (c: i32) = M.point data c
    let d a b = M.weight.to_i64 (M.dist data (point a) (point b))
    in all (\d -> is_nint d (i64.i32 x) (i64.i32 y)) [d 0 1, d 1 0, d 2 3, d 3 2]

  -- Every pair of whole numbers up to `width` and `height` with no distance over `most`.
  def all_exact (width: i32) (height: i32) (most: i32) : bool =
    let xs = map f32.i32 (0...width)
    let data = (xs, map (const 0) xs)
    let ys = map f32.i32 (0...height)
    let updata = (map (const 0) ys, ys)
    let right = map (M.point data) (0...width)
    let up = map (M.point updata) (0...height)
    in all (\x ->
              let highest = i32.f64 (f64.sqrt (f64.i32 most ** 2 - f64.i32 x ** 2))
              in loop ok = true
                 for y < i32.min height highest + 1 do
                   let d = M.weight.to_i64 (M.dist data right[i64.i32 x] up[i64.i32 y])
                   in ok && is_nint d (i64.i32 x) (i64.i32 y))
           (0...i32.min width most)

  -- The pairs next to half-way roots between `least` and `most`: those whose squares sum to k^2 + k, the last one to be
  -- rounded down to k, or to k^2 + k + 1, with neither over `height`; and how many there are.
  def halves (least: i32) (most: i32) (height: i32) : (bool, i64) =
    let search (k: i64) =
      loop (ok, found) = (true, 0i64)
      for above < 2 do
        let s = k * k + k + above
        in loop (ok, found) = (ok, found)
           for y < i64.min (i64.i32 height) k + 1 do
             let x = i64.f64 (f64.sqrt (f64.i64 (s - y * y)))
             in if x >= y && x * x + y * y == s
                then (ok && exact (i32.i64 x) (i32.i64 y), found + 1)
                else (ok, found)
    let (oks, founds) = unzip (map (\k -> search (i64.i32 k)) (least..<most))
    in (and oks, i64.sum founds)

  -- Random pairs with no distance over `most` and none of them over `height` in y.
  def random_exact (tries: i64) (height: i32) (most: i32) : bool =
    let k = rng.stream 3 0
    in all (\p ->
              let y = rng.below k p (height + 1)
              let x = rng.below k (p + tries) (1 + i32.f64 (f64.sqrt (f64.i32 most ** 2 - f64.i32 y ** 2)))
              in exact x (-y))
           (iota tries)
}

module fine = mk_exact fine_grid
module coarse = mk_exact coarse_grid

-- Every pair there is within the bounds of `fine_grid`, and every small one of `coarse_grid`.
-- ==
-- entry: every_fine_distance
-- input { 5790i32 4090i32 5790i32 } output { true }
entry every_fine_distance (width: i32) (height: i32) (most: i32) : bool = fine.all_exact width height most

-- ==
-- entry: every_small_coarse_distance
-- input { 2000i32 2000i32 46000i32 } output { true }
-- input { 46000i32 40i32 46000i32 } output { true }
-- input { 40i32 46000i32 46000i32 } output { true }
entry every_small_coarse_distance (width: i32) (height: i32) (most: i32) : bool =
  coarse.all_exact width height most

-- ==
-- entry: fine_halves
-- input { 0i32 5790i32 4090i32 } output { true }
entry fine_halves (least: i32) (most: i32) (height: i32) : bool =
  let (ok, found) = fine.halves least most height
  in ok && found > 1000

-- ==
-- entry: coarse_halves
-- input { 0i32 3000i32 } output { true }
-- input { 14000i32 14300i32 } output { true }
-- input { 32500i32 32800i32 } output { true }
-- input { 45700i32 46000i32 } output { true }
entry coarse_halves (least: i32) (most: i32) : bool =
  let (ok, found) = coarse.halves least most 46000
  in ok && found > 100

-- ==
-- entry: random_distances
-- input { 1000000i64 } output { true }
entry random_distances (tries: i64) : bool =
  fine.random_exact tries 4090 5790 && coarse.random_exact tries 46000 46000

-- The corners of the bounds.
-- ==
-- entry: fine_distance_is_exact
-- input { 4098i32 4090i32 } output { true }
-- input { 5790i32 0i32 } output { true }
-- input { 0i32 4090i32 } output { true }
entry fine_distance_is_exact (x: i32) (y: i32) : bool = fine.exact x y

-- ==
-- entry: coarse_distance_is_exact
-- input { 46000i32 0i32 } output { true }
-- input { 0i32 46000i32 } output { true }
-- input { 27600i32 36800i32 } output { true }
-- input { 36800i32 27600i32 } output { true }
-- input { 32526i32 32526i32 } output { true }
entry coarse_distance_is_exact (x: i32) (y: i32) : bool = coarse.exact x y

-- A GPU's root may be off by 2^-22 of itself: as much as the root of a number that is off by 2^-21. `root_below` and its
-- bounds grow with s, so that the first and the last s that round to k speak for all between: here, for every s up to
-- most^2 + most.
-- ==
-- entry: root_is_below
-- input { 46341i64 } output { true }
entry root_is_below (most: i64) : bool =
  let is_bounded (error: f32) (k: i64) =
    let root (s: i64) = i64.f32 (root_below (f32.i64 s * (1 + error)))
    in k - 1 <= root (k * k - k + 1) && root (k * k + k) <= k
  let error = 1 / 2097152
  in all (\k -> is_bounded 0 k && is_bounded error k && is_bounded (-error) k) (1...most)
     && root_below 0 == 0

-- ==
-- entry: gpu_plane_is_plane
-- input { 200000i64 } output { true }
entry gpu_plane_is_plane (tries: i64) : bool =
  let k = rng.stream 4 0
  let number (p: i64) = f64.i32 (rng.below k p 2000000000) / 64
  let agree up p =
    let data = ([number p, number (p + tries)], [number (p + 2 * tries), number (p + 3 * tries)], up)
    let d = gpu_plane.dist data (gpu_plane.point data 0) (gpu_plane.point data 1)
    in gpu_plane.weight.to_i64 d == i64.i32 (plane.dist data (plane.point data 0) (plane.point data 1))
  in all (\p -> agree 0 p && agree 1 p) (iota tries)

-- Whether `fast_plane` gives the distance of two of `n` cities exactly, whichever way they lie; and whether what `try_root`
-- says without a doubt is right, also with a root that is off by as much as a GPU's may be: the root of a number that is
-- off by 2^-21. And how many of the three roots are in doubt.
def settles [n] (data: fast_data [n]) (a: i32) (b: i32) : (bool, i64) =
  let point = fast_plane.point data
  let d = plane.dist data.exact (plane.point data.exact a) (plane.point data.exact b)
  let exact p q = fast_plane.weight.to_i64 (fast_plane.dist data p q) == i64.i32 d
  let dx = data.xs[i64.i32 a] - data.xs[i64.i32 b]
  let dy = data.ys[i64.i32 a] - data.ys[i64.i32 b]
  let s = f32.fma dx dx (dy * dy)
  let (ts, sures) =
    unzip (map (\error -> try_root data.half data.most (s * (1 + error))) [0, 1 / 2097152, -1 / 2097152])
  in ( exact (point a) (point b) && exact (point b) (point a)
       && and (map2 (\t sure -> !sure || t == f32.i32 d) ts sures)
     , i64.sum (map (\sure -> i64.bool (!sure)) sures)
     )

-- A random number in [0, 1).
def fraction (k: rng.key) (p: i64) : f64 = f64.u64 (rng.word k p >> 11) / 9007199254740992

-- Pairs of a random city in a square and another one `length` from it, for lengths next to half or whole numbers: so near
-- as single precision tells them apart, and nearer. Four cities fix the square, far from the origin by `offset`.
def near_doubt (tries: i64) (side: f64) (offset: f64) (up: f64) : bool =
  let k = rng.stream 5 0
  let ok (p: i64) =
    let q = 6 * p
    let step = fraction k (q + 1) * 2 - 1
    let whole = f64.floor (fraction k q * side) + 0.5 * (1 - up)
    let length = f64.abs (whole + step * 10 ** (-9 + 8 * fraction k (q + 2)))
    let angle = fraction k (q + 3) * f64.pi / 2
    let (dx, dy) = (length * f64.cos angle, length * f64.sin angle)
    let (x, y) = (fraction k (q + 4) * (side - dx), fraction k (q + 5) * (side - dy))
    let xs = map (+ offset) [x, x + dx, 0, side, x + dx]
    let ys = map (+ offset) [y, y + dy, 0, side, y]
    let (data, _) = fast_data (xs, ys, up)
    in (settles data 0 1).0 && (settles data 0 4).0
  in all ok (iota tries)

-- Squares of all sizes, from smaller than a unit to larger than `fast_plane` pays for.
-- ==
-- entry: fast_plane_near_doubt
-- input { 200000i64 0.0 } output { true }
-- input { 50000i64 1e6 } output { true }
-- input { 50000i64 -1e12 } output { true }
entry fast_plane_near_doubt (tries: i64) (offset: f64) : bool =
  all (\side -> near_doubt tries side offset 0 && near_doubt tries side offset 1)
      [0.25, 1, 3, 100, 1000, 4000, 30000]

-- Random pairs in a square: all are exact; in doubt is one in a million for each unit of the square's side, or fewer.
-- ==
-- entry: fast_plane_random
-- input { 1000i64 1000.0 } output { true }
-- input { 1000i64 4000.0 } output { true }
entry fast_plane_random (n: i64) (side: f64) : bool =
  let k = rng.stream 6 0
  let xs = tabulate n (\c -> fraction k c * side)
  let ys = tabulate n (\c -> fraction k (c + n) * side)
  let few up =
    let (data, pays) = fast_data (xs, ys, up)
    let (oks, doubts) =
      unzip (map (\a ->
                    loop (ok, doubts) = (true, 0)
                    for b < n do
                      let (ok', more) = settles data (i32.i64 a) (i32.i64 b)
                      in (ok && ok', if a == b then doubts else doubts + more))
                 (iota n))
    in pays && and oks && f64.i64 (i64.sum doubts) <= 1e-6 * side * 3 * f64.i64 (n * n)
  in few 0 && few 1

-- Half-integer coordinates: many distances lie on the boundary itself.
-- ==
-- entry: fast_plane_halves
-- input { 100i32 } output { true }
entry fast_plane_halves (most: i32) : bool =
  let ok up x y =
    let (data, _) = fast_data ([0, f64.i32 x / 2], [0, f64.i32 y / 2], up)
    in (settles data 0 1).0
  in all (\x -> loop ok' = true for y < most + 1 do ok' && ok 0 x y && ok 1 x y) (0...most)

-- Where the longest distance is in doubt too often, the plane is left to double precision.
-- ==
-- entry: fast_plane_pays
-- input { 5700.0 0.0 } output { true }
-- input { 5800.0 0.0 } output { false }
-- input { 1e9 0.0 } output { false }
-- input { 1000.0 1e300 } output { true }
-- input { 0.0 5.0 } output { true }
entry fast_plane_pays (side: f64) (offset: f64) : bool =
  (fast_data ([offset, offset + side], [offset, offset + side], 0)).1

-- ==
-- entry: gpu_matrix_distances
-- input { [[0i32, 1i32, 2i32], [1i32, 0i32, 3i32], [2i32, 3i32, 0i32]] }
-- output { [[0i32, 1i32, 2i32], [1i32, 0i32, 3i32], [2i32, 3i32, 0i32]] }
entry gpu_matrix_distances [n] (d: [n][n]i32) : [n][n]i32 =
  let point c = gpu_matrix.point d (i32.i64 c)
  in tabulate_2d n n (\a b -> i32.i64 (gpu_matrix.weight.to_i64 (gpu_matrix.dist d (point a) (point b))))

-- Sides small enough for single precision, and far too large; distances beyond 2^24 keep their last digit.
-- ==
-- entry: any_plane_is_plane
-- input { 300i64 100 } output { true }
-- input { 300i64 4000 } output { true }
-- input { 300i64 1000000 } output { true }
-- input { 300i64 500000000 } output { true }
entry any_plane_is_plane (n: i64) (side: i32) : bool =
  let k = rng.stream 7 0
  let number (p: i64) = f64.i32 (rng.below k p side) + f64.i32 (rng.below k (p + 2 * n) 4) / 4
  let xs = tabulate n number
  let ys = tabulate n (\c -> number (c + n))
  let same up =
    let (data, _) = fast_data (xs, ys, up)
    let row = map (any_plane.point data) (map i32.i64 (iota n))
    let expected a b = i64.i32 (plane.dist (xs, ys, up) (plane.point (xs, ys, up) a) (plane.point (xs, ys, up) b))
    in all (\b ->
              let column = any_plane.dists data row row[b]
              in all (\a ->
                        let told = expected (i32.i64 a) (i32.i64 b)
                        in any_plane.weight.to_i64 column[a] == told
                           && any_plane.weight.to_i64 (any_plane.dist data row[a] row[b]) == told)
                     (iota n))
           (iota n)
  in same 0 && same 1
