-- | Joints: for every subtour but the largest of its exchange the best exchange of two edges that joins it to a larger one.

import "../core/metric"
import "../core/packed"
import "edges"
import "exchange"
import "rows"
import "segments"
import "subtours"

-- | Exchanges; the subtour of each segment, by one of its segments; its cities, there; which segments look.
type rings [c] [m] = {e: exchanges [c] [m], subtour: [m]i32, sizes: [m]i32, looks: [m]bool}

-- | A joint: edges `x` of the subtour and `y` of a larger one, whose segment is `there`, and what it saves.
type joint = {is: bool, x: edge, y: edge, gain: i32, there: i32}

def no_joint : joint =
  let edge = {claim = -1, seg = -1, pos = 0, near = 0, far = 0, to = 0}
  in {is = false, x = edge, y = edge, gain = 0, there = 0}

-- | Find segments that look: of subtours of up to `cap` cities, but the largest. **Work:** O(c + m). **Span:** O(log
-- m).
def rings_of [c] [m] (rows: rows) (cap: i32) (e: exchanges [c] [m]) (subtour: [m]i32) (unfinished: [c]bool) : rings [c] [m] =
  let sizes = subtour_sizes rows e subtour
  let largest = largest_subtours e subtour sizes
  let looks (o: i32) (s: i32) = get unfinished o && subtour_of (get largest o) != s && get sizes s <= cap
  in {e, subtour, sizes, looks = map2 looks e.own subtour}

-- Behind how many cities that look those of segment r come.
local def upto [m] (ends: [m]i64) (r: i32) : i64 = if r == 0 then 0 else get ends (r - 1)

-- The position of city x of those that look, in segment r.
local
def position [c] [m] (rows: rows) (e: exchanges [c] [m]) (ends: [m]i64) (r: i32) (x: i64) : i32 =
  stepped rows (position_of rows e (2 * r + 1)) (i32.i64 (x - upto ends r))

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
  -- the city's number among those of its exchange that look, and the code. **Work:** O(s k log m) for s cities that
  -- look. **Span:** O(k log m).
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
      let number = cities - (x - upto ends (get rings.e.off (get rings.e.own r)))
      in (if code < 0 then -1 else i64.i32 (get rings.subtour r), (i64.i32 gain << 32) | (number << bits) | i64.i32 code)
    let (to, keys) = unzip (map key (iota (total_of ends)))
    let best = largest_of m to keys
    let joint (s: i64): joint =
      if best[s] == i64.lowest
      then no_joint
      else let (lists, tours, places, {e, subtour = _, sizes = _, looks = _}, ends) = unpack all
           let x = cities - ((best[s] & 0xffffffff) >> bits) + upto ends (get e.off e.own[s])
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
