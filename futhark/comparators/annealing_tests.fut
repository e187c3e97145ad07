-- Chains: exact lengths, tours that remain tours, the limits of cold and heat, and cuts that change nothing.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/testing"
import "../core/tour"
import "../local_search/population"
import "../local_search/route"
import "../local_search/three_opt"
import "../local_search/worker"
import "annealing"

module T = mk_three_opt matrix
module A = mk_annealing matrix (mk_thread_worker matrix) threads

def length [n] (data: [n][n]i32) (tour: [n]i32) : i64 =
  i64.sum (map2 (\a b -> T.between data a b) tour (rotate 1 tour))

-- All other cities, or none.
def lists (n: i64) (k: i64) : [n][k]i32 =
  tabulate_2d n k (\a j -> i32.i64 (if j < a then j else j + 1))

-- Each drawn change of several tours, made by itself: a set bit for each number of cities that moved, 1 for 2-opt; -1 if a
-- tour was none, or not longer by what was said.
-- ==
-- entry: changes
-- input { 5i64 } output { 7 }
-- input { 6i64 } output { 15 }
-- input { 9i64 } output { 15 }
-- input { 20i64 } output { 15 }
entry changes (n: i64) : i32 =
  let data = taxicab (random_grid n 50)
  let key = rng.stream 3 1
  let kind_of s t =
    let tour = random_tour n 5 s
    let r = route_of tour
    let links = T.links_of data (lists n (if t % 2 == 0 then n - 1 else 0))
    let change = A.change_of data r (draw_at links true key (word_of_trial (s * 60 + t)))
    let (r, _) = A.make_change change.possible r (empty_log (i64.i32 log_capacity)) change
    let after = take n r
    let longer = if change.possible then change.longer else 0
    let inverse = and (tabulate n (\p -> position r (at r (i32.i64 p)) == i32.i64 p))
    let exact = inverse && is_tour after && length data after - length data tour == longer
    in if !exact then -1 else if change.possible then 1 << change.draw.count else 0
  let found = flatten (tabulate_2d 40 60 kind_of)
  in if any (< 0) found then -1 else reduce (|) 0 found

def some_chains (n: i64) (seed: u64) : population [4] [n] =
  population_on (tabulate 4 (random_tour n seed))

def annealed (n: i64) (k: i64) (moves: i32) (temperature: f64) : population [4] [n] =
  let data = taxicab (random_grid n 50)
  in A.anneal data (lists n k) (some_chains n 7) {seed = 1, first = 2, from = 0, trials = n, moves} (replicate 20 temperature)

-- Where nothing longer is accepted, a chain ends on its best tour, which is no longer than its first one.
-- ==
-- entry: cold_chains
-- input { 4i64 3i64 1 } output { true }
-- input { 5i64 4i64 1 } output { true }
-- input { 30i64 29i64 0 } output { true }
-- input { 30i64 0i64 1 } output { true }
entry cold_chains (n: i64) (k: i64) (moves: i32) : bool =
  let data = taxicab (random_grid n 50)
  let after = annealed n k moves 0
  let no_longer now before = length data now <= length data before
  in and (map2 no_longer after.tours (some_chains n 7).tours)
     && and (map2 (\now l -> length data now == l) after.tours after.lengths)

-- However hot, the best tours are tours of the lengths that are told, no longer than where the chains stand.
-- ==
-- entry: hot_chains
-- input { 5i64 0i64 } output { true }
-- input { 30i64 29i64 } output { true }
entry hot_chains (n: i64) (k: i64) : bool =
  let data = taxicab (random_grid n 50)
  let after = annealed n k 1 1e12
  in all is_tour after.bests && all is_tour after.tours
     && and (map2 (\best l -> length data best == l) after.bests after.lengths)
     && and (map2 (\tour l -> l <= length data tour) after.tours after.lengths)

-- Twenty iterations at once, and in two calls.
-- ==
-- entry: cut_chains
-- input { 30i64 1i64 } output { true }
-- input { 30i64 13i64 } output { true }
entry cut_chains (n: i64) (cut: i64) : bool =
  let data = taxicab (random_grid n 50)
  let temperatures = tabulate 20 (\i -> f64.i64 (20 - i))
  let from (i: i64): annealing_plan = {seed = 1, first = 2, from = i, trials = n, moves = 1}
  let whole = A.anneal data (lists n (n - 1)) (some_chains n 7) (from 0) temperatures
  let (first, second) = (take cut temperatures, drop cut temperatures)
  let parts = opaque (A.anneal data (lists n (n - 1)) (some_chains n 7) (from 0) first)
  let parts = A.anneal data (lists n (n - 1)) parts (from cut) second
  let equal 't [c] (eq: t -> t -> bool) (a: [c]t) (b: [c]t) = and (map2 eq a b)
  in equal (equal (==)) whole.tours parts.tours
     && equal (equal (==)) whole.bests parts.bests
     && equal (==) whole.lengths parts.lengths
     && equal (==) whole.steps parts.steps
