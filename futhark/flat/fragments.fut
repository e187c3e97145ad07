-- | Fragments of many tours: paths that join by edges of neighbour lists, where two fragments pick each other; Bentley
-- (ORSA Journal on Computing 4, 1992) joins the best one at a time. Ends that no list joins any more join along the curve of
-- their tour: in half of the tours in rounds, which is far shorter in clusters; in others `follow` goes along the curve, which
-- differs more. Crossover needs both.

import "../core/rng"
import "curve"
import "orbits"
import "rows"

-- | Fragments of t cities of all tours: neighbours of each city, the second last, or -1; and the other end of each end.
type fragments [t] = {first: [t]i32, second: [t]i32, far: [t]i32}

-- | The most rounds in which fragments join.
def most_rounds : i32 = 60

-- | The rank of no edge.
def none : i64 = i64.highest

-- The best edge from each end of a fragment: its rank, with its place in the list in the last five bits.
local
def picks [t] [n] [k] (lists: [n][k]i32) (rank: i64 -> i64 -> i64 -> i64) ({first = _, second, far}: fragments [t]) : [t]i64 =
  let pick (x: i64): i64 =
    #[unsafe]
    let a = x / n
    let u = x - a * n
    in loop best = none
       for j < (if second[x] < 0 then k else 0) do
         let y = a * n + i64.i32 lists[u, j]
         let fits = second[y] < 0 && i64.i32 far[x] != y
         in if fits then i64.min best (rank a u (i64.i32 lists[u, j]) | j) else best
  in map pick (iota t)

-- | The end that each end joins, -1 where there is none, by picks, the other ends `far`, and the end `at` a place of a pick. **Work:** O(t).
def mutual [t] (picks: [t]i64) (far: i64 -> i64) (at: i64 -> i64 -> i64) : [t]i32 =
  #[unsafe]
  -- The pick of a fragment, if it comes from this end.
  let choice (x: i64): i64 =
    let (mine, other) = (picks[x], picks[far x])
    let is_mine = mine != none && (mine < other || (mine == other && x <= far x))
    in if is_mine then at x (mine & 31) else -1
  let join (x: i64): i32 =
    let y = choice x
    in if y >= 0 && choice y == x then i32.i64 y else -1
  in map join (iota t)

-- Fragments after some joins, of which each fragment has one at most.
local
def join [t] ({first, second, far}: fragments [t]) (joins: [t]i32) : fragments [t] =
  -- The new ends know each other.
  let ends = map2 (\x y -> if y >= 0 then i64.i32 (get far (i32.i64 x)) else -1) (iota t) joins
  in { first = map2 (\u y -> if u < 0 then y else u) first joins
     , second = map3 (\u v y -> if u >= 0 && v < 0 then y else v) first second joins
     , far = scatter (copy far) ends (map (\y -> if y >= 0 then get far y else -1) joins)
     }

