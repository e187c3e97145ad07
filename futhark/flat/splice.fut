-- | Joints made: exchanges with more cuts, fewer subtours. Segments find joints by edges, without a scatter.

import "edges"
import "exchange"
import "joints"
import "segments"

-- | Return the first joint at each edge, by the subtour that looked, `i32.highest` where there is none. **Work:** O(m).
def claims_of [m] (joints: [m]joint) : [3 * m]i32 =
  let claim (x: i64) =
    #[unsafe]
    let joint = joints[x / 2]
    in if x % 2 == 0 then joint.x.claim else joint.y.claim
  in least_of (3 * m) (tabulate (m * 2) claim) (tabulate (m * 2) (\x -> i32.i64 (x / 2)))

-- | Joints, and the first one at each edge. A joint is made where it is the first at both of its edges.
type joining [m] = {joints: [m]joint, claims: [3 * m]i32}

-- | Tell whether the joint of a subtour is made. **Work:** O(1).
def is_made [m] ({joints, claims}: joining [m]) (s: i32) : bool =
  #[unsafe]
  let joint = get joints s
  in joint.is && claims[joint.x.claim] == s && claims[joint.y.claim] == s

-- The joint that is made at an edge, -1 where there is none.
local
def made_at [m] (j: joining [m]) (claim: i64) : i32 =
  let s = #[unsafe] j.claims[claim]
  in if s != i32.highest && is_made j s then s else -1

-- | Return the position of the new cut in a segment, -1 where there is none. **Work:** O(1).
def new_cut [m] (j: joining [m]) (r: i32) : i32 =
  let claim = 2 * m + i64.i32 r
  let s = made_at j claim
  in if s < 0
     then -1
     else let {is = _, x, y, gain = _, there = _} = get j.joints s
          in if x.claim == claim then x.pos else y.pos

-- | Results of joints: new cuts of segments or -1, joints made; up to each segment new cuts, gains, joints.
type fresh [m] = {at: [m]i32, made: [m]bool, upto: [m]i32, won: [m]i64, joined: [m]i32}

-- A new cut comes behind the cut before its segment. One behind position 0 or later in a segment that goes on there
-- from the end of the tour comes before the first cut of its exchange: cuts stay in order.
local def is_after [m] (cut: [m]i32) (r: i32) (at: i32) : bool = at > get cut r

-- | Put new cuts where joints that are made cut segments. **Work:** O(m). **Span:** O(log m).
def fresh_cuts [c] [m] (e: exchanges [c] [m]) (j: joining [m]) : fresh [m] =
  let one (r: i64) =
    let r = i32.i64 r
    let (at, made) = (new_cut j r, is_made j r)
    let is_before =
      r == get e.off (get e.own r)
      && (let z = previous_cut e r
          let at = new_cut j z
          in at >= 0 && !(is_after e.cut z at))
    let count = i32.bool (is_after e.cut r at) + i32.bool is_before
    in (at, made, (count, if made then i64.i32 (get j.joints r).gain else 0, i32.bool made))
  let (at, made, counts) = unzip3 (map one (iota m))
  let add (a, b, c) (x, y, z) = (a + x, b + y, c + z)
  let (upto, won, joined) = unzip3 (scan add (0, 0, 0) counts)
  in {at, made, upto, won, joined}

-- A sum over the segments before one.
local def before [m] 't (zero: t) (upto: [m]t) (r: i32) : t = if r == 0 then zero else get upto (r - 1)

-- The new number of a cut.
local
def moved [c] [m] (e: exchanges [c] [m]) (fresh: fresh [m]) (r: i32) : i32 =
  r + get fresh.upto r - i32.bool (is_after e.cut r (get fresh.at r))

-- The number of the new cut in a segment.
local
def fresh_number [c] [m] (e: exchanges [c] [m]) (fresh: fresh [m]) (r: i32) : i32 =
  if is_after e.cut r (get fresh.at r) then moved e fresh r + 1 else moved e fresh (next_cut e r) - 1

-- The source of each of l cuts: 2 r for cut r, 2 r + 1 for the new one in segment r.
local
def sources [c] [m] (l: i64) (e: exchanges [c] [m]) (fresh: fresh [m]) : [l]i32 =
  let to (x: i64): i64 =
    let r = i32.i64 (x / 2)
    in if x % 2 == 0 then i64.i32 (moved e fresh r) else if get fresh.at r < 0 then -1 else i64.i32 (fresh_number e fresh r)
  in scatter (replicate l 0i32) (tabulate (m * 2) to) (tabulate (m * 2) i32.i64)

-- What an end of a cut is joined to, by the cut's source and the end's side.
local
def new_link [c] [m] (e: exchanges [c] [m]) (fresh: fresh [m]) (j: joining [m]) (source: i32) (side: i32) : i32 =
  let r = source >> 1
  let is_new = source & 1 == 1
  let end = 2 * r + side
  let other = linked e end
  let claim = if is_new then 2 * m + i64.i32 r else i64.i32 (i32.min end other)
  let s = if is_new then #[unsafe] j.claims[claim] else made_at j claim
  in if s < 0
     then 2 * moved e fresh (other >> 1) + (other & 1)
     else let {is = _, x, y, gain = _, there = _} = get j.joints s
          let (mine, its) = if x.claim == claim then (x, y) else (y, x)
          let to = if mine.near == (if is_new then side else end) then its.near else its.far
          in if its.seg < 0 then 2 * moved e fresh (to >> 1) + (to & 1) else 2 * fresh_number e fresh its.seg + to

-- | Return exchanges, subtours, and joints of each. **Work:** O(c + m d) at a depth d. **Span:** O(d + log m).
def splice [c] [m] (e: exchanges [c] [m]) (subtour: [m]i32) (joints: [m]joint) : ?[l].(exchanges [c] [l], [l]i32, [c]i32) =
  let j = {joints, claims = claims_of joints}
  let fresh = fresh_cuts e j
  let l = numbered (m + (if m == 0 then 0 else i64.i32 (#[unsafe] fresh.upto[m - 1])))
  let source = sources l e fresh
  -- A subtour hangs below the larger one that it joins.
  let top (s: i32) = loop s while get fresh.made s do get subtour (get joints s).there
  let one (x: i32) =
    let r = x >> 1
    in ( if x & 1 == 0 then get e.cut r else get fresh.at r
       , get e.own r
       , (new_link e fresh j x 0, new_link e fresh j x 1)
       , moved e fresh (top (get subtour r))
       )
  let (cut, own, link, subtour) = unzip4 (map one source)
  let number (r: i32) = r + before 0 fresh.upto r
  let row (off: i32) (size: i32) (gain: i64) =
    let (from, behind) = (off, off + size)
    let won = before 0 fresh.won behind - before 0 fresh.won from
    let joined = before 0 fresh.joined behind - before 0 fresh.joined from
    in (number from, number behind - number from, gain + won, joined)
  let (off, size, gain, joined) = unzip4 (map3 row e.off e.size e.gain)
  in ({row = e.row, off, size, gain, cut, own, link}, subtour, joined)
