-- Tests of `lockstep`: climbers in step with each other, and each of them alone, move by move.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/testing"
import "../core/tour"
import "ils"
import "lockstep"
import "population"
import "population_testing"
import "route"
import "three_opt"
import "worker"

module one = mk_thread_worker matrix
module by_one = mk_population matrix (mk_ils matrix one) threads
module by_lockstep = mk_lockstep matrix {def cities = 4i64}
module by_single = mk_lockstep matrix {def cities = 1i64}

-- Three climbers from random tours by a pivot (0: first, 1: best, 2: draws): tours, lengths and steps after a descent, after
-- more iterations, and after a polish; draws are made by several numbers of blocks.
-- ==
-- entry: climb_alike
-- input { [1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 7i64, 8i64] 4i64 20i64 0.0 0i64 } output { true }
-- input { [9i64, 31i64, 32i64, 70i64] 15i64 20i64 3.0 0i64 } output { true }
-- input { [70i64] 5i64 20i64 1.0 0i64 } output { true }
-- input { [70i64] 40i64 20i64 1e9 1i64 } output { true }
-- input { [30i64] 0i64 5i64 0.0 0i64 } output { true }
-- input { [400i64] 8i64 3i64 0.0 1i64 } output { true }
entry climb_alike [d] (sizes: [d]i64) (k: i64) (iterations: i64) (temperature: f64) (from: i64) : bool =
  loop ok = true
  for n in sizes do
    let data = taxicab (random_grid n 40)
    let lists = nearest data (i64.min k (n - 1))
    let start = population_on (map (random_tour n 3) (iota 3))
    let alike moves pivot kick acceptance blocks =
      let plan (from: i64): search_plan = {seed = 6, first = 2, from, iterations, moves, pivot, draws = 300, kick, acceptance, temperature, cooled = 0}
      let more = plan (from + iterations)
      let a = by_one.search data lists (by_one.search data lists start (plan from) 0 0) more 0 0
      let b = by_lockstep.search data lists (by_lockstep.search data lists start (plan from) blocks) more blocks
      let c = by_single.search data lists (by_single.search data lists start (plan from) 1) more 1
      in same_climbers a b
         && same_climbers a c
         && same_climbers (by_one.polish data lists a more 0 0) (by_lockstep.polish data lists b more blocks)
    in ok
       && alike 1 0 0 1 1
       && alike 1 1 1 0 1
       && alike 0 0 2 0 1
       && alike 1 2 0 0 1
       && alike 1 2 3 1 2
       && alike 0 2 2 0 5

-- A route after reversals, any of which may go past the end of the tour, is the route on which they are made.
-- ==
-- entry: turned_alike
-- input { 1i64 } output { true }
-- input { 2i64 } output { true }
-- input { 5i64 } output { true }
-- input { 40i64 } output { true }
entry turned_alike (n: i64) : bool =
  let key = rng.stream 3 n
  let holds s =
    let side j = (rng.below key (8 * s + 2 * j) (i32.i64 n), rng.below key (8 * s + 2 * j + 1) (i32.i64 n + 1))
    let rs: reversals = tabulate 4 side
    let start = route_of (random_tour n 5 s) :> route [n]
    let after: route [n] = loop r: *route [n] = copy start for j < 4 do one.reverse r rs[j].0 rs[j].1
    in and (map2 (==) after (turned rs start))
  in and (map holds (iota 50))

-- Changes of a queue are what `pop` and `push` make of it.
-- ==
-- entry: changed_alike
-- input { 1i64 } output { true }
-- input { 3i64 } output { true }
-- input { 8i64 } output { true }
-- input { 30i64 } output { true }
entry changed_alike (n: i64) : bool =
  let key = rng.stream 4 n
  let holds s =
    let word = 32 * s
    let q = loop q = empty_queue n for j < 12 do push q (rng.below key (word + j) (i32.i64 n))
    -- The queue begins anywhere in its ring.
    let q = loop q for _j < rng.below key (word + 12) (waiting q) do (pop q).0
    let q = loop q for j < 6 do push q (rng.below key (word + 13 + j) (i32.i64 n))
    let leaving = i32.min (waiting q) (rng.below key (word + 19) 5)
    let city (i: i32) = rng.below key (word + 20 + i64.i32 i) (i32.i64 n)
    let coming = rng.below key (word + 28) 9
    let (places, values) = unzip (map (change q leaving coming city) (iota (changes 4)))
    let is_once place = place < 0 || i64.sum (map (\other -> i64.bool (other == place)) places) == 1
    let found = scatter (copy q) places values
    let expected = loop q = copy q for _j < leaving do (pop q).0
    let expected = loop q = expected for j < coming do push q (city j)
    let all_of (q: queue [n]) = map (\i -> if i < i64.i32 (waiting q) then peek q (i32.i64 i) else -1) (iota n)
    in all is_once places
       && found[0] == expected[0]
       && waiting (found :> queue [n]) == waiting (expected :> queue [n])
       && and (map2 (==) (all_of found) (all_of expected))
       && and (map2 (==) (drop (2 + n) found) (drop (2 + n) expected))
  in and (map holds (iota 50))
