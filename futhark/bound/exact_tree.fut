-- | The minimum spanning tree of all pairs of cities in the plane under penalties, by Borůvka's rounds: each city looks
-- for its cheapest edge into another part, in a tree of boxes with the least penalties (Bentley, Friedman 1978).

import "../core/instances"
import "../neighbours/nearest"
import "near_graph"
import "one_tree"

-- | An edge's length by its ends' distance, at most `most`: rounded (0) or up (1), then scaled; scaled, then down (2).
type ruler = {rounding: i32, scale: i64, most: f64}

def is_ruler ({rounding, scale, most}: ruler) = rounding >= 0 && rounding <= 2 && scale >= 1 && most >= 0

-- | It grows with r. So do differences, squares, sums and roots as they are rounded: what is in a box is not nearer than the box.
#[inline]
def measure ({rounding, scale, most}: ruler) (dx: f64) (dy: f64) : i64 =
  let r = f64.sqrt (dx * dx + dy * dy)
  in if rounding == 2
     then i64.f64 (f64.floor (f64.min r most * f64.i64 scale))
     else scale * i64.f64 (f64.min most (if rounding == 0 then f64.floor (r + 0.5) else f64.ceil r))

-- | The length of the edge of entry i, which stands in the row of city c.
#[inline]
def length_of [n] [m] [e] (b: boxed [n] [m]) (ruler: ruler) (others: [e]i32) (c: i64) (i: i32) : i64 =
  #[unsafe]
  let o = i64.i32 others[i64.i32 i]
  in measure ruler (b.xs[c] - b.xs[o]) (b.ys[c] - b.ys[o])

-- | The graph of rows of cities that stand in the order of their boxes. **Work:** O(e log n).
def near_graph_between [n] [m] [e] (b: boxed [n] [m]) (rounding: i32) (scale: i64) (most: f64) ({ends, others}: near_rows [n] [e]) : near_graph [n] [e] =
  let ruler = {rounding, scale, most}
  let ruler = assert (is_ruler ruler) ruler
  let length i = length_of b ruler others (row_of ends i) i
  in {ends, others, lengths = map (\i -> length (i32.i64 i)) (iota e)}

-- | A city at the other end of an edge, and the edge's cost; -1 where only a bound on the cost is known.
type found_edge = (i64, i32)

local
-- | The cheapest edge of city c to another label, and with `two` the second one, within the bounds. Nodes have the
-- least penalty of their cities, and their label, or -1 where there are several.
def search [n] [m]
           (b: boxed [n] [m])
           (ruler: ruler)
           (penalties: [n]i64)
           (lows: [m]i64)
           (homes: [m]i32)
           (labels: [n]i32)
           (two: bool)
           (bounds: (i64, i64))
           (c: i64) : (found_edge, found_edge) =
  #[unsafe]
  let (x, y) = (b.xs[c], b.ys[c])
  let (own, label) = (penalties[c], labels[c])
  let is_before (cost: i64) (other: i32) ((cost', other'): found_edge) = cost < cost' || (cost == cost' && (other' < 0 || is_edge_before (i32.i64 c) other (i32.i64 c) other'))
  let look (one: found_edge) (next: found_edge) (l: i64) =
    loop (one, next) = (one, next)
    for i < i64.min leaf (n - l * leaf) do
      let o = l * leaf + i
      let cost = measure ruler (x - b.xs[o]) (y - b.ys[o]) + own + penalties[o]
      in if labels[o] == label
         then (one, next)
         else if is_before cost (i32.i64 o) one
         then ((cost, i32.i64 o), if one.1 < 0 then next else one)
         else (one, if two && is_before cost (i32.i64 o) next then (cost, i32.i64 o) else next)
  let least (node: i64): i64 =
    let dx = f64.max 0 (f64.max (b.boxes[node, 0] - x) (x - b.boxes[node, 1]))
    let dy = f64.max 0 (f64.max (b.boxes[node, 2] - y) (y - b.boxes[node, 3]))
    in measure ruler dx dy + own + lows[node]
  let visit ((one, next): (found_edge, found_edge)) (node: i64) (l: i64): ((found_edge, found_edge), bool) =
    let is_near = homes[node] != label && least node <= (if two then next.0 else one.0)
    in (if is_near && l >= 0 then look one next l else (one, next), is_near)
  let known: (found_edge, found_edge) = ((bounds.0, -1), (bounds.1, -1))
  in walk b false c known visit

