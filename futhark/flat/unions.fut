-- | Unions around exchanges that leave costly subtours: AB-cycles join them while fewer subtours are left, as by Nagata
-- and Kobayashi's second block strategy.

import "cycles"
import "exchange"
import "rows"

-- | All AB-cycles of all pairs as exchanges, the edges that differ, and the exchange of each of these, -1 where it has none.
type pool [p] [n] [w] [c] [m] = {cycles: exchanges [c] [m], d: difference [p] [n] [w], own: [w]i32}

-- | Exchanges with the subtour of each segment.
type divided [c] [m] = (exchanges [c] [m], [m]i32)

-- | Exchanges with the subtour of each segment, and the rank of the largest subtour of each exchange.
type centers [c] [m] = {e: exchanges [c] [m], subtour: [m]i32, largest: [c]i64}

-- | An exchange and a cycle that may join it.
type member = (i32, i32)

-- | Find the largest subtour of each exchange. **Work:** O(c + m). **Span:** O(log m).
def centers_of [c] [m] (rows: rows) ((e, subtour): divided [c] [m]) : centers [c] [m] =
  {e, subtour, largest = largest_subtours e subtour (subtour_sizes rows e subtour)}

-- Tell whether a segment lies in a small subtour: any but the largest of its exchange. **Work:** O(1).
local
def is_small [c] [m] (centers: centers [c] [m]) (r: i32) : bool =
  get centers.subtour r != subtour_of (get centers.largest (get centers.e.own r))

-- The first edge that differs within a segment, their number, and those of its row, with which the last goes on.
local
def edges_within [p] [n] [w] [c] [m] (rows: rows) (d: difference [p] [n] [w]) (e: exchanges [c] [m]) (r: i32) : (i32, i32, (i32, i32)) =
  #[unsafe]
  let row = get e.row (get e.own r)
  let tour = tour_of rows row * n
  let upto (q: i32) = d.upto[tour + i64.i32 q]
  let {start, size} = bounds_of_row rows row
  let base = tour + i64.i32 start
  let (low, high) = (before 0 d.upto base, upto (start + size - 1))
  let (from, to) = (get e.cut r, get e.cut (next_cut e r))
  let inside = upto to - 1 - upto from
  in (upto from, if to > from then inside else inside + high - low, (low, high))

-- Tell whether an edge is its cycle's first cut in a small subtour, and a cut is in another. **Work:** O(l log m).
local
def joins [c] [m] [d] [l] (centers: centers [c] [m]) (cycles: exchanges [d] [l]) (o: i32) (g: i32) (q: i32) : bool =
  let (from, behind) = (get cycles.off g, get cycles.off g + get cycles.size g)
  let segment (r: i32) = segment_of centers.e o (get cycles.cut r)
  let first = loop r = from while r < behind && !(is_small centers (segment r)) do r + 1
  let mine = get centers.subtour (segment first)
  let other = loop r = from while r < behind && get centers.subtour (segment r) == mine do r + 1
  in get cycles.cut first == q && other < behind

-- | Find the cycles that may join each exchange: in several of its subtours, without common cuts, with some gain and at
-- most `most` cuts in all, by exchanges, segments, and the x edges. **Work:** O(x l log m). **Span:** O(l log m).
def members [p] [n] [w] [c] [m] [d] [l] (rows: rows) (most: i32) (pool: pool [p] [n] [w] [d] [l]) (centers: centers [c] [m]) : []member =
  #[unsafe]
  let all = pack (pool, centers)
  let count (r: i32) =
    let (pool, centers) = unpack all
    in if is_small centers r then (edges_within rows pool.d centers.e r).1 else 0
  let counts = kept_apart (map (\r -> count (i32.i64 r)) (iota m))
  let ends = ends_of counts
  let candidate (x: i64): (i32, i32, i32) =
    let (pool, {e, subtour = _, largest = _}) = unpack all
    let r = row_of ends x
    let (from, _, (low, high)) = edges_within rows pool.d e r
    let edge = from + i32.i64 (x - (ends[i64.i32 r] - i64.i32 (get counts r)))
    let edge = if edge >= high then edge - high + low else edge
    in (get e.own r, get pool.own edge, get pool.d.edges edge - i32.i64 (tour_of rows (get e.row (get e.own r)) * n))
  let fits (o: i32) (g: i32) (q: i32) =
    let ({cycles, d = _, own = _}, centers) = unpack all
    let e = centers.e
    in g >= 0
       && get e.gain o + get cycles.gain g > 0
       && get e.size o + get cycles.size g <= most
       && get e.cut (next_cut e (segment_of e o q)) != q
       && joins centers cycles o g q
  let candidates = kept_apart (map candidate (iota (numbered (total_of ends))))
  let found = where_true (kept_apart (map (\(o, g, q) -> fits o g q) candidates))
  in map (\x -> let (o, g, _) = get candidates x in (o, g)) found

