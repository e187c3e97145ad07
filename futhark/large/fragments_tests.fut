-- Tests of `fragments`: the shortest edge that fits is taken first, and one path is left.

import "../core/rng"
import "fragments"

-- All others of each of m cities, in order of their numbers.
def all_others (m: i64) : [m][m - 1]i32 = tabulate_2d m (m - 1) (\i x -> i32.i64 (if x < i then x else x + 1))

-- Cities of a line, in any order, whose gaps are all different: the greedy path goes along it. n is no multiple of 7.
-- ==
-- entry: line_is_followed
-- input { 2i64 } output { true }
-- input { 3i64 } output { true }
-- input { 40i64 } output { true }
entry line_is_followed (n: i64) : bool =
  let place c = (c * 7 + 3) % n
  let at = map (\c -> f64.i64 (place c * (place c + 20))) (iota n)
  let points = map (\x -> [x, 0]) at
  let path = path_of (join_near points (lone_cities n) (map i32.i64 (iota n)) (all_others n))
  let places = map (\c -> place (i64.i32 c)) path
  let step p = i64.abs (places[p + 1] - places[p]) == 1
  in all step (iota (n - 1))

-- Joins by three near ones at first, then by all ends: every city once, the number of fragments as many as edges are missing.
-- ==
-- entry: one_path_is_left
-- input { 2i64 } output { true }
-- input { 17i64 } output { true }
-- input { 300i64 } output { true }
entry one_path_is_left (n: i64) : bool =
  let points = tabulate_2d n 2 (\c axis -> f64.u64 (rng.word (rng.stream 3 (c * 2 + axis)) 0 % 1000))
  let k = i64.min 3 (n - 1)
  let near = tabulate_2d n k (\c x -> i32.i64 ((c + x + 1) % n))
  let some = join_near points (lone_cities n) (map i32.i64 (iota n)) near
  let edges = i64.sum (map (\link -> i64.bool (link >= 0)) some.links) / 2
  let ends = ends_of some
  let m = length ends
  let whole = join_near points some (ends :> [m]i32) (all_others m)
  let seen = reduce_by_index (replicate n 0i64) (+) 0 (map i64.i32 (path_of whole)) (replicate n 1)
  in some.count == n - edges && whole.count == 1 && all (== 1) seen
