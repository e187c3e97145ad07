-- Tests of `pieces`: a tour stays one, pieces keep their ends, and what is near comes out as it should.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "../local_search/ils"
import "../local_search/population"
import "../local_search/route"
import "../local_search/three_opt"
import "../local_search/worker"
import "parallel_moves"
import "pieces"

module path = mk_path planar_plane

module W = mk_passes planar_plane wide

module R = mk_pieces planar_plane (mk_ils path (mk_thread_worker path))

-- Whole points of a square.
def points (n: i64) (side: i32) : plane.data [n] =
  let (xs, ys) = random_grid n side
  in (map f64.i32 xs, map f64.i32 ys, 0)

-- The neighbours of each city in order of distance.
def nearest [n] (data: plane.data [n]) (k: i64) : links [n] [k] =
  let key a b = if a == b then i64.highest else (W.T.between data (i32.i64 a) (i32.i64 b) << 32) | b
  let list a =
    let keys = map (key a) (iota n)
    let ranks = map (\x -> i64.sum (map (\y -> i64.bool (y < x)) keys)) keys
    in take k (scatter (replicate n 0) ranks (map i32.i64 (iota n)))
  in W.T.links_of data (map list (iota n))

def plan (n: i64) (first: i64) (iterations: i64) (temperature: f64) : plan =
  plan_of n (descent_plan with seed = 4 with first = first with iterations = iterations with temperature = temperature)

-- One copy of it, which the compiler takes longer to make than all runs take.

#[noinline]
def climb [n] [k] (data: plane.data [n]) (links: links [n] [k]) (s: large [n]) (plan: plan) (range: piece_range) : large [n] =
  R.climb data links s plan range

-- Which positions belong to no piece that climbs, or are an end of one.
def are_kept (n: i64) (offset: i64) (m: i64) (first: i64) (count: i64) : [n]bool =
  let of p =
    let behind = (p - offset + n) % n
    let piece = behind / m
    in piece < first || piece >= first + count || behind % m == 0 || behind % m == m - 1
  in map of (iota n)

-- Some pieces climb from a random tour: what is left is a tour with its places, in which all cities wait; nothing moves that
-- is in no such piece, or an end of one; each piece has the cities that it had; and, where nothing longer is accepted, the
-- tour is not longer.
-- ==
-- entry: pieces_hold
-- input { 40i64 100 10i64 0i64 0i64 4i64 0.0 } output { true }
-- input { 40i64 100 10i64 0i64 0i64 4i64 30.0 } output { true }
-- input { 43i64 100 10i64 37i64 0i64 4i64 0.0 } output { true }
-- input { 43i64 100 10i64 42i64 1i64 2i64 1e12 } output { true }
-- input { 43i64 100 43i64 20i64 0i64 1i64 0.0 } output { true }
-- input { 43i64 100 42i64 20i64 0i64 1i64 3.0 } output { true }
-- input { 30i64 10 2i64 7i64 0i64 15i64 3.0 } output { true }
-- input { 30i64 10 3i64 7i64 2i64 7i64 3.0 } output { true }
-- input { 30i64 10 4i64 7i64 0i64 7i64 3.0 } output { true }
-- input { 30i64 1 8i64 7i64 0i64 3i64 3.0 } output { true }
-- input { 80i64 759250000 20i64 7i64 0i64 4i64 0.0 } output { true }
-- input { 80i64 759250000 20i64 7i64 0i64 4i64 1e12 } output { true }
entry pieces_hold (n: i64) (side: i32) (m: i64) (offset: i64) (first: i64) (count: i64) (temperature: f64) : bool =
  let data = points n side
  let links = nearest data (i64.min 8 (n - 1))
  let kept = are_kept n offset m first count
  let holds s =
    let start = given_large (random_tour n 8 s) with waits = replicate n false
    let end = climb data links start (plan m (s << 32) 30 temperature) {offset, piece = m, first, count}
    let stays = and (map3 (\is a b -> !is || a == b) kept (tour_of start) (tour_of end))
    let piece_of (places: [n]i32) (c: i64) = ((i64.i32 places[c] - offset + n) % n) / m
    let same_pieces = all (\c -> piece_of (positions (tour_of start)) c == piece_of (positions (tour_of end)) c) (iota n)
    let no_longer = temperature > 0 || W.length_of data end <= W.length_of data start
    in is_tour (tour_of end)
       && and (map2 (==) end.route (route_of (tour_of end)))
       && and end.waits
       && !end.progress.done
       && stays
       && same_pieces
       && no_longer
  in and (map holds (iota 20))

-- Pieces climb alone, in any order, as they do together.
-- ==
-- entry: cuts_change_nothing
-- input { 103i64 20i64 90i64 0.0 } output { true }
-- input { 103i64 20i64 90i64 3.0 } output { true }
-- input { 103i64 34i64 5i64 3.0 } output { true }
entry cuts_change_nothing (n: i64) (m: i64) (offset: i64) (temperature: f64) : bool =
  let data = points n 100
  let links = nearest data 6
  let start = given_large (random_tour n 8 0)
  let some first count s = climb data links s (plan m 9 20 temperature) {offset, piece = m, first, count}
  let whole = some 0 (n / m) start
  let cut = loop s = start for i < n / m do some i 1 s
  let back = loop s = start for i < n / m do some (n / m - 1 - i) 1 s
  let same (s: large [n]) = and (map2 (==) s.route whole.route)
  in same cut && same back && W.length_of data whole < W.length_of data start

-- A piece of the whole tour is a path between two cities that follow each other: of one tour, all edges but one can change.
-- ==
-- entry: one_piece_is_all
-- input { 60i64 } output { true }
entry one_piece_is_all (n: i64) : bool =
  let data = points n 100
  let links = nearest data 8
  let start = given_large (random_tour n 8 0)
  let end = climb data links start (plan n 0 200 0) {offset = 7, piece = n, first = 0, count = 1}
  let optimum = W.descend data links 0 10000 i64.highest end
  in W.length_of data end * 2 < W.length_of data start && optimum.progress.done
     && W.length_of data end - W.length_of data optimum < 300

-- ==
-- entry: bounds
-- input {
--   [0i64, 39i64, 40i64, -1i64, 0i64, 0i64, 0i64, 0i64, 0i64]
--   [10i64, 10i64, 10i64, 10i64, 1i64, 10i64, 10i64, 10i64, 41i64]
--   [0i64, 3i64, 0i64, 0i64, 0i64, -1i64, 0i64, 4i64, 0i64]
--   [4i64, 1i64, 4i64, 4i64, 4i64, 1i64, 0i64, 1i64, 1i64]
-- }
-- output { [true, true, false, false, false, false, false, false, false] }
entry bounds [d] (offsets: [d]i64) (ms: [d]i64) (firsts: [d]i64) (counts: [d]i64) : [d]bool =
  map4 (\offset piece first count -> are_pieces 40 {offset, piece, first, count}) offsets ms firsts counts