-- | Join cities of t / n tours by listed edges, the best by `rank` of a tour and two cities, with five free bits, while
-- two fragments pick each other. **Work:** O(t k) a round. **Span:** O(k) a round.
def join_all [k] (n: i64) (t: i64) (lists: [n][k]i32) (rank: i64 -> i64 -> i64 -> i64) : fragments [t] =
  let lone: fragments [t] = {first = replicate t (-1), second = replicate t (-1), far = map i32.i64 (iota t)}
  let (fragments, _, _) =
    loop (now, go, round) = (lone, true, 0i32)
    while go && round < most_rounds do
      let picks = kept_apart (picks lists rank now)
      let far (x: i64) = #[unsafe] i64.i32 now.far[x]
      let joins = mutual picks far (\x j -> #[unsafe] x / n * n + i64.i32 lists[x % n, j])
      in (join now joins, or (map (>= 0) joins), round + 1)
  in fragments

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
def picks_along [e] (n: i64) (rows: rows) (joins: i64 -> bool) (rank: i64 -> i64 -> i64 -> i64) (ends: [e]end) : [e]i64 =
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
-- while two pick each other, for some rounds; return neighbours and ends left. **Work:** O(e), **span:** O(log e) a round.
def join_along [t] (n: i64) (rows: rows) (joins_along: i64 -> bool) (rank: i64 -> i64 -> i64 -> i64) (rounds: i32) (fragments: fragments [t]) (ends: []end) : ([t]i32, [t]i32, []end) =
  let (first, second, ends, _, _) =
    loop (first: *[t]i32, second: *[t]i32, ends, go, round) = (copy fragments.first, copy fragments.second, ends, true, 0i32)
    while go && round < rounds do
      let picks = kept_apart (picks_along n rows joins_along rank ends)
      let joins = mutual picks (\i -> #[unsafe] i64.i32 ends[i].1) looked_at
      let cities = map (.0) ends
      let others = map (\k -> if k >= 0 then get cities k else -1) joins
      let lacks_both = map (\x -> get first x < 0) cities
      let to (first: bool) = map3 (\x y f -> if y >= 0 && f == first then i64.i32 x else -1) cities others lacks_both
      let (to_first, to_second) = (to true, to false)
      let ends = left ends joins
      in (scatter first to_first others, scatter second to_second others, ends, or (map (>= 0) joins), round + 1)
  in (first, second, ends)

-- The head that each of f tails leads to: that of the next fragment of the row, behind the last one that of the first.
local
def heads_behind [r] [f] (rows: rows) (n: i64) (sizes: [r]i32) (heads: [f]i32) : [f]i32 =
  let starts = starts_of sizes (ends_of sizes)
  let behind (g: i32) (head: i32) =
    let row = row_of_city rows n head
    let start = get starts row
    in get heads (if g + 1 == start + get sizes row then start else g + 1)
  in map2 behind (map i32.i64 (iota f)) heads

-- The two neighbours of each city of whole rows: fragments with these ends follow each other.
local
def closed [t] (n: i64) (rows: rows) (first: [t]i32) (second: [t]i32) (ends: []end) : [t](i32, i32) =
  let heads = map (get ends) (where_true (map2 (\i (_, other) -> i <= other) (map i32.i64 (indices ends)) ends))
  let tails = map (\(_, other) -> (get ends other).0) heads
  let heads = map (.0) heads
  let sizes = sums (t / n * instances rows) (map (\x -> i64.i32 (row_of_city rows n x)) heads) (map (const 1i32) heads)
  let behind = heads_behind rows n sizes heads
  let next = scatter (replicate t (-1i32)) (map i64.i32 tails) behind
  let previous = scatter (replicate t (-1i32)) (map i64.i32 behind) tails
  -- A lone city lacks both neighbours; another end lacks one, and has one of these two.
  let both (u: i32) (v: i32) (x: i32) (y: i32) = if u < 0 then (x, y) else if v < 0 then (u, i32.max x y) else (u, v)
  in map4 both first second next previous

-- | Close the fragments of each row along its curve; those of half of the tours join by `rank` before, for some rounds.
-- Return rows from their first cities on, and positions. **Work:** O(p n log n). **Span:** O(log (p n)).
def follow [p] [n] (rows: rows) (spots: spots [n]) (keys: [p]rng.key) (rank: i64 -> i64 -> i64 -> i64) (rounds: i32) (fragments: fragments [p * n]) : ([p * n]i32, [p * n]i32) =
  #[unsafe]
  let (first, second, ends) =
    join_along n rows (\a -> joins_along keys[a]) rank rounds fragments (ends_along rows spots keys fragments)
  let around = closed n rows first second ends
  -- State 2 c + s: at city c on the way from neighbour s to the other one.
  let step (x: i64): i32 =
    let c = x / 2
    let d = if x % 2 == 0 then around[c].1 else around[c].0
    let y = 2 * d + i32.bool (i64.i32 around[i64.i32 d].0 != c)
    let first = c / n * n + i64.i32 (bounds_at rows (i32.i64 (c % n))).start
    in if y == 2 * i32.i64 first then -1 else y
  let (left, ends) = sums_to_end (log4_up (most_cities rows)) (replicate (p * n * 2) 1) (tabulate (p * n * 2) step)
  -- The way on from neighbour 0 of a row's first city has an end; the way back to it has none.
  let place (c: i64): i32 =
    let {start, size} = bounds_at rows (i32.i64 (c % n))
    in start + size - left[2 * c + i64.bool (!ends[2 * c])]
  let places = tabulate (p * n) place
  let at = map2 (\c q -> c / n * n + i64.i32 q) (iota (p * n)) places
  in (scatter (replicate (p * n) 0i32) at (map (\c -> i32.i64 (c % n)) (iota (p * n))), places)
