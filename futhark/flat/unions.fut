-- | Unions around exchanges that leave costly subtours: AB-cycles join them while fewer subtours are left, as by Nagata
-- and Kobayashi's second block strategy.

import "../core/packed"
import "exchange"
import "members"
import "rows"
import "segments"
import "subtours"

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
