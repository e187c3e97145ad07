-- Tests of `parallel_moves`: moves as stretches that are reversed, which of them go together, and whole descents.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "../local_search/route"
import "../local_search/three_opt"
import "../local_search/tour_edits"
import "../local_search/worker"
import "parallel_moves"

module in_place = mk_edits (mk_thread_worker matrix)

-- So few cities a pass, that many passes go through them all.
module narrow : widths = {
  def least = 32i64
  def most = 64i64
}

module P = mk_passes matrix wide

-- The neighbours of each city in order of distance, by counting who is nearer.
def nearest [n] (data: [n][n]i32) (k: i64) : links [n] [k] =
  let key a b = if a == b then i64.highest else (P.T.between data (i32.i64 a) (i32.i64 b) << 32) | b
  let list a =
    let keys = map (key a) (iota n)
    let ranks = map (\x -> i64.sum (map (\y -> i64.bool (y < x)) keys)) keys
    in take k (scatter (replicate n 0) ranks (map i32.i64 (iota n)))
  in P.T.links_of data (map list (iota n))

-- A tour from city 0 on, towards the smaller one of its neighbours.
def turned_to_0 [n] (tour: [n]i32) : [n]i32 =
  let z = loop z = 0i64 while tour[z] != 0 do z + 1
  let tour = rotate z tour
  in if n < 2 || tour[1] <= tour[n - 1] then tour else map (\p -> tour[if p == 0 then 0 else n - p]) (iota n)

-- The kinds of the moves of all cities of several tours, a set bit a kind; or -1 if one that is made by its turns leaves another
-- tour than one that is made in place.
-- ==
-- entry: turns_make_moves
-- input { 20i64 3 false } output { 30 }
-- input { 20i64 20 true } output { 30 }
-- input { 8i64 8 true } output { 30 }
-- input { 6i64 6 false } output { 30 }
entry turns_make_moves (n: i64) (segment: i32) (best: bool) : i32 =
  let data = taxicab (random_grid n 50)
  let links = nearest data (n - 1)
  let kind_of s c =
    let tour = random_tour n 5 s
    let r = route_of tour
    let move = P.T.move_of data links {segment, best, draws = 0, straight = false} r (i32.i64 c)
    let {a, b, c} = turns_of r move
    let after = map (\p -> tour[i64.i32 (turn_position a (turn_position b (turn_position c (i32.i64 p))))]) (iota n)
    let (first, last) = stretch {a, b, c}
    let stays = and (map (\p -> (i32.i64 p >= first && i32.i64 p <= last) || after[p] == tour[p]) (iota n))
    let (r, _) = in_place.make (r, empty_log (i64.i32 log_capacity)) move
    let alike = and (map2 (==) (turned_to_0 after) (turned_to_0 (take n r)))
    let inside = move.kind == 0 || (first >= 1 && last < i32.i64 n && first < last)
    in if alike && stays && inside then 1 << move.kind else -1
  let found = flatten (tabulate_2d 60 n kind_of)
  in if any (< 0) found then -1 else reduce (|) 0 found & 30

-- So many stretches of positions 1, …, n - 1, of up to `most` positions; each fifth has none.
def random_stretches (d: i64) (n: i64) (most: i32) (seed: i64) : [d]turn =
  let key = rng.stream 5 seed
  let of (i: i64) =
    let first = 1 + rng.below key (2 * i) (i32.i64 n - 1)
    let last = i32.min (i32.i64 n - 1) (first + rng.below key (2 * i + 1) most)
    in if i % 5 == 4 then no_turn else (first, last)
  in map of (iota d)

-- All different, in no order.
def random_keys (d: i64) (seed: i64) : [d]i64 =
  map (\i -> ((i64.u64 (rng.word (rng.stream 6 seed) i) & 0xff) << 32) | i) (iota d)

-- The edges that leave the positions of a move: all that it exchanges are among them.
def shares_edge (x: turn) (y: turn) : bool = x.0 - 1 <= y.1 && y.0 - 1 <= x.1