-- The place of cut r, of exchange o or of cycle g, among the cuts of both. **Work:** O(log m).
local
def place_in_both [c] [m] [d] [l] (e: exchanges [c] [m]) (cycles: exchanges [d] [l]) (o: i32) (g: i32) (is_exchange: bool) (r: i32) : i32 =
  if is_exchange
  then r - get e.off o + cuts_before cycles g (get e.cut r)
  else r - get cycles.off g + cuts_before e o (get cycles.cut r)

-- | Return the union of each exchange with its cycle, which shares no cut with it. **Work:** O(v log m) for v cuts in all.
def unions_of [c] [m] [d] [l] [u] (e: exchanges [c] [m]) (cycles: exchanges [d] [l]) (members: [u]member) : ?[v].exchanges [u] [v] =
  #[unsafe]
  let (os, gs) = unzip members
  let size = map2 (\o g -> get e.size o + get cycles.size g) os gs
  let ends = ends_of size
  let v = numbered (total_of ends)
  let off = starts_of size ends
  let all = pack (e, cycles, os, gs, off, ends)
  -- The exchange's cuts, then the cycle's: the union, the cut, whether it is the exchange's. A function in this tuple would
  -- take the compiler half a minute.
  let cut_of (x: i32): (i32, i32, bool) =
    let (e, cycles, os, gs, off, ends) = unpack all
    let w = row_of ends (i64.i32 x)
    let (o, g) = (get os w, get gs w)
    let t = x - get off w
    let is_mine = t < get e.size o
    in (w, if is_mine then get e.off o + t else get cycles.off g + t - get e.size o, is_mine)
  let place (w: i32) (is_mine: bool) (r: i32): i32 =
    let (e, cycles, os, gs, off, _) = unpack all
    in get off w + place_in_both e cycles (get os w) (get gs w) is_mine r
  let slot (x: i64): i64 =
    let (w, r, is_mine) = cut_of (i32.i64 x)
    in i64.i32 (place w is_mine r)
  let source = scatter (replicate v 0i32) (map slot (iota v)) (map i32.i64 (iota v))
  let cut (x: i32) =
    let (e, cycles, _, _, _, _) = unpack all
    let (w, r, is_mine) = cut_of x
    let linked (side: i32) =
      let y = if is_mine then linked e (2 * r + side) else linked cycles (2 * r + side)
      in 2 * place w is_mine (y >> 1) + (y & 1)
    in (if is_mine then get e.cut r else get cycles.cut r, w, (linked 0, linked 1))
  let (cut, own, link) = unzip3 (map cut source)
  in { row = map (get e.row) os
     , off
     , size
     , gain = map2 (\o g -> get e.gain o + get cycles.gain g) os gs
     , cut
     , own
     , link
     }

-- | Tell the best union of each of c exchanges: of fewest subtours, then most gain, then the first; if fewer than the
-- exchange leaves. Gains are below 2^46. **Work:** O(c + u).
def best_unions [c] [u] (left: [c]i32) (centers: [u]i32) (union_left: [u]i32) (gain: [u]i64) : [u]bool =
  let key (l: i32) (g: i64) = g - (i64.i32 l << 46)
  let best = largest_of c (map i64.i32 centers) (map2 key union_left gain)
  let is_best = map3 (\o l g -> l < get left o && key l g == get best o) centers union_left gain
  let first = least_of c (map2 (\f o -> if f then i64.i32 o else -1) is_best centers) (map i32.i64 (iota u))
  in map3 (\f o x -> f && get first o == i32.i64 x) is_best centers (iota u)

-- | Unions that were found, and the exchanges around which others are looked for.
type growth [c] [m] [d] [l] = {found: exchanges [c] [m], centers: divided [d] [l]}

-- One round: unions that leave one tour are found; the best of each exchange goes on if it leaves several.
local
def grow [p] [n] [w] [c] [m] [d] [l] [e] [k] (rows: rows) (most: i32) (pool: pool [p] [n] [w] [e] [k]) ({found, centers}: growth [c] [m] [d] [l]) : ?[c'][m'][d'][l'].growth [c'] [m'] [d'] [l'] =
  let centers = centers_of rows centers
  let members = members rows most pool centers
  let unions = unions_of centers.e pool.cycles members
  let subtour = subtours (i64.i32 most) unions
  let left = count_subtours unions subtour
  let best = best_unions (count_subtours centers.e centers.subtour) (map (.0) members) left unions.gain
  let more = select unions (map2 (\z f -> z == 1 || f) left best)
  let centers = select_named unions subtour (map2 (\z f -> z > 1 && f) left best)
  in {found = both found more, centers}

-- | Find unions around exchanges in `rounds` rounds, with up to `most` cuts. **Work:** that of `members` and `unions_of` a round.
def unions [p] [n] [w] [c] [m] [d] [l] (rows: rows) (most: i32) (rounds: i32) (pool: pool [p] [n] [w] [d] [l]) (e: exchanges [c] [m]) : ?[u][v].exchanges [u] [v] =
  let none = select e (map (const false) e.row)
  let first = {found = none, centers = (e, subtours (i64.i32 most) e)}
  let last = loop (now: growth [] [] [] []) = first for _round < rounds do grow rows most pool now
  in last.found
