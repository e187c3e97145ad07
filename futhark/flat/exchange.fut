-- | Many exchanges of tour edges as one value. Cut r is behind position cut[r], between ends 2 r and 2 r + 1; `link`
-- joins ends. The cuts of an exchange are in order. Segment r goes from cut r to the next, the last one on to position 0.
-- Exchanges leave edges, parts of segments and links, and subtours, rings of segments.

import "orbits"
import "rows"

-- | c exchanges: of each the row, the first of m cuts, their number, the gain; of each cut position, exchange, links.
type exchanges [c] [m] =
  { row: [c]i32
  , off: [c]i32
  , size: [c]i32
  , gain: [c]i64
  , cut: [m]i32
  , own: [m]i32
  , link: [m](i32, i32)
  }

-- | Return the cut behind a cut of the same exchange; behind the last is the first. **Work:** O(1).
def next_cut [c] [m] (e: exchanges [c] [m]) (r: i32) : i32 =
  let o = get e.own r
  in if r + 1 == get e.off o + get e.size o then get e.off o else r + 1

-- | Return the cut before a cut of the same exchange. **Work:** O(1).
def previous_cut [c] [m] (e: exchanges [c] [m]) (r: i32) : i32 =
  let o = get e.own r
  in if r == get e.off o then r + get e.size o - 1 else r - 1

-- | Return what an end is joined to. **Work:** O(1).
def linked [c] [m] (e: exchanges [c] [m]) (end: i32) : i32 =
  #[unsafe]
  let r = i64.i32 (end >> 1)
  in if end & 1 == 0 then e.link[r].0 else e.link[r].1

-- | Return the position of an end's city. **Work:** O(1).
def position_of [c] [m] (rows: rows) (e: exchanges [c] [m]) (end: i32) : i32 =
  let cut = get e.cut (end >> 1)
  in if end & 1 == 0 then cut else stepped rows cut 1

-- | Return the number of cities in a segment. **Work:** O(1).
def segment_size [c] [m] (rows: rows) (e: exchanges [c] [m]) (r: i32) : i32 =
  let d = get e.cut (next_cut e r) - get e.cut r
  in if d <= 0 then d + (bounds_at rows (get e.cut r)).size else d

-- | Return how many cuts of exchange o lie before a position. **Work:** O(log m).
def cuts_before [c] [m] (e: exchanges [c] [m]) (o: i32) (q: i32) : i32 =
  let off = get e.off o
  let (before, _) =
    loop (low, high) = (0, get e.size o)
    while low < high do
      let middle = (low + high) / 2
      in if get e.cut (off + middle) < q then (middle + 1, high) else (low, middle)
  in before

-- | Return the segment of a position in exchange o. **Work:** O(log m).
def segment_of [c] [m] (e: exchanges [c] [m]) (o: i32) (q: i32) : i32 =
  let before = cuts_before e o q
  in get e.off o + (if before == 0 then get e.size o else before) - 1

-- | Return what follows states 2 r, segment r walked upwards, and 2 r + 1, downwards. **Work:** O(m). **Span:** O(1).
def walks [c] [m] (e: exchanges [c] [m]) : [m * 2]i32 =
  let follow (x: i64) =
    let r = i32.i64 (x / 2)
    let enter = linked e (if x % 2 == 0 then 2 * next_cut e r else 2 * r + 1)
    in if enter & 1 == 1 then enter - 1 else 2 * previous_cut e (enter >> 1) + 1
  in tabulate (m * 2) follow

-- | Return chosen exchanges, and a cut of its exchange for each. **Work:** O(c + m log c). **Span:** O(log (c + m)).
#[noinline]
def select_named [c] [m] (e: exchanges [c] [m]) (names: [m]i32) (chosen: [c]bool) : ?[d][l].(exchanges [d] [l], [l]i32) =
  let add (a: i64, b: i64) (x, y) = (a + x, b + y)
  let one (f: bool) (size: i32) = (i64.bool f, if f then i64.i32 size else 0)
  let (upto, ends) = unzip (scan add (0, 0) (map2 one chosen e.size))
  let (d, l) = (total_of upto, numbered (total_of ends))
  let off (o: i32) = i32.i64 (get ends o) - get e.size o
  let cut (x: i64) =
    let o = row_of ends x
    let by = get e.off o - off o
    let r = i32.i64 x + by
    in (get e.cut r, i32.i64 (get upto o) - 1, (linked e (2 * r) - 2 * by, linked e (2 * r + 1) - 2 * by), get names r - by)
  let one_of (x: i64) =
    let o = row_of upto x
    in (get e.row o, off o, get e.size o, get e.gain o)
  let (cut, own, link, names) = unzip4 (map cut (iota l))
  let (row, off, size, gain) = unzip4 (map one_of (iota d))
  in ({row, off, size, gain, cut, own, link}, names)

