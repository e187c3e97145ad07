-- Double bridges: where they cut, what they make, what they cost.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "kick"
import "route"
import "three_opt"
import "tour_edits"
import "worker"

module in_place = mk_edits (mk_thread_worker grid)

module K = mk_kick matrix

-- ==
-- entry: bridged
-- input { [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] 3 5 6 8 } output { [0, 1, 2, 3, 7, 8, 6, 4, 5, 9] }
-- input { [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] 1 2 3 9 } output { [0, 1, 4, 5, 6, 7, 8, 9, 3, 2] }
entry bridged [n] (tour: [n]i32) (p0: i32) (p1: i32) (p2: i32) (p3: i32) : [n]i32 =
  let r = route_of tour
  let (r, _) = in_place.build (r, empty_log (i64.i32 log_capacity)) true (bridge_at r {made = true, p0, p1, p2, p3})
  let tour = take n r
  -- From city 0 on, in the direction in which it was given.
  let turned = rotate (i64.i32 (position r 0)) tour
  in if turned[1] == 1 then turned else map (\p -> turned[if p == 0 then 0 else n - p]) (iota n)

-- Kicks of all kinds leave tours, at the cost that they say; cuts follow each other on the tour.
-- ==
-- entry: kicks_hold
-- input { 5i64 4i64 } output { true }
-- input { 6i64 5i64 } output { true }
-- input { 7i64 3i64 } output { true }
-- input { 8i64 1i64 } output { true }
-- input { 8i64 0i64 } output { true }
-- input { 100i64 10i64 } output { true }
entry kicks_hold (n: i64) (k: i64) : bool =
  let data = taxicab (random_grid n 50)
  let lists = tabulate_2d n k (\a i -> i32.i64 ((a + i + 1) % n))
  let links = K.T.links_of data lists
  let length (tour: [n]i32) = i64.sum (map2 (\a b -> K.T.between data a b) tour (rotate 1 tour))
  let holds (kind: i32) (apart: i32) (s: i64) =
    let tour = random_tour n 2 s
    let r = route_of tour
    let key = rng.stream 7 0
    let cuts = K.cuts data {kind, apart} links r key s
    let bridge = bridge_at r cuts
    let behind p = let d = p - cuts.p0 in if d < 0 then d + i32.i64 n else d
    let steps = [behind cuts.p1, behind cuts.p2 - behind cuts.p1, behind cuts.p3 - behind cuts.p2]
    let near = kind != 0 || all (<= apart + 1) steps
    let ordered = 0 < behind cuts.p1 && behind cuts.p1 < behind cuts.p2 && behind cuts.p2 < behind cuts.p3
    let (r, l) = in_place.build (r, empty_log (i64.i32 log_capacity)) cuts.made bridge
    let after = take n r
    let cost = if cuts.made then K.cost data bridge else 0
    in is_tour after
       && length after - length tour == cost
       && logged l == (if cuts.made then 4 else 0)
       && (!cuts.made || (ordered && near))
  in all (\s -> all (\kind -> holds kind 1 s && holds kind 50 s && holds kind 200 s) [0, 1, 2, 3]) (iota 50)

-- Kicks anywhere are those near each other of which the tour's whole length may lie between two cuts.
-- ==
-- entry: kicks_anywhere
-- input { 1000i64 } output { true }
entry kicks_anywhere (n: i64) : bool =
  let links: links [n] [0] = replicate n []
  let r = route_of (map i32.i64 (iota n))
  let key = rng.stream 7 0
  let same (a: cuts) (b: cuts) = a.p0 == b.p0 && a.p1 == b.p1 && a.p2 == b.p2 && a.p3 == b.p3
  let anywhere s = cuts_of {kind = 3, apart = 10} links r key s
  in all (\s -> same (anywhere s) (near_cuts n (i32.i64 n) key s)) (iota 1600)

-- Where cities stand in pairs at distance 0, no kick takes a pair apart; and half of the kicks, or more, are made.
-- ==
-- entry: kicks_keep_pairs
-- input { 8i64 } output { true }
-- input { 20i64 } output { true }
-- input { 200i64 } output { true }
entry kicks_keep_pairs (n: i64) : bool =
  let distance a b = if a == b || a / 2 == b / 2 then 0 else 1 + (a + b) % 7
  let data = tabulate_2d n n (\a b -> i32.i64 (distance a b))
  let lists = tabulate_2d n 5 (\a i -> i32.i64 ((a + i + 1) % n))
  let links = K.T.links_of data lists
  let pairs = random_tour (n / 2) 2 1
  let r = route_of (map (\p -> #[unsafe] 2 * pairs[p / 2] + i32.i64 (p % 2)) (iota n))
  let cuts kind s = K.cuts data {kind, apart = 50} links r (rng.stream 7 0) s
  let keeps kind s =
    let {made, p0, p1, p2, p3} = cuts kind s
    let is_way p = (at r p) / 2 != (at r (wrap (i32.i64 n) (p + 1))) / 2
    in !made || (is_way p0 && is_way p1 && is_way p2 && is_way p3)
  let made = i64.sum (map (\s -> i64.bool (cuts 0 s).made) (iota 100))
  in all (\s -> all (\kind -> keeps kind s) [0, 1, 2]) (iota 100) && (n < 20 || made >= 50)

-- Short lists leave a random walk nowhere to go: no kick, rather than a wrong one.
-- ==
-- entry: goes_nowhere
-- input { 8i64 } output { false }
entry goes_nowhere (n: i64) : bool =
  let links: links [n] [0] = replicate n []
  let r = route_of (map i32.i64 (iota n))
  in (walked_cuts links r (rng.stream 7 0) 3).made
