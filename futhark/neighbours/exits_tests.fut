-- Tests of `exits`: of every other cluster no city is nearer than the one that is found, and no cluster is passed over.

import "../core/rng"
import "exits"
import "nearest"

-- ==
-- entry: nearest_of_each_cluster
-- input { 1i64 1i64 1i64 2i32 } output { true }
-- input { 2i64 1i64 3i64 2i32 } output { true }
-- input { 13i64 3i64 4i64 2i32 } output { true }
-- input { 100i64 5i64 6i64 2i32 } output { true }
-- input { 100i64 5i64 6i64 1i32 } output { true }
-- input { 100i64 5i64 6i64 0i32 } output { true }
-- input { 500i64 4i64 40i64 2i32 } output { true }
entry nearest_of_each_cluster (n: i64) (count: i64) (several: i64) (norm: i32) : bool =
  let at s c m = i64.u64 (rng.word (rng.stream s 5) c % u64.i64 m)
  let axis s = map (\c -> f64.i64 (at s c 9)) (iota n)
  let (xs, ys, zs) = (map (\c -> f64.i64 (9 * c / n)) (iota n), axis 1, axis 2)
  -- Half of the clusters lie together, half anywhere.
  let clusters = map (\c -> i32.i64 (if c % 2 == 0 then c * several / n else at 3 c several)) (iota n)
  let numbers = map (\c -> i32.i64 ((n - 1 - c) % n)) (iota n)
  let found = outside_of_each (build_boxes xs ys zs) clusters numbers norm count (map i32.i64 (iota n))
  let size c o = length_by norm (xs[c] - xs[o]) (ys[c] - ys[o]) (zs[c] - zs[o])
  let of_number = scatter (replicate n 0i64) (map i64.i32 numbers) (iota n)
  let is_right c =
    let best_of (l: i64): (f64, i32) =
      loop (d, number) = (f64.inf, i32.highest)
      for o < n do
        let is_before = size c o < d || (size c o == d && numbers[o] < number)
        in if i64.i32 clusters[o] == l && clusters[o] != clusters[c] && is_before then (size c o, numbers[o]) else (d, number)
    let known = filter (\(d, _) -> d < f64.inf) (map best_of (iota several))
    -- How many clusters are nearer than one.
    let rank (d, number) = i64.sum (map (\(e, other) -> i64.bool (e < d || (e == d && other < number))) known)
    let is_listed (d, number: i32) =
      let r = rank (d, number)
      in r >= count || found[c, r] == number
    let is_full = and (map (\r -> (found[c, r] >= 0) == (r < length known)) (iota count))
    let is_other r = found[c, r] < 0 || clusters[of_number[i64.i32 found[c, r]]] != clusters[c]
    in all is_listed known && is_full && and (map is_other (iota count))
  in and (map is_right (iota n))
