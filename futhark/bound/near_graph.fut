-- | A graph of near cities, its edges in rows: each city's edges stand together, so that each edge stands in two rows.

import "../core/instances"

-- | The row of city c ends before entry `ends[c]`. An entry is the other end of an edge and its length. Rows are in
-- order of these cities, each once; an edge is in the rows of both ends.
type near_graph [n] [e] = {ends: [n]i32, others: [e]i32, lengths: [e]i64}

-- | The rows alone.
type near_rows [n] [e] = {ends: [n]i32, others: [e]i32}

-- | The beginning of a city's row.
#[inline]
def row_start [n] (ends: [n]i32) (c: i32) : i32 =
  #[unsafe] if c == 0 then 0 else ends[i64.i32 c - 1]

-- | The city in whose row an entry stands. **Work:** O(log n).
def row_of [n] (ends: [n]i32) (i: i32) : i64 =
  let (low, _) =
    loop (low, high) = (0i64, n)
    while low < high do
      let middle = (low + high) / 2
      in if #[unsafe] ends[middle] <= i then (middle + 1, high) else (low, middle)
  in low

def are_rows [n] (ends: [n]i32) (entries: i64) : bool =
  let in_order = and (map (\c -> ends[c] >= (if c == 0 then 0 else ends[c - 1])) (iota n))
  in in_order && i64.i32 ends[n - 1] == entries

-- | Given rows. **Work:** O(n + e).
def load_near_rows [n] [e] (ends: [n]i32) (others: [e]i32) : near_rows [n] [e] =
  assert (fits_32_bits n && are_rows ends e && are_cities n others) {ends, others}

-- | A graph of given rows. **Work:** O(n + e).
def load_near_graph [n] [e] (ends: [n]i32) (others: [e]i32) (lengths: [e]i64) : near_graph [n] [e] =
  let {ends, others} = load_near_rows ends others
  in {ends, others, lengths}

-- | Tell whether the edge of cities a and b comes before that of c and d, of the same cost: by the smaller cities, then by the larger.
def is_edge_before (a: i32) (b: i32) (c: i32) (d: i32) : bool =
  let (low, low') = (i32.min a b, i32.min c d)
  in low < low' || (low == low' && i32.max a b < i32.max c d)

-- | The two shortest edges of a city under penalties, by costs and other ends, the smaller city first; the highest
-- number where there is none. **Work:** O(entries of its row), of which `length` tells the edges' lengths.
def two_shortest_by [n] [e] (g: near_rows [n] [e]) (length: i32 -> i64) (penalties: [n]i64) (c: i32) : ((i64, i32), (i64, i32)) =
  #[unsafe]
  let end = g.ends[i64.i32 c]
  let own = penalties[i64.i32 c]
  let (one, two, _) =
    loop (one, two, i) = ((i64.highest, -1), (i64.highest, -1), row_start g.ends c)
    while i < end do
      let other = g.others[i64.i32 i]
      let cost = length i + own + penalties[i64.i32 other]
      in if cost < one.0
         then ((cost, other), one, i + 1)
         else (one, if cost < two.0 then (cost, other) else two, i + 1)
  in (one, two)

-- | The same, of a graph with lengths.
def two_shortest [n] [e] ({ends, others, lengths}: near_graph [n] [e]) = two_shortest_by {ends, others} (\i -> #[unsafe] lengths[i64.i32 i])