-- Of stretches whose edges lie in one window, the one with the largest key is the first.
-- ==
-- entry: windows_have_one_first
-- input { 0i64 50i64 3i64 9 } output { true }
-- input { 1i64 50i64 3i64 9 } output { true }
-- input { 40i64 50i64 0i64 1 } output { true }
-- input { 100i64 50i64 3i64 6 } output { true }
-- input { 100i64 64i64 4i64 6 } output { true }
-- input { 100i64 50i64 5i64 30 } output { true }
-- input { 100i64 50i64 6i64 50 } output { true }
-- input { 100i64 50i64 40i64 50 } output { true }
-- input { 9i64 2i64 6i64 2 } output { true }
entry windows_have_one_first (d: i64) (n: i64) (level: i64) (most: i32) : bool =
  let holds s =
    let stretches = random_stretches d n most s
    let keys = random_keys d s
    let shift = rng.word (rng.stream 7 s) 0
    let (firsts, windows) = first_of_windows n level shift stretches keys
    let size = i64.min n (1 << level)
    let off = i64.u64 (shift % u64.i64 size)
    let is_inside w (first, last) = last >= 0 && i64.i32 first - 1 >= w * size - off && i64.i32 last < (w + 1) * size - off
    let expected i =
      or (map (\w ->
                 is_inside w stretches[i]
                 && and (map2 (\y key -> !(is_inside w y) || key <= keys[i]) stretches keys))
              (iota windows))
    let apart i j = i == j || !(firsts[i] && firsts[j]) || !(shares_edge stretches[i] stretches[j])
    in windows * size >= n + off
       && (windows - 1) * size < n + off
       && and (map2 (==) firsts (map expected (iota d)))
       && and (flatten (tabulate_2d d d apart))
  in and (map holds (iota 20))

-- Among stretches that share an edge the one with the larger key goes first: those that go share none.
-- ==
-- entry: the_first_share_no_edge
-- input { 0i64 50i64 9 } output { true }
-- input { 1i64 50i64 9 } output { true }
-- input { 5i64 50i64 50 } output { true }
-- input { 60i64 50i64 2 } output { true }
-- input { 60i64 500i64 30 } output { true }
entry the_first_share_no_edge (d: i64) (n: i64) (most: i32) : bool =
  let holds s =
    let stretches = random_stretches d n most s
    let keys = random_keys d s
    let firsts = first_of_overlapping stretches keys
    let is_before i j = shares_edge stretches[j] stretches[i] && stretches[j].1 >= 0 && keys[j] > keys[i]
    let expected i = stretches[i].1 >= 0 && !(or (map (is_before i) (iota d)))
    in and (map2 (==) firsts (map expected (iota d)))
  in and (map holds (iota 20))

-- All positions of all stretches, one after another.
-- ==
-- entry: spread_stretches
-- input { [3, 7, 5, 9] [4, 6, 5, 11] }
-- output { [0i64, 0i64, 2i64, 3i64, 3i64, 3i64] [3, 4, 5, 9, 10, 11] }
-- input { [2147483647, 1] [-1, 2] } output { [1i64, 1i64] [1, 2] }
-- input { [1, 2147483647] [2, -1] } output { [0i64, 0i64] [1, 2] }
-- input { [2147483647] [-1] } output { empty([0]i64) empty([0]i32) }
-- input { empty([0]i32) empty([0]i32) } output { empty([0]i64) empty([0]i32) }
entry spread_stretches [d] (firsts: [d]i32) (lasts: [d]i32) : ([]i64, []i32) =
  let (total, at) = spread (zip firsts lasts)
  in unzip (tabulate total at)

module laws (W: widths) = {
  module P = mk_passes matrix W

  -- One copy of it: each call inlined takes the compiler longer than all runs.

  #[noinline]
  def descend [n] [k] (data: [n][n]i32) (links: links [n] [k]) (passes: i64) (work: i64) (start: large [n]) : large [n] =
    P.descend data links 5 passes work start

