-- | Joints made: exchanges with more cuts, and fewer subtours.

import "edges"
import "exchange"
import "joints"
import "orbits"
import "segments"

-- | Tell which joints are made: those at whose edges no other joint of an earlier subtour stands. **Work:** O(m).
def unclaimed [m] (joints: [m]joint) : [m]bool =
  let both = flatten (map (\joint -> [joint.x.claim, joint.y.claim]) joints)
  let firsts = hist i32.min i32.highest (3 * m) both (flatten (map (\s -> [i32.i64 s, i32.i64 s]) (iota m)))
  let is_first (s: i64) (claim: i64) = #[unsafe] firsts[claim] == i32.i64 s
  in map2 (\s joint -> joint.is && is_first s joint.x.claim && is_first s joint.y.claim) (iota m) joints

-- | New cuts: the position of the one in each segment, -1 where there is none, and how many there are up to each segment.
type fresh [m] = {at: [m]i32, upto: [m]i32}

-- A new cut comes behind the cut before its segment. One behind position 0 or later in a segment that goes on there from the
-- end of the tour comes before the first cut of its exchange: cuts stay in order.
local def is_after [m] (cut: [m]i32) (at: [m]i32) (r: i32) : bool = get at r > get cut r

-- | Put new cuts where joints that are made cut segments. **Work:** O(m). **Span:** O(log m).
def fresh_cuts [c] [m] (e: exchanges [c] [m]) (made: [m]bool) (joints: [m]joint) : fresh [m] =
  let segments = flatten (map2 (\f joint -> if f then [i64.i32 joint.x.seg, i64.i32 joint.y.seg] else [-1, -1]) made joints)
  let at = scatter (replicate m (-1i32)) segments (flatten (map (\joint -> [joint.x.pos, joint.y.pos]) joints))
  let is_before (r: i32) =
    let z = previous_cut e r
    in r == get e.off (get e.own r) && get at z >= 0 && !(is_after e.cut at z)
  let count (r: i64) = i32.bool (is_after e.cut at (i32.i64 r)) + i32.bool (is_before (i32.i64 r))
  in {at, upto = scan (+) 0 (map count (iota m))}

-- The new number of a cut.
local
def moved [c] [m] (e: exchanges [c] [m]) ({at, upto}: fresh [m]) (r: i32) : i32 =
  r + get upto r - i32.bool (is_after e.cut at r)

-- The number of the new cut in a segment.
local
def fresh_number [c] [m] (e: exchanges [c] [m]) (fresh: fresh [m]) (r: i32) : i32 =
  if is_after e.cut fresh.at r then moved e fresh r + 1 else moved e fresh (next_cut e r) - 1

-- The new links of the four ends of each joint that is made.
local
def new_links [c] [m] (e: exchanges [c] [m]) (fresh: fresh [m]) (made: [m]bool) (joints: [m]joint) : ([m * 4]i64, [m * 4]i32) =
  let end (x: edge) (end: i32) = if x.seg < 0 then 2 * moved e fresh (end >> 1) + (end & 1) else 2 * fresh_number e fresh x.seg + end
  let links (f: bool) ({is = _, x, y, gain = _, there = _}: joint) =
    let (u, v, w, z) = if f then (end x x.near, end x x.far, end y y.near, end y y.far) else (-1, -1, -1, -1)
    in [(i64.i32 u, w), (i64.i32 w, u), (i64.i32 v, z), (i64.i32 z, v)]
  in unzip (flatten (map2 links made joints))

-- | Make joints: return the exchanges, the subtour of each segment, and how many joints each exchange made. `most` is the most
-- subtours of an exchange.
--
-- **Work:** O(c + m log most). **Span:** O(log most + log m).
#[noinline]
def splice [c] [m] (most: i64) (e: exchanges [c] [m]) (subtour: [m]i32) (made: [m]bool) (joints: [m]joint) : ?[l].(exchanges [c] [l], [l]i32, [c]i32) =
  #[unsafe]
  let fresh = fresh_cuts e made joints
  let l = numbered (if m == 0 then 0 else m + i64.i32 fresh.upto[m - 1])
  let before (r: i32) = r + (if r == 0 then 0 else get fresh.upto (r - 1))
  let off = map before e.off
  let size = map3 (\o z o' -> before (o + z) - o') e.off e.size off
  -- The source of each cut: 2 r for cut r, 2 r + 1 for the new one in segment r.
  let old = map (\r -> i64.i32 (moved e fresh (i32.i64 r))) (iota m)
  let source = scatter (replicate l 0i32) old (map (\r -> 2 * i32.i64 r) (iota m))
  let new = map2 (\r q -> if q >= 0 then i64.i32 (fresh_number e fresh (i32.i64 r)) else -1) (iota m) fresh.at
  let source = scatter source new (map (\r -> 2 * i32.i64 r + 1) (iota m))
  let link_of (y: i64) =
    let x = source[y / 2]
    let other = linked e ((x | 1) - 1 + i32.i64 (y % 2))
    in if x & 1 == 0 then 2 * moved e fresh (other >> 1) + (other & 1) else 0
  let (to, from) = new_links e fresh made joints
  let link = unflatten (scatter (tabulate (l * 2) link_of) to from)
  -- A subtour hangs below the larger one that it joins.
  let parent = map3 (\s f (joint: joint) -> if f then get subtour joint.there else i32.i64 s) (iota m) made joints
  let top = roots (log4_up most) parent
  let owners = map2 (\f o -> if f then i64.i32 o else -1) made e.own
  let won = hist (+) 0 c owners (map (\joint -> i64.i32 joint.gain) joints)
  in ( { pair = e.pair
       , off
       , size
       , gain = map2 (+) e.gain won
       , cut = map (\x -> if x & 1 == 0 then get e.cut (x >> 1) else get fresh.at (x >> 1)) source
       , own = map (\x -> get e.own (x >> 1)) source
       , link
       }
     , map (\x -> moved e fresh (get top (get subtour (x >> 1)))) source
     , hist (+) 0 c owners (replicate m 1i32)
     )
