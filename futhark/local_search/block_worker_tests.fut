-- Tests of `block_worker`: the climbers of a thread's worker and of a block's, with one city a time or several, move by move.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/testing"
import "../core/tour"
import "block_worker"
import "ils"
import "population"
import "population_testing"
import "route"
import "three_opt"
import "worker"

module one = mk_thread_worker matrix
module single = mk_block_worker matrix {def cities = 1i64}
module crowd = mk_block_worker matrix {def cities = 4i64}

module by_one = mk_population matrix (mk_ils matrix one) threads
module by_single = mk_population matrix (mk_ils matrix single) threads
module by_crowd = mk_population matrix (mk_ils matrix crowd) threads

-- Three climbers from random tours, by every pivot (0: first, 1: best, 2: draws), by all kinds of kicks, by both acceptances:
-- tours, lengths and steps after a descent, after more iterations, and after a polish.
-- ==
-- entry: climb_alike
-- input { [1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 7i64, 8i64] 4i64 40 20i64 0.0 } output { true }
-- input { [5i64, 9i64, 20i64] 1i64 40 20i64 0.0 } output { true }
-- input { [31i64, 32i64, 33i64] 15i64 40 20i64 3.0 } output { true }
-- input { [63i64, 64i64, 65i64] 16i64 40 20i64 3.0 } output { true }
-- input { [40i64, 70i64] 17i64 5 20i64 1.0 } output { true }
-- input { [64i64, 70i64] 33i64 50 20i64 1e9 } output { true }
-- input { [70i64] 40i64 3 20i64 0.0 } output { true }
-- input { [30i64] 0i64 40 5i64 0.0 } output { true }
entry climb_alike [d] (sizes: [d]i64) (k: i64) (bound: i32) (iterations: i64) (temperature: f64) : bool =
  loop ok = true
  for n in sizes do
    let data = taxicab (random_grid n bound)
    let lists = nearest data (i64.min k (n - 1))
    let start = population_on (map (random_tour n 3) (iota 3))
    let alike moves pivot kick acceptance =
      let plan (from: i64) (iterations: i64): search_plan = {seed = 6, first = 2, from, iterations, moves, pivot, draws = 50, kick, acceptance, temperature, cooled = 0}
      let more = plan iterations iterations
      let a = by_one.search data lists (by_one.search data lists start (plan 0 iterations) 0 0) more 0 0
      let b = by_single.search data lists (by_single.search data lists start (plan 0 iterations) 0 0) more 0 0
      let c = by_crowd.search data lists (by_crowd.search data lists start (plan 0 iterations) 0 0) more 0 0
      let a' = by_one.polish data lists a more 0 0
      let c' = by_crowd.polish data lists c more 0 0
      in same_climbers a b && same_climbers a c && same_climbers a' c'
    in ok
       && alike 1 0 0 1
       && alike 1 1 1 0
       && alike 1 2 0 0
       && alike 0 0 1 0
       && alike 1 0 2 0
       && alike 1 0 3 1

-- Stretches of any length, past the end of the tour as well, come out reversed alike.
-- ==
-- entry: reverse_alike
-- input { 5i64 } output { true }
-- input { 64i64 } output { true }
-- input { 70i64 } output { true }
-- input { 300i64 } output { true }
entry reverse_alike (n: i64) : bool =
  let key = rng.stream 3 n
  let holds s =
    let first = rng.below key (2 * s) (i32.i64 n)
    let count = rng.below key (2 * s + 1) (i32.i64 n + 1)
    let tour = random_tour n 5 s
    let a: route [n] = one.reverse (route_of tour) first count
    let b: route [n] = single.reverse (route_of tour) first count
    let c: route [n] = crowd.reverse (route_of tour) first count
    in and (map2 (==) a b) && and (map2 (==) a c)
  in and (map holds (iota 50))

-- Lengths, tours written down, and queues of all cities are the same.
-- ==
-- entry: rest_alike
-- input { 1i64 } output { true }
-- input { 31i64 } output { true }
-- input { 32i64 } output { true }
-- input { 33i64 } output { true }
-- input { 300i64 } output { true }
entry rest_alike (n: i64) : bool =
  let data = taxicab (random_grid n 1000)
  let (tour, best) = (random_tour n 5 0, random_tour n 5 1)
  let (r, q, b) = one.begin tour best
  let (r', q', b') = crowd.begin tour best
  let same [m] (x: [m]i32) (y: [m]i32) = and (map2 (==) x y)
  let starts = same r r' && same q q' && same b b'
  let lengths = one.length_of data tour == crowd.length_of data tour && one.length_of data tour == single.length_of data tour
  let queues all = same (one.wait all r (copy q)) (crowd.wait all r (copy q))
  let written wanted = same (one.write wanted (copy b) r) (crowd.write wanted (copy b) r)
  in starts && lengths && queues true && queues false && written true && written false
