-- | AB-cycles near exchanges: those with a cut in a small subtour, each once for an exchange.

import "../core/packed"
import "cycles"
import "exchange"
import "rows"
import "segments"
import "subtours"

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
  let (low, high) = (if base == 0 then 0 else d.upto[base - 1], upto (start + size - 1))
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
-- most `most` cuts in all. They are in order of exchanges, segments and edges. **Work:** O(x l log m) for x edges that
-- differ. **Span:** O(l log m).
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
