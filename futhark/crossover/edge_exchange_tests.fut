-- Exchanges: the tours that they make, the cuts that they name, the subtours that they merge.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "edge_exchange"

module X = mk_exchange matrix

-- How often each pair of cities is joined, by so many edges each.
def edges [m] (n: i64) (pairs: [m](i32, i32)) (times: i32) : [n][n]i32 =
  let at = map (\(a, b) -> (i64.i32 a, i64.i32 b)) pairs
  let there = reduce_by_index_2d (replicate n (replicate n 0)) (+) 0 at (replicate m times)
  in map2 (map2 (+)) there (transpose there)

-- The city at an end: of cut e / 2, at its position or behind it.
def city_at [n] (tour: [n]i32) (e: exchange) (end: i32) : i32 =
  tour[i64.i32 ((e.cuts[i64.i32 (end / 2)] + end % 2) % i32.i64 n)]

-- Whether a tour has just the edges that an exchange leaves of another one, and those that it adds.
def walks [n] (before: [n]i32) (e: exchange) (after: [n]i32) : bool =
  let m = i64.i32 e.m
  let gone = tabulate m (\c -> (city_at before e (2 * i32.i64 c), city_at before e (2 * i32.i64 c + 1)))
  let come = tabulate (2 * m) (\c -> (city_at before e (i32.i64 c), city_at before e e.link[c]))
  let sum = map2 (map2 (+))
  let edges_of tour = edges n (zip tour (rotate 1 tour)) 2
  -- Links count twice, from either end; so all do.
  let expected = edges_of before `sum` edges n gone (-2) `sum` edges n come 1
  in is_tour after && and (map2 (\x y -> and (map2 (==) x y)) expected (edges_of after))

-- Different cuts, at random, in a random order.
def random_cuts (n: i64) (m: i64) (seed: i64) : [most_cuts]i32 =
  let at = random_tour n 3 seed
  in tabulate most_cuts (\c -> if c < m then at[c] else 0)

-- Links that join the segments into one tour, in a random order and direction.
def shuffled (m: i64) (cuts: [most_cuts]i32) (seed: i64) : exchange =
  let order =
    loop order = iota m
    for _i < m do
      loop order = copy order
      for t < m - 1 do
        let (c, d) = (order[t], order[t + 1])
        in if cuts[c] > cuts[d] then order with [t] = d with [t + 1] = c else order
  let key = rng.stream 4 seed
  let walk = random_tour m 4 (seed + 1000)
  -- The ends by which a segment is entered and left: segment r lies behind cut order[r].
  let gates r =
    let low = 2 * i32.i64 order[r] + 1
    let high = 2 * i32.i64 order[(r + 1) % m]
    in if rng.below key r 2 == 0 then (low, high) else (high, low)
  let pairs = map (\t -> ((gates (i64.i32 walk[t])).1, (gates (i64.i32 walk[(t + 1) % m])).0)) (iota m)
  let link =
    loop link = replicate (2 * most_cuts) 0i32
    for (e, f) in pairs do
      let link = copy link with [i64.i32 e] = f
      in link with [i64.i32 f] = e
  in {m = i32.i64 m, cuts, link}

-- No cut; two, either half reversed; the double bridge; the cut behind the last city.
-- ==
-- entry: exchanges
-- input { [4, 2, 0, 1, 3] empty([0]i32) empty([0]i32) } output { [4, 2, 0, 1, 3] }
-- input { [0, 1, 2, 3, 4] [1, 3] [2, 3, 0, 1] } output { [2, 3, 1, 0, 4] }
-- input { [0, 1, 2, 3, 4] [3, 1] [2, 3, 0, 1] } output { [2, 3, 1, 0, 4] }
-- input { [0, 1, 2, 3, 4] [4, 1] [2, 3, 0, 1] } output { [2, 3, 4, 1, 0] }
-- input { [0, 1, 2, 3, 4, 5, 6, 7] [1, 3, 5, 7] [3, 4, 5, 0, 1, 2, 7, 6] } output { [2, 3, 6, 7, 0, 1, 4, 5] }
entry exchanges [n] [m] (tour: [n]i32) (cuts: [m]i32) (link: [2 * m]i32) : [n]i32 =
  let padded k (xs: []i32) = tabulate k (\c -> if c < length xs then xs[c] else 0)
  in apply_exchange tour {m = i32.i64 m, cuts = padded most_cuts cuts, link = padded (2 * most_cuts) link}

