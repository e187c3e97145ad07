-- The moves of a city: of every kind, exact, and with the edges that they say.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "route"
import "three_opt"
import "tour_edits"
import "worker"

module W = mk_thread_worker matrix
module in_place = mk_edits W

module T = mk_three_opt matrix

def length [n] (data: [n][n]i32) (tour: [n]i32) : i64 =
  i64.sum (map2 (\a b -> T.between data a b) tour (rotate 1 tour))

-- All others, in order of their distances from a city, by insertion.
def sorted [n] (data: [n][n]i32) (k: i64) : [n][k]i32 =
  let key a b = if a == b then i64.highest else (T.between data (i32.i64 a) (i32.i64 b) << 32) | b
  let nearest a =
    let keys =
      loop keys = map (key a) (iota n)
      for i < n do
        (loop keys for j < n - 1 - i do
           let x = copy keys[j]
           let y = copy keys[j + 1]
           let keys = keys with [j] = i64.min x y
           in keys with [j + 1] = i64.max x y)
    in map (\x -> i32.i64 (x & 0xffffffff)) (take k keys)
  in map nearest (iota n)

def links [n] (data: [n][n]i32) (k: i64) : links [n] [k] = T.links_of data (sorted data k)

-- The kinds of the moves of all cities of several tours, each made by itself: a set bit a kind, or -1 if a tour was none, or
-- not shorter by the gain.
-- ==
-- entry: kinds
-- input { 20i64 3 false } output { 30 }
-- input { 20i64 20 false } output { 30 }
-- input { 20i64 20 true } output { 30 }
-- input { 6i64 6 true } output { 30 }
-- input { 3i64 3 false } output { 1 }
entry kinds (n: i64) (segment: i32) (best: bool) : i32 =
  let data = taxicab (random_grid n 50)
  let links = links data (n - 1)
  let kind_of s c =
    let tour = random_tour n 5 s
    let r = route_of tour
    let move = T.move_of data links {segment, best, draws = 0, straight = false} r (i32.i64 c)
    let (r, _) = in_place.make (r, empty_log (i64.i32 log_capacity)) move
    let after = take n r
    let exact = is_tour after && length data tour - length data after == move.gain && (move.gain > 0) == (move.kind > 0)
    in if exact then 1 << move.kind else -1
  let found = flatten (tabulate_2d 40 n kind_of)
  in if any (< 0) found then -1 else reduce (|) 0 found & (if n > 3 then 30 else 31)

-- The best of a city's moves gains no less than the first.
-- ==
-- entry: best_is_no_less
-- input { 15i64 } output { true }
entry best_is_no_less (n: i64) : bool =
  let data = taxicab (random_grid n 50)
  let links = links data 8
  let gain best c =
    let r = route_of (random_tour n 6 0)
    in (T.move_of data links {segment = i32.i64 n, best, draws = 0, straight = false} r (i32.i64 c)).gain
  in all (\c -> gain true c >= gain false c) (iota n)

-- Sums of distances leave 32 bits.
-- ==
-- entry: longest_gain
-- input { 1073741823 } output { 3221225469i64 }
entry longest_gain (d: i32) : i64 =
  let far a b = a != b && (b == a + 1 || a == b + 1 || (a + b == 5 && i64.abs (a - b) == 5))
  let data = tabulate_2d 6 6 (\a b -> if far a b && i64.min a b % 2 == 0 && i64.abs (a - b) == 1 then d else 0)
  let r = route_of (map i32.i64 (iota 6))
  in (T.move_of data (links data 5) {segment = 6, best = true, draws = 0, straight = false} r 0).gain

