-- | Unions around exchanges that leave costly subtours: AB-cycles join them while fewer subtours are left.
--
-- This has the effect of Nagata and Kobayashi's second block strategy (see `cycles`): subtours vanish by edges of the mate, not
-- by joints.

import "exchange"
import "members"
import "segments"
import "subtours"

-- | Return the union of each exchange with its cycle, which shares no cut with it. **Work:** O(v log m) for v cuts in all.
#[noinline]
def unions_of [c] [m] [d] [l] [u] (e: exchanges [c] [m]) (cycles: exchanges [d] [l]) (members: [u]member) : ?[v].exchanges [u] [v] =
  #[unsafe]
  let (os, gs) = unzip members
  let size = map2 (\o g -> get e.size o + get cycles.size g) os gs
  let ends = ends_of size
  let v = numbered (total_of ends)
  let off = starts_of size ends
  -- The cuts of the exchange, then those of the cycle, each moved to its place among both.
  let rows = rows_of v ends
  let cut_of (x: i64): (i64, i32, i32, [2]i32) =
    let w = rows[x]
    let (o, g) = (get os w, get gs w)
    let t = i32.i64 x - get off w
    let is_mine = t < get e.size o
    let r = if is_mine then get e.off o + t else get cycles.off g + t - get e.size o
    let cut (r: i32) = if is_mine then get e.cut r else get cycles.cut r
    let place (r: i32) =
      get off w
      + (if is_mine
         then r - get e.off o + cuts_before cycles g (cut r)
         else r - get cycles.off g + cuts_before e o (cut r))
    let linked (side: i32) = if is_mine then linked e (2 * r + side) else linked cycles (2 * r + side)
    let end (y: i32) = 2 * place (y >> 1) + (y & 1)
    in (i64.i32 (place r), w, cut r, [end (linked 0), end (linked 1)])
  let cuts = kept_apart (map cut_of (iota v))
  let slots = map (.0) cuts
  in { pair = map (get e.pair) os
     , off
     , size
     , gain = map2 (\o g -> get e.gain o + get cycles.gain g) os gs
     , cut = scatter (replicate v 0) slots (map (.2) cuts)
     , own = map (.1) cuts
     , link = scatter (replicate v [0, 0]) slots (map (.3) cuts)
     }

-- | Tell the best union of each of c exchanges: that with fewest subtours, of equal ones the one that saves most, then the
-- first; if it leaves fewer than the exchange itself. **Work:** O(c + u).
def best_unions [c] [u] (left: [c]i32) (centers: [u]i32) (union_left: [u]i32) (gain: [u]i64) : [u]bool =
  let at = map i64.i32 centers
  let fewest = hist i32.min i32.highest c at union_left
  let is_fewest = map2 (\o l -> l == get fewest o && l < get left o) centers union_left
  let gains = hist i64.max i64.lowest c (map2 (\f o -> if f then o else -1) is_fewest at) gain
  let is_best = map3 (\f o g -> f && g == get gains o) is_fewest centers gain
  let first = hist i32.min i32.highest c (map2 (\f o -> if f then o else -1) is_best at) (map i32.i64 (iota u))
  in map3 (\f o x -> f && get first o == i32.i64 x) is_best centers (iota u)

-- | Unions that were found, and the exchanges around which others are looked for.
type growth [c] [m] [d] [l] = {found: exchanges [c] [m], centers: exchanges [d] [l]}

-- One round: all unions that leave one tour are found, and so is the best one of each exchange, which goes on if it leaves
-- several.
local
def grow [p] [n] [w] [c] [m] [d] [l] [e] [k] (most: i32) (pool: pool [p] [n] [w] [e] [k]) ({found, centers}: growth [c] [m] [d] [l]) : ?[c'][m'][d'][l'].growth [c'] [m'] [d'] [l'] =
  let centers = centers_of n (i64.i32 most) centers
  let members = members most pool centers
  let unions = unions_of centers.e pool.cycles members
  let left = count_subtours unions (subtours (i64.i32 most) unions)
  let best = best_unions centers.left (map (.0) members) left unions.gain
  let more = select unions (map2 (\z f -> z == 1 || f) left best)
  in {found = both found more, centers = select unions (map2 (\z f -> z > 1 && f) left best)}

-- | Find unions around exchanges in so many rounds, with up to `most` cuts. **Work:** that of `members` and `unions_of` a round.
def unions [p] [n] [w] [c] [m] [d] [l] (most: i32) (rounds: i32) (pool: pool [p] [n] [w] [d] [l]) (e: exchanges [c] [m]) : ?[u][v].exchanges [u] [v] =
  let none = select e (map (const false) e.pair)
  let last = loop (now: growth [] [] [] []) = {found = none, centers = e} for _round < rounds do grow most pool now
  in last.found