-- What a walk over the edges that are left and added finds is the tour.
-- ==
-- entry: exchanges_hold
-- input { 2i64 2i64 } output { true }
-- input { 3i64 3i64 } output { true }
-- input { 5i64 2i64 } output { true }
-- input { 9i64 4i64 } output { true }
-- input { 9i64 9i64 } output { true }
-- input { 40i64 17i64 } output { true }
-- input { 80i64 80i64 } output { true }
-- input { 210i64 199i64 } output { true }
-- input { 210i64 200i64 } output { true }
entry exchanges_hold (n: i64) (m: i64) : bool =
  all (\s ->
         let tour = random_tour n 5 s
         let e = shuffled m (random_cuts n m s) s
         in walks tour e (apply_exchange tour e))
      (iota 20)

-- A cut behind the last city is that of positions n - 1 and 0, which come in either order.
-- ==
-- entry: cut
-- input { [3, 4, 0, 6, 1] [4, 3, 6, 0, 0] } output { [3, 3, 6, 6, 0] [false, true, true, false, true] }
entry cut [m] (p: [m]i32) (q: [m]i32) : ([m]i32, [m]bool) = unzip (map2 cut_between p q)

-- Merging leaves one tour, with the gain that is told, more than the least, and two cuts more for each subtour but one; or gives
-- up, by a gain of -1: so many of 60 random exchanges come through, fewer where they are to gain more, and all either do or do not.
-- ==
-- entry: merges_hold
-- input { 10i64 9i64 2i64 -1000000i64 } output { 54i64 60i64 }
-- input { 30i64 29i64 8i64 -1000000i64 } output { 50i64 60i64 }
-- input { 30i64 29i64 8i64 0i64 } output { 31i64 60i64 }
-- input { 100i64 8i64 30i64 -1000000i64 } output { 48i64 60i64 }
-- input { 100i64 8i64 30i64 -50i64 } output { 38i64 60i64 }
-- input { 200i64 5i64 60i64 -1000000i64 } output { 51i64 60i64 }
-- input { 200i64 0i64 60i64 -1000000i64 } output { 2i64 60i64 }
entry merges_hold (n: i64) (k: i64) (m: i64) (least: i64) : (i64, i64) =
  let data = taxicab (random_grid n 50)
  let lists = tabulate_2d n k (\a i -> i32.i64 ((a + i + 1) % n))
  let length (tour: [n]i32) = i64.sum (map2 (\a b -> i64.i32 data[i64.i32 a, i64.i32 b]) tour (rotate 1 tour))
  let trial s =
    let tour = random_tour n 5 s
    let position = scatter (replicate n 0) (map i64.i32 tour) (map i32.i64 (iota n))
    let cuts = random_cuts n m s
    -- Any ends are linked: a random matching.
    let ends = random_tour (2 * m) 6 s
    let link =
      loop link = replicate (2 * most_cuts) 0i32
      for t < m do
        let (e, f) = (ends[2 * t], ends[2 * t + 1])
        let link = copy link with [i64.i32 e] = f
        in link with [i64.i32 f] = e
    let e = {m = i32.i64 m, cuts, link}
    let between (x: i32) (y: i32) = i64.i32 data[i64.i32 (city_at tour e x), i64.i32 (city_at tour e y)]
    let gain =
      i64.sum (tabulate m (\c -> between (2 * i32.i64 c) (2 * i32.i64 c + 1)))
      - i64.sum (tabulate m (\c -> between ends[2 * c] ends[2 * c + 1]))
    let (after_m, cuts, link, after_gain) = X.complete data lists tour position e.m (copy cuts) (copy link) gain least
    let after = {m = after_m, cuts, link}
    let child = apply_exchange tour after
    let merged = walks tour after child && length tour - length child == after_gain && after_gain > least
    in (merged, after_gain == -1 || gain <= least)
  let (merged, given_up) = unzip (map trial (iota 60))
  in (i64.sum (map i64.bool merged), i64.sum (map2 (\a b -> i64.bool (a || b)) merged given_up))
