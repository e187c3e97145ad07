-- | Joints: for every subtour but the largest of its exchange the best exchange of two edges that joins it to a larger one.
-- Joints made give exchanges with more cuts and fewer subtours; segments find them by edges, without a scatter.

import "../core/metric"
import "exchange"
import "rows"

-- | Exchanges; the subtour of each segment, by one of its segments; its cities, there; which segments look.
type rings [c] [m] = {e: exchanges [c] [m], subtour: [m]i32, sizes: [m]i32, looks: [m]bool}

-- | A joint: edges `x` of the subtour and `y` of a larger one, whose segment is `there`, and what it saves.
type joint = {is: bool, x: edge, y: edge, gain: i32, there: i32}

def no_joint : joint =
  let edge = {claim = -1, seg = -1, pos = 0, near = 0, far = 0, to = 0}
  in {is = false, x = edge, y = edge, gain = 0, there = 0}

-- | Find segments that look: of all subtours up to `cap` cities but the largest. **Work:** O(c + m). **Span:** O(log m).
def rings_of [c] [m] (rows: rows) (cap: i32) (e: exchanges [c] [m]) (subtour: [m]i32) (unfinished: [c]bool) : rings [c] [m] =
  let sizes = subtour_sizes rows e subtour
  let largest = largest_subtours e subtour sizes
  let looks (o: i32) (s: i32) = get unfinished o && subtour_of (get largest o) != s && get sizes s <= cap
  in {e, subtour, sizes, looks = map2 looks e.own subtour}

-- The position of city x of those that look, in segment r.
local
def position [c] [m] (rows: rows) (e: exchanges [c] [m]) (ends: [m]i64) (r: i32) (x: i64) : i32 =
  stepped rows (position_of rows e (2 * r + 1)) (i32.i64 (x - before 0 ends (i64.i32 r)))

-- A find of a city: a gain, and the place in its list with the two sides, as 4 j + 2 side + other, -1 for none.
local type found = (i32, i32)

module mk_joints (M: metric) = {
  -- The best joint of the city at position q of segment r, the first among equals, or code -1. The list is left where a
  -- new edge saves no more than half of what the best joint does, or has to. **Work:** O(k log m).
  local
  def look [n] [k] [p] [c] [m] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (places: [p][n]i32) ({e, subtour, sizes, looks = _}: rings [c] [m]) (r: i32) (q: i32) : found =
    #[unsafe]
    let o = get e.own r
    let a = tour_of rows (get e.row o)
    let city (q: i32) = M.point data (get tours[a] q)
    let across (r: i32) (q: i32) (side: i32) = city (edge_at rows e r q side).to
    let mine = rank_of sizes (get subtour r)
    let bounds = bounds_at rows q
    let (first, size) = (position_of rows e (2 * r + 1), segment_size rows e r)
    let u = city q
    let (v0, v1) = (across r q 0, across r q 1)
    let (lost0, lost1) = (M.dist data u v0, M.dist data u v1)
    let pick ((best, code): found) (gain: i32) (other: i32): found = if gain > best then (gain, other) else (best, code)
    let try ((best, code): found) (j: i32) (t: i32) (w: M.point) (come: i32): found =
      let there = segment_of e o t
      in if rank_of sizes (get subtour there) <= mine
         then (best, code)
         else let (x0, x1) = (across there t 0, across there t 1)
              let (won0, won1) = (M.dist data w x0 - come, M.dist data w x1 - come)
              let found = pick (best, code) (lost0 + won0 - M.dist data v0 x0) (4 * j)
              let found = pick found (lost0 + won1 - M.dist data v0 x1) (4 * j + 1)
              let found = pick found (lost1 + won0 - M.dist data v1 x0) (4 * j + 2)
              in pick found (lost1 + won1 - M.dist data v1 x1) (4 * j + 3)
    let least = i32.i64 (i64.max (i64.i32 i32.lowest) (-(get e.gain o)))
    let (found, _) =
      loop (found, j) = ((least, -1), 0)
      while j < i32.i64 k do
        let w = lists[i64.i32 (M.city u), i64.i32 j]
        let come = M.dist data u (M.point data w)
        in if i32.max lost0 lost1 - come <= found.0 / 2
           then (found, i32.i64 k)
           else let t = get places[a] w
                let is_here = steps_between bounds first t < size
                in (if is_here then found else try found j t (M.point data w) come, j + 1)
    in found

  -- | Return the best joint of each subtour that looks, the first city's among equals. A find is one number: the gain,
  -- the city's number among the s that look in its exchange, and the code. **Work:** O(s k log m). **Span:** O(k log m).
  def joints [n] [k] [p] [c] [m] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (places: [p][n]i32) (rings: rings [c] [m]) : [m]joint =
    #[unsafe]
    let {e, subtour = _, sizes = _, looks} = rings
    let bits = 66 - i64.i32 (i64.clz (i64.max 0 (k - 1)))
    let cities = assert (most_cities rows <= 1 << (32 - bits)) ((1 << (32 - bits)) - 1)
    let ends = scan (+) 0 (map2 (\r f -> if f then i64.i32 (segment_size rows e (i32.i64 r)) else 0) (iota m) looks)
    let all = pack (lists, tours, places, rings, ends)
    let key (x: i64): (i64, i64) =
      let (lists, tours, places, rings, ends) = unpack all
      let r = row_of ends x
      let (gain, code) = look rows data lists tours places rings r (position rows rings.e ends r x)
      let number = cities - (x - before 0 ends (i64.i32 (get rings.e.off (get rings.e.own r))))
      in (if code < 0 then -1 else i64.i32 (get rings.subtour r), (i64.i32 gain << 32) | (number << bits) | i64.i32 code)
    let (to, keys) = unzip (map key (iota (total_of ends)))
    let best = largest_of m to keys
    let joint (s: i64): joint =
      if best[s] == i64.lowest
      then no_joint
      else let (lists, tours, places, {e, subtour = _, sizes = _, looks = _}, ends) = unpack all
           let x = cities - ((best[s] & 0xffffffff) >> bits) + before 0 ends (i64.i32 (get e.off e.own[s]))
           let code = i32.i64 (best[s] & ((1 << bits) - 1))
           let r = row_of ends x
           let q = position rows e ends r x
           let a = tour_of rows (get e.row e.own[s])
           let t = get places[a] lists[i64.i32 (get tours[a] q), i64.i32 (code >> 2)]
           let there = segment_of e e.own[s] t
           in { is = true
              , x = edge_at rows e r q ((code >> 1) & 1)
              , y = edge_at rows e there t (code & 1)
              , gain = i32.i64 (best[s] >> 32)
              , there
              }
    in map joint (iota m)
}

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
  let number (r: i32) = r + before 0 fresh.upto (i64.i32 r)
  let row (off: i32) (size: i32) (gain: i64) =
    let (from, behind) = (i64.i32 off, i64.i32 (off + size))
    let won = before 0 fresh.won behind - before 0 fresh.won from
    let joined = before 0 fresh.joined behind - before 0 fresh.joined from
    in (number off, number (off + size) - number off, gain + won, joined)
  let (off, size, gain, joined) = unzip4 (map3 row e.off e.size e.gain)
  in ({row = e.row, off, size, gain, cut, own, link}, subtour, joined)