-- The kinds of the moves that may be drawn of several tours, each made by itself: a set bit a kind, or -1 if a tour was none,
-- or not shorter by the gain.
-- ==
-- entry: drawn_kinds
-- input { 12i64 12 } output { 31 }
-- input { 12i64 3 } output { 31 }
-- input { 6i64 6 } output { 31 }
-- input { 4i64 4 } output { 27 }
-- input { 3i64 3 } output { 1 }
-- input { 2i64 2 } output { 1 }
entry drawn_kinds (n: i64) (segment: i32) : i32 =
  let data = taxicab (random_grid n 50)
  let links = links data (n - 1)
  let choice = {segment, best = false, draws = 1, straight = false}
  let kind_of s t1 side i j =
    let tour = random_tour n 5 s
    let r = route_of tour
    let found = T.draw_of data links choice r (i32.i64 t1) (2 * i32.i64 side - 1) (i32.i64 i) (i32.i64 j)
    let move = if found.kind == 0 then no_move else T.found_move links r (i32.i64 t1) found
    let (r, _) = in_place.make (r, empty_log (i64.i32 log_capacity)) move
    let after = take n r
    let exact = is_tour after && length data tour - length data after == move.gain && (move.gain > 0) == (move.kind > 0)
    in if exact then 1 << move.kind else -1
  let found =
    tabulate_3d 10 n 2 (\s t1 side -> tabulate_2d (n - 1) (n - 1) (kind_of s t1 side))
  let found = flatten (flatten (flatten (flatten found)))
  in if any (< 0) found then -1 else reduce (|) 0 found

-- The largest gain of all moves of two edges, and of three with so short a segment: by all edges (a, b), (c, d), (e, f).
def largest [n] (data: [n][n]i32) (segment: i64) (tour: [n]i32) : i64 =
  let d x y = T.between data x y
  let city p = tour[p % n]
  let gain i j k =
    let (a, b, c, x, e, f) = (city i, city (i + 1), city j, city (j + 1), city k, city (k + 1))
    let two = if i < j then d a b + d c x - d a c - d b x else 0
    let short = i64.min (j - i) (i64.min (k - j) (n - k + i)) <= segment
    let least =
      i64.min (i64.min (d a c + d b e + d x f) (d a x + d e b + d c f))
              (i64.min (d a x + d e c + d b f) (d a e + d x b + d c f))
    let three = if i < j && j < k && short then d a b + d c x + d e f - least else 0
    in i64.max two three
  in i64.maximum (flatten_3d (tabulate_3d n n n gain)) |> i64.max 0

-- With many draws, the best of them is the best of all moves, and the gain is exact.
-- ==
-- entry: best_is_drawn
-- input { 8i64 8i64 } output { true }
-- input { 9i64 3i64 } output { true }
-- input { 9i64 1i64 } output { true }
-- input { 5i64 5i64 } output { true }
entry best_is_drawn (n: i64) (segment: i64) : bool =
  let data = taxicab (random_grid n 50)
  let links = links data (n - 1)
  let holds s =
    let tour = random_tour n 5 s
    let r = route_of tour
    let q = loop q = empty_queue n for c < n do push q (i32.i64 c)
    let choice = {segment = i32.i64 segment, best = false, draws = 100000, straight = false}
    let move = W.draw data links choice r q (rng.stream 3 s)
    let (r, _) = in_place.make (r, empty_log (i64.i32 log_capacity)) move
    in move.gain == largest data segment tour && length data tour - length data (take n r) == move.gain
  in all holds (iota 10)

-- Only a city that waits is the first one of a move; where no list names a city, there is no move.
-- ==
-- entry: waiting_moves
-- input { 20i64 } output { true }
entry waiting_moves (n: i64) : bool =
  let data = taxicab (random_grid n 50)
  let choice = {segment = i32.i64 n, best = false, draws = 50, straight = false}
  let first k s =
    let q = push (push (empty_queue n) 7) 4
    let move = W.draw data (links data k) choice (route_of (random_tour n 5 s)) q (rng.stream 3 s)
    in if move.kind == 0 then -1 else move.t1
  let firsts = map (first 5) (iota 50)
  in all (\c -> c == 4 || c == 7 || c == -1) firsts
     && any (== 4) firsts
     && any (== 7) firsts
     && all (\s -> first 0 s == -1) (iota 5)