-- | Return the chosen exchanges, in their order. **Work, Span:** those of `select_named`.
def select [c] [m] (e: exchanges [c] [m]) (chosen: [c]bool) : ?[d][l].exchanges [d] [l] =
  (select_named e e.own chosen).0

-- | Return exchanges and others behind them. **Work:** O(c + m). **Span:** O(1).
#[inline]
def both [c] [m] [d] [l] (e: exchanges [c] [m]) (f: exchanges [d] [l]) : exchanges [c + d] [m + l] =
  let (cuts, count) = (i32.i64 (numbered (m + l) - l), i32.i64 c)
  in { row = e.row ++ f.row
     , off = e.off ++ map (+ cuts) f.off
     , size = e.size ++ f.size
     , gain = e.gain ++ f.gain
     , cut = e.cut ++ f.cut
     , own = e.own ++ map (+ count) f.own
     , link = e.link ++ map (\(x, y) -> (x + 2 * cuts, y + 2 * cuts)) f.link
     }

-- | An edge of a city in exchanges of m cuts. `claim` numbers it: a link by its lower end, else 2 m and the segment
-- `seg`, which is -1 for a link and has its cut behind position `pos`. `near` is the end at the city, `far` the other
-- one: of all ends for a link, else 0 or 1. `to` is the other city's position.
type edge = {claim: i64, seg: i32, pos: i32, near: i32, far: i32, to: i32}

-- | Return the edge of the city at position q of segment r: behind it for side 0, before it for side 1. **Work:** O(1).
def edge_at [c] [m] (rows: rows) (e: exchanges [c] [m]) (r: i32) (q: i32) (side: i32) : edge =
  let step = 1 - 2 * side
  -- The end at the border of the segment on that side, and its position.
  let near = if side == 0 then 2 * next_cut e r else 2 * r + 1
  let far = linked e near
  let is_link = position_of rows e near == q
  let inner = {claim = 2 * m + i64.i32 r, seg = r, pos = stepped rows q (-side), near = side, far = 1 - side, to = stepped rows q step}
  let link = {claim = i64.i32 (i32.min near far), seg = -1, pos = 0, near, far, to = position_of rows e far}
  in if is_link then link else inner

-- | Return each segment's subtour of up to `most` cuts, by its first. **Work:** O(m log most). **Span:** O(log most).
#[noinline]
def subtours [c] [m] (most: i64) (e: exchanges [c] [m]) : [m]i32 =
  let least = least_of_orbits (log4_up most) (walks e)
  in #[unsafe] tabulate m (\r -> i32.min least[2 * r] least[2 * r + 1] >> 1)

-- | Return how many subtours each exchange leaves. **Work:** O(c + m). **Span:** O(log m).
def count_subtours [c] [m] (e: exchanges [c] [m]) (subtour: [m]i32) : [c]i32 =
  let owners = map3 (\o r s -> if i64.i32 s == r then i64.i32 o else -1) e.own (iota m) subtour
  in sums c owners (replicate m 1i32)

-- | Return the number of cities of each subtour, at the segment that names it. **Work:** O(m). **Span:** O(log m).
def subtour_sizes [c] [m] (rows: rows) (e: exchanges [c] [m]) (subtour: [m]i32) : [m]i32 =
  sums m (map i64.i32 subtour) (map (\r -> segment_size rows e (i32.i64 r)) (iota m))

-- | A subtour's rank in its exchange: by its cities, then by the segment that names it. **Work:** O(1).
def rank_of [m] (sizes: [m]i32) (subtour: i32) : i64 =
  (i64.i32 (get sizes subtour) << 32) | i64.i32 subtour

-- | Return the rank of the largest subtour of each exchange. **Work:** O(c + m). **Span:** O(log m).
def largest_subtours [c] [m] (e: exchanges [c] [m]) (subtour: [m]i32) (sizes: [m]i32) : [c]i64 =
  map (i64.max (-1)) (largest_of c (map i64.i32 e.own) (map (rank_of sizes) subtour))

-- | Return the subtour of a rank. **Work:** O(1).
def subtour_of (rank: i64) : i32 = i32.i64 (rank & 0x7fffffff)
