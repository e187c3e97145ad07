-- | Tests of `any_plane`: the distances of `plane`, one by one and by columns.

import "any_plane"
import "gpu_metric"
import "metric"
import "rng"

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
