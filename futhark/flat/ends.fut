-- | Ends of fragments that no list joins any more, along the curve of their tour. In half of the tours they join in
-- rounds, which is far shorter in clusters; in others `closing.fut` follows the curve, which differs more: crossover
-- needs both.

import "../core/rng"
import "curve"
import "fragments"
import "rows"
import "segments"

-- | An end along its tour's curve: its city, numbered through all tours, and the other end's place, its own if lone.
type end = (i32, i32)

-- | The number of ends at which an end looks in each direction of the curve.
def reach_along : i64 = 8

-- | Tell whether fragments of a tour join along its curve. **Work:** O(1).
def joins_along (key: rng.key) : bool = rng.below key 4 2 == 0

-- | Return the row of a city that is numbered through all tours. **Work:** O(1).
#[inline]
def row_of_city (rows: rows) (n: i64) (x: i32) : i32 =
  row_at rows (i64.i32 x / n) (i32.i64 (i64.i32 x % n))

-- | List the ends of fragments. **Work:** O(p n). **Span:** O(log (p n)).
def ends_along [p] [n] (rows: rows) (spots: spots [n]) (keys: [p]rng.key) (fragments: fragments [p * n]) : []end =
  let found = where_true (map (< 0) fragments.second)
  let row = map (row_of_city rows n) found
  let sizes = sums (p * instances rows) (map i64.i32 row) (map (const 1i32) row)
  let sorted = sort_along rows spots keys sizes row (map (\x -> x % i32.i64 n) found)
  -- Each row keeps its places, and each tour.
  let cities = map2 (\x c -> x / i32.i64 n * i32.i64 n + c) found sorted
  let place = scatter (replicate (p * n) 0i32) (map i64.i32 cities) (map i32.i64 (indices cities))
  in map (\x -> (x, get place (get fragments.far x))) cities

-- The place of the end that end i looks at as number j.
local
def looked_at (i: i64) (j: i64) : i64 =
  if j < reach_along then i - 1 - j else i + 1 + j - reach_along

-- The best edge from each end: its rank, with its number in the last five bits.
local
def picks [e] (n: i64) (rows: rows) (joins: i64 -> bool) (rank: i64 -> i64 -> i64 -> i64) (ends: [e]end) : [e]i64 =
  #[unsafe]
  let pick (i: i64): i64 =
    let (x, other) = ends[i]
    let a = i64.i32 x / n
    in loop best = none
       for j < (if joins a then 2 * reach_along else 0) do
         let k = looked_at i j
         let fits = k >= 0 && k < e && k != i64.i32 other && row_of_city rows n ends[k].0 == row_of_city rows n x
         in if fits then i64.min best (rank a (i64.i32 x % n) (i64.i32 ends[k].0 % n) | j) else best
  in map pick (iota e)

-- The ends that are left after some joins.
local
def left [e] (ends: [e]end) (joins: [e]i32) : []end =
  #[unsafe]
  let far (i: i32): i32 = ends[i64.i32 i].1
  let to = map2 (\(_, other) k -> if k >= 0 then i64.i32 other else -1) ends joins
  let others = scatter (map (.1) ends) to (map (\k -> if k >= 0 then far k else -1) joins)
  -- A lone city is the end of the joined fragment, too.
  let stays = map3 (\i (_, other) k -> k < 0 || i == other) (map i32.i64 (iota e)) ends joins
  let (upto, kept) = count_true stays
  in map (\i -> (ends[i64.i32 i].0, get upto (get others i) - 1)) kept

-- | Join the ends of fragments of tours that do, the best by `rank` of a tour and two cities, with five free bits,
-- while two pick each other, for some rounds; return neighbours and ends left. **Work:** O(e) a round. **Span:** O(log
-- e) a round.
def join_along [t] (n: i64) (rows: rows) (joins_along: i64 -> bool) (rank: i64 -> i64 -> i64 -> i64) (rounds: i32) (fragments: fragments [t]) (ends: []end) : ([t]i32, [t]i32, []end) =
  let (first, second, ends, _, _) =
    loop (first: *[t]i32, second: *[t]i32, ends, go, round) = (copy fragments.first, copy fragments.second, ends, true, 0i32)
    while go && round < rounds do
      let picks = kept_apart (picks n rows joins_along rank ends)
      let joins = mutual picks (\i -> #[unsafe] i64.i32 ends[i].1) looked_at
      let cities = map (.0) ends
      let others = map (\k -> if k >= 0 then get cities k else -1) joins
      let lacks_both = map (\x -> get first x < 0) cities
      let to (first: bool) = map3 (\x y f -> if y >= 0 && f == first then i64.i32 x else -1) cities others lacks_both
      let (to_first, to_second) = (to true, to false)
      let ends = left ends joins
      in (scatter first to_first others, scatter second to_second others, ends, or (map (>= 0) joins), round + 1)
  in (first, second, ends)
