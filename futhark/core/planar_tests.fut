-- Tests of `planar`: parts of the plane, and paths that keep their ends together.

import "../local_search/ils"
import "../local_search/route"
import "../local_search/three_opt"
import "../local_search/worker"
import "metric"
import "rng"
import "testing"
import "tour"

module path = mk_path planar_grid

module path_of_plane = mk_path planar_plane

module T = mk_three_opt path_of_plane

module I = mk_ils path_of_plane (mk_thread_worker path_of_plane)

-- The distances of some cities are those of the whole.
-- ==
-- entry: parts_keep_distances
-- input { 20i64 [3, 0, 19, 7, 7] 0i64 5i64 } output { true }
-- input { 20i64 [3, 0, 19, 7, 7] 2i64 2i64 } output { true }
-- input { 20i64 [3] 0i64 1i64 } output { true }
-- input { 20i64 [3, 4] 2i64 0i64 } output { true }
entry parts_keep_distances [m] (n: i64) (cities: [m]i32) (first: i64) (count: i64) : bool =
  let (xs, ys) = random_grid n 100
  let halves = (map (\x -> f64.i32 x / 2) xs, map (\y -> f64.i32 y / 2) ys, 1)
  let of_grid = planar_grid.slice (planar_grid.gather (xs, ys) cities) first count
  let of_plane = planar_plane.slice (planar_plane.gather halves cities) first count
  let alike a b =
    let c = cities[first + a]
    let d = cities[first + b]
    let (a, b) = (i32.i64 a, i32.i64 b)
    in grid.dist (xs, ys) (grid.point (xs, ys) c) (grid.point (xs, ys) d)
       == grid.dist of_grid (grid.point of_grid a) (grid.point of_grid b)
       && plane.dist halves (plane.point halves c) (plane.point halves d)
          == plane.dist of_plane (plane.point of_plane a) (plane.point of_plane b)
  in and (flatten (tabulate_2d count count alike))

-- Distances on a path, along it and across; only those of its ends are not the metric's.
-- ==
-- entry: path_distances
-- input { [0, 3, 6, 9] [0, 4, 8, 12] }
-- output { [[0, 5, 10, -2147483648], [5, 0, 5, 10], [10, 5, 0, 5], [-2147483648, 10, 5, 0]] }
-- input { [0, 3] [0, 4] } output { [[0, -2147483648], [-2147483648, 0]] }
entry path_distances [n] (xs: [n]i32) (ys: [n]i32) : [n][n]i32 =
  let point c = path.point (xs, ys) (i32.i64 c)
  in tabulate_2d n n (\a b -> path.dist (xs, ys) (point a) (point b))

-- Cities in the four corners of a square, where edges are as long as can be, or anywhere.
def random_points (n: i64) (side: f64) (s: i64) : plane.data [n] =
  let key = rng.stream 8 s
  let at i =
    if s % 2 == 0
    then side * f64.i32 (rng.below key i 2)
    else side * f64.i32 (rng.below key i 1000) / 1000
  in (map at (iota n), map at (map (+ n) (iota n)), 0)

-- All others in order of distance, as they are without a path.
def links_of [n] (data: plane.data [n]) : links [n] [n - 1] =
  let link a b = (i64.i32 (plane.dist data (plane.point data (i32.i64 a)) (plane.point data (i32.i64 b))) << 32) | b
  let list a =
    let keys = map (link a) (filter (!= a) (iota n)) :> [n - 1]i64
    let ranks = map (\x -> i64.sum (map (\y -> i64.bool (y < x)) keys)) keys
    in scatter (copy keys) ranks keys
  in map list (iota n)

-- No move that shortens a tour parts the ends of a path.
-- ==
-- entry: moves_keep_ends
-- input { 5i64 759250000.0 } output { true }
-- input { 8i64 759250000.0 } output { true }
-- input { 12i64 759250000.0 } output { true }
-- input { 12i64 100.0 } output { true }
entry moves_keep_ends (n: i64) (side: f64) : bool =
  let holds s best =
    let data = random_points n side s
    let links = links_of data
    -- A random tour of the others, with the last city behind the first.
    let others = random_tour (n - 1) 3 s
    let z = loop z = 0i64 while others[z] != 0 do z + 1
    let tour = map (\p -> if p <= z then others[p] else if p == z + 1 then i32.i64 n - 1 else others[p - 1]) (iota n)
    let keeps c =
      let m = T.move_of data links {segment = i32.i64 n, best, draws = 0, straight = false} (route_of tour) (i32.i64 c)
      let is_tie x y = i32.min x y == 0 && i32.max x y == i32.i64 n - 1
      in !(m.kind > 0 && is_tie m.t1 m.t2) && !(m.kind > 0 && is_tie m.t3 m.t4) && !(m.kind > 1 && is_tie m.t5 m.t6)
    in and (map keeps (iota n))
  in and (map (\s -> holds s true && holds s false) (iota 200))

-- Climbers do not part the ends of a path, however long its other edges are.
-- ==
-- entry: ends_stay_together
-- input { 2i64 100.0 0.0 } output { true }
-- input { 3i64 100.0 0.0 } output { true }
-- input { 5i64 100.0 0.0 } output { true }
-- input { 8i64 100.0 3.0 } output { true }
-- input { 40i64 100.0 3.0 } output { true }
-- input { 8i64 759250000.0 0.0 } output { true }
-- input { 40i64 759250000.0 0.0 } output { true }
entry ends_stay_together (n: i64) (side: f64) (temperature: f64) : bool =
  let holds s =
    let data = random_points n side s
    let choice = {segment = i32.i64 n, best = s % 3 == 0, draws = 0, straight = false}
    let given = descent_plan with iterations = 50 with temperature = temperature with acceptance = i32.bool (s % 3 == 0) with seed = 8 with first = s
    let kicks = {kind = i32.bool (s % 5 == 0), apart = 50}
    let plan = {given, choice, depth = 0, woken = 0, again = true, begin = 0, window = 0, kicks}
    let start = map i32.i64 (iota n)
    let {tour, best = _, length = _, steps = _} = I.climb data (links_of data) plan (rng.stream 9 s) start start
    let ends p = let c = tour[p] let d = tour[(p + 1) % n] in c + d == i32.i64 n - 1 && (c == 0 || d == 0)
    in is_tour tour && or (map ends (iota n))
  in and (map holds (iota 60))