  -- A descent, pass by pass: no pass makes the tour longer, each leaves a tour with its places; no city has a move in the end;
  -- calls of several passes, and of bounded work, come to the same.
  def descents_hold (n: i64) (k: i64) (passes: i64) : bool =
    let data = taxicab (random_grid n 100)
    let links = nearest data k
    let holds s =
      let start = given_large (random_tour n 8 s)
      let whole = descend data links 1000000 i64.highest start
      let (cut, ok) =
        loop (now, ok) = (start, true)
        while !now.progress.done && ok do
          let next = descend data links 1 i64.highest now
          let falls = P.length_of data next < P.length_of data now || next.progress.moves == now.progress.moves
          let right = is_tour (tour_of next) && and (map2 (==) next.route (route_of (tour_of next)))
          in (next, falls && right && next.progress.passes == now.progress.passes + 1)
      let coarse =
        loop now = start while !now.progress.done do descend data links passes i64.highest now
      let by_work =
        loop now = start while !now.progress.done do descend data links 1000000 (passes * 100) now
      let choice = {segment = i32.i64 n, best = true, draws = 0, straight = false}
      let is_optimum = all (\c -> (P.T.move_of data links choice whole.route (i32.i64 c)).kind == 0) (iota n)
      let same (x: large [n]) = and (map2 (==) x.route whole.route) && x.progress.moves == whole.progress.moves && x.progress.passes == whole.progress.passes && x.progress.work == whole.progress.work
      in ok && is_optimum && same cut && same coarse && same by_work && whole.progress.done && !(or whole.waits)
    in and (map holds (iota 10))
}

module wide_laws = laws wide
module narrow_laws = laws narrow

-- ==
-- entry: descents_hold
-- input { 5i64 4i64 3i64 } output { true }
-- input { 6i64 5i64 1i64 } output { true }
-- input { 8i64 7i64 2i64 } output { true }
-- input { 30i64 8i64 3i64 } output { true }
-- input { 63i64 5i64 1i64 } output { true }
-- input { 64i64 5i64 2i64 } output { true }
-- input { 65i64 5i64 4i64 } output { true }
-- input { 200i64 8i64 5i64 } output { true }
-- input { 20i64 0i64 5i64 } output { true }
entry descents_hold (n: i64) (k: i64) (passes: i64) : bool = wide_laws.descents_hold n k passes

-- Where a pass takes some of the cities only.
-- ==
-- entry: narrow_descents_hold
-- input { 31i64 5i64 1i64 } output { true }
-- input { 32i64 5i64 2i64 } output { true }
-- input { 33i64 5i64 3i64 } output { true }
-- input { 64i64 5i64 3i64 } output { true }
-- input { 65i64 5i64 3i64 } output { true }
-- input { 100i64 0i64 3i64 } output { true }
-- input { 100i64 8i64 3i64 } output { true }
-- input { 300i64 5i64 5i64 } output { true }
entry narrow_descents_hold (n: i64) (k: i64) (passes: i64) : bool = narrow_laws.descents_hold n k passes

-- More moves at a time than few, from a random tour; the lengths fall pass by pass.
-- ==
-- entry: many_moves_hold
-- input { 1500i64 } output { true }
entry many_moves_hold (n: i64) : bool =
  let points = random_grid n 10000
  let data = taxicab points
  let links = nearest data 5
  let start = given_large (random_tour n 8 0)
  let (end, ok, most) =
    loop (now, ok, most) = (start, true, 0)
    while !now.progress.done && ok do
      let next = wide_laws.descend data links 1 i64.highest now
      let made = next.progress.moves - now.progress.moves
      let falls = P.length_of data next < P.length_of data now || made == 0
      in (next, falls && is_tour (tour_of next), i64.max most made)
  in ok && end.progress.done && most > 20

-- Moves that gain more than 2^31 are made, also where they are many: three far places, of which the tour takes one after the
-- other, with all of one as neighbours.
-- ==
-- entry: longest_gains_are_made
-- input { 12i64 } output { true }
-- input { 3600i64 } output { true }
entry longest_gains_are_made (n: i64) : bool =
  let data = tabulate_2d n n (\a b -> if a % 3 == b % 3 then 0 else (1 << 30) - 1)
  let lists = tabulate_2d n 3 (\a i -> i32.i64 ((a + 3 * (i + 1)) % n))
  let start = given_large (map i32.i64 (iota n))
  let links = P.T.links_of data lists
  let end = wide_laws.descend data links 200 i64.highest start
  in end.progress.done && P.length_of data end <= 8 * ((1 << 30) - 1)