-- | The tree of n ≥ 3 cities in order of a curve: its cost, the highest cost of a city's second edge, and its n - 1
-- edges, with -1 behind. Rows say where to begin. **Work:** about O((n + e) log n) where penalties are small.
def exact_tree [n] [m] [e]
               (b: boxed [n] [m])
               (rounding: i32)
               (scale: i64)
               (most: f64)
               (g: near_rows [n] [e])
               (penalties: [n]i64) : (i64, i64, [n]i32, [n]i32) =
  let ruler = {rounding, scale, most}
  let ruler = assert (n >= 3 && is_ruler ruler) ruler
  let penalties = lawful penalties
  in #[unsafe]
     let in_leaf 'a (both: a -> a -> a) (of_city: i64 -> a) (l: i64): a =
       let first = i64.max 0 l * leaf
       in loop a = of_city (i64.min (n - 1) first) for i < i64.min (leaf - 1) (n - 1 - first) do both a (of_city (first + 1 + i))
     let lows = of_nodes m i64.min (in_leaf i64.min (\c -> penalties[c]))
     let homes_of (labels: [n]i32) =
       let same (a: i32) (b: i32) = if a == b then a else -1
       in of_nodes m same (in_leaf same (\c -> labels[c]))
     let cities = map i32.i64 (iota n)
     let second (c: i64): i64 =
       let ((one, _), (two, _)) = two_shortest_by g (length_of b ruler g.others c) penalties (i32.i64 c)
       in (search b ruler penalties lows (replicate m (-1)) cities true (one, two) c).1.0
     let seconds = #[incremental_flattening(only_inner)] map second (iota n)
     let none = replicate n (-1i32)
     let (total, ends, _, _, _) =
       loop (total, (from, to), made, labels, parts) = (0i64, (none, copy none), 0i64, cities, n)
       while parts > 1 do
         let homes = homes_of labels
         -- What an edge of the graph costs a part.
         let leaving (c: i64): i64 =
           let (least, _) =
             loop (least, i) = (i64.highest, row_start g.ends (i32.i64 c))
             while i < g.ends[c] do
               let o = i64.i32 g.others[i64.i32 i]
               let is_within = labels[o] == labels[c]
               in (if is_within then least else i64.min least (length_of b ruler g.others c i + penalties[c] + penalties[o]), i + 1)
           in least
         let at = map i64.i32 labels
         let known = reduce_by_index (replicate parts i64.highest) i64.min i64.highest at (#[incremental_flattening(only_inner)] map leaving (iota n))
         let cheapest (c: i64): found_edge =
           let ((cost, o), _) = search b ruler penalties lows homes labels false (known[i64.i32 labels[c]], i64.highest) c
           in (if o < 0 then i64.highest else cost, o)
         let (costs, others) = unzip (#[incremental_flattening(only_inner)] map cheapest (iota n))
         let least = reduce_by_index (replicate parts i64.highest) i64.min i64.highest at costs
         let key (c: i64): i64 =
           let o = i64.i32 others[c]
           in if o >= 0 && costs[c] == least[at[c]] then i64.min c o << 32 | i64.max c o else i64.highest
         let edges = reduce_by_index (replicate parts i64.highest) i64.min i64.highest at (map key (iota n))
         let other (p: i64): i32 =
           let a = labels[edges[p] >> 32]
           in if i64.i32 a == p then labels[edges[p] & 0xffffffff] else a
         let hooks = hooks_of edges (==) other
         let (next, parts') = merged hooks
         -- Parts that go into another one bring an edge each. Of many cities `filter` has no memory for its numbers of 64 bits.
         let brings (p: i64) = i64.i32 hooks[p] != p
         let counts = scan (+) 0 (map (\p -> i32.bool (brings p)) (iota parts))
         let places = map (\p -> if brings p then made + i64.i32 counts[p] - 1 else -1) (iota parts)
         let total = total + i64.sum (map (\p -> if brings p then least[p] else 0) (iota parts))
         let from = scatter from places (map (\edge -> i32.i64 (edge >> 32)) edges)
         let to = scatter to places (map (\edge -> i32.i64 (edge & 0xffffffff)) edges)
         in (total, (from, to), made + i64.i32 counts[parts - 1], map (\p -> next[p]) at, parts')
     in (total, i64.maximum seconds, ends.0, ends.1)
