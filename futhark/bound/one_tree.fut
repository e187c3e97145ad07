-- | Minimum spanning trees and 1-trees of a graph under penalties, and the ascent that raises them (Held, Karp 1971).
-- Edges of equal cost are in order of their smaller, then their larger city, so that there is one tree.

import "near_graph"

-- | A minimum spanning tree, or one of each part of a graph: its cost, its edges at each city, and the number of parts.
type spanning [n] = {total: i64, degrees: [n]i32, parts: i64}

-- | A way to a minimum spanning tree.
module type spanner = {
  val span [n] [e] : near_graph [n] [e] -> (penalties: [n]i64) -> spanning [n]
}

-- | The parts that Borůvka's rounds join. Nodes are the cities, then the parts of each round: `up` is the part that a
-- node goes into, or -1; `cost` that of the shortest edge that leaves it; `edge` its place in the graph, -1 where
-- another part has brought it in. Two cities' most costly edge is on their ways up to where they meet (King 1997).
type merges [n] = {up: [2 * n]i32, cost: [2 * n]i64, edge: [2 * n]i32, parts: i64}

local
-- | Parts that each name another one, or themselves, as those at the ends of these ways.
def jumped [c] (to: [c]i32) : [c]i32 =
  let (to, _) =
    loop (to, on) = (to, true)
    while on do
      let next = map (\p -> #[unsafe] to[i64.i32 p]) to
      in (next, or (map2 (!=) to next))
  in to

-- | The numbers of what parts become that each join another one, or stay; and how many those are.
def merged [c] (hooks: [c]i32) : ([c]i32, i64) =
  #[unsafe]
  let roots = jumped hooks
  let ranks = scan (+) 0 (map2 (\p r -> i32.bool (i32.i64 p == r)) (iota c) roots)
  in (map (\r -> ranks[i64.i32 r] - 1) roots, i64.i32 ranks[c - 1])

-- | The part that each part joins by the edge that it names, itself or another part's: of two that name each other the smaller
-- one stays. `other` tells the part at the other end of a part's edge.
def hooks_of [c] 'e (edges: [c]e) (are_same: e -> e -> bool) (other: i64 -> i32) : [c]i32 =
  let hook (p: i64): i32 =
    #[unsafe]
    let q = other p
    in if are_same edges[i64.i32 q] edges[p] && i32.i64 p < q then i32.i64 p else q
  in map hook (iota c)

-- | The city in whose row each entry stands. **Work:** O(n + e).
def cities_of [n] [e] (g: near_graph [n] [e]) : [e]i32 =
  #[unsafe]
  let numbers = map i32.i64 (iota n)
  let starts = map (row_start g.ends) numbers
  let places = map2 (\start end -> if start < end then i64.i32 start else -1) starts g.ends
  in scan i32.max 0 (scatter (replicate e 0i32) places numbers)

-- | The rounds of Borůvka (1926). **Work:** O((n + e) log n). **Span:** O(log^2 n).
def merge [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) : merges [n] =
  #[unsafe]
  let cities = cities_of g
  -- Each edge once, from its smaller city, in their order.
  let live = filter (\i -> cities[i] < g.others[i]) (iota e)
  let up = replicate (2 * n) (-1i32)
  let cost = replicate (2 * n) i64.highest
  let edge = replicate (2 * n) (-1i32)
  let from = map (\i -> cities[i]) live
  let to = map (\i -> g.others[i]) live
  let costs = map3 (\i a b -> g.lengths[i] + penalties[i64.i32 a] + penalties[i64.i32 b]) live from to
  let (up, cost, edge, _, parts, _, _, _, _) =
    loop (up: *[2 * n]i32, cost: *[2 * n]i64, edge: *[2 * n]i32, base, parts, from, to, costs, live) =
           (up, cost, edge, 0i64, n, from, to, costs, map i32.i64 live)
    while length live > 0 do
      let l = length live
      let (from, to, costs, live) = (from :> [l]i32, to :> [l]i32, costs :> [l]i64, live :> [l]i32)
      -- The shortest edge that leaves each part: its cost, then its number.
      let (a, b) = (map i64.i32 from, map i64.i32 to)
      let least = reduce_by_index (replicate parts i64.highest) i64.min i64.highest a costs
      let least = reduce_by_index least i64.min i64.highest b costs
      let numbers = map i32.i64 (iota l)
      let at ends = map2 (\p x -> if x == least[p] then p else -1) ends costs
      let first = reduce_by_index (replicate parts i32.highest) i32.min i32.highest (at a) numbers
      let first = reduce_by_index first i32.min i32.highest (at b) numbers
      let other p =
        let f = first[p]
        in if f == i32.highest
           then i32.i64 p
           else let (x, y) = (from[i64.i32 f], to[i64.i32 f])
                in if i64.i32 x == p then y else x
      let hooks = hooks_of first (==) other
      let (next, parts') = merged hooks
      let nodes = map (\p -> base + p) (iota parts)
      let brought p = if hooks[p] == i32.i64 p then -1 else live[i64.i32 first[p]]
      let up = scatter up nodes (map (\r -> i32.i64 (base + parts) + r) next)
      let cost = scatter cost nodes least
      let edge = scatter edge nodes (map brought (iota parts))
      let from' = map (\p -> next[i64.i32 p]) from
      let to' = map (\p -> next[i64.i32 p]) to
      let (from, to, costs, live) = unzip4 (filter (\(p, q, _, _) -> p != q) (zip4 from' to' costs live))
      in (up, cost, edge, base + parts, parts', from, to, costs, live)
  in {up, cost, edge, parts}

-- | The number of edges of Borůvka's tree at each city. **Work:** O(n log n).
def degrees_of [n] [e] (g: near_graph [n] [e]) (joined: merges [n]) : [n]i32 =
  #[unsafe]
  let ones = replicate (2 * n) 1i32
  let lows = map (\i -> if i < 0 then -1 else row_of g.ends i) joined.edge
  let highs = map (\i -> if i < 0 then -1 else i64.i32 g.others[i64.i32 i]) joined.edge
  let degrees = reduce_by_index (replicate n 0i32) (+) 0 lows ones
  in reduce_by_index degrees (+) 0 highs ones

-- | Borůvka's tree.
module boruvka : spanner = {
  def span [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) : spanning [n] =
    let joined = merge g penalties
    let total = i64.sum (map2 (\x i -> if i < 0 then 0 else x) joined.cost joined.edge)
    in {total, degrees = degrees_of g joined, parts = joined.parts}
}

-- | Prim's tree, by one thread, with a heap. **Work, Span:** O(e + n log n) where few cities come nearer twice.
module prim : spanner = {
  def span [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) : spanning [n] =
    #[unsafe]
    -- A city is unseen, or waits at a place of the heap, or is in the tree.
    let (unseen, joined) = (-1i32, -2i32)
    let is_before (x: i64) (c: i32) (p: i32) (y: i64) (d: i32) (q: i32) = if x == y then is_edge_before c p d q else x < y
    let (_, _, _, _, degrees, total, parts, _, _) =
      loop (keys: *[n]i64, parents: *[n]i32, places: *[n]i32, heap: *[n]i32, degrees: *[n]i32, total, parts, size, next) =
             (replicate n 0i64, replicate n 0i32, replicate n unseen, replicate n 0i32, replicate n 0i32, 0i64, 0i64, 0i32, 0i32)
      for _step < n do
        -- The next city of the heap; where that is empty, the first one that is not in a tree begins another part.
        let is_new = size == 0
        let next = loop next while is_new && places[i64.i32 next] == joined do next + 1
        let c = if is_new then next else heap[0]
        let parent = parents[i64.i32 c]
        let total = if is_new then total else total + keys[i64.i32 c]
        let degrees =
          if is_new
          then degrees
          else let degrees = degrees with [i64.i32 c] = degrees[i64.i32 c] + 1
               in degrees with [i64.i32 parent] = degrees[i64.i32 parent] + 1
        let places = places with [i64.i32 c] = joined
        -- The last one of the heap sinks from its top.
        let size = if is_new then size else size - 1
        let sinking = if is_new then 0 else heap[i64.i32 size]
        let (places, heap, hole, _) =
          let (x, p) = (keys[i64.i32 sinking], parents[i64.i32 sinking])
          in loop (places, heap, hole, on) = (places, heap, 0i32, !is_new && size > 0)
             while on && 2 * hole + 1 < size do
               let left = 2 * hole + 1
               let right = i32.min (left + 1) (size - 1)
               let (a, b) = (heap[i64.i32 left], heap[i64.i32 right])
               let (xa, xb) = (keys[i64.i32 a], keys[i64.i32 b])
               let is_right = is_before xb b parents[i64.i32 b] xa a parents[i64.i32 a]
               let (at, d, y) = if is_right then (right, b, xb) else (left, a, xa)
               in if is_before y d parents[i64.i32 d] x sinking p
                  then (places with [i64.i32 d] = hole, heap with [i64.i32 hole] = d, at, true)
                  else (places, heap, hole, false)
        let (places, heap) =
          if size > 0 && !is_new
          then (places with [i64.i32 sinking] = hole, heap with [i64.i32 hole] = sinking)
          else (places, heap)
        -- Its neighbours come nearer.
        let own = penalties[i64.i32 c]
        let end = g.ends[i64.i32 c]
        let (keys, parents, places, heap, size, _) =
          loop (keys, parents, places, heap, size, i) = (keys, parents, places, heap, size, row_start g.ends c)
          while i < end do
            let d = g.others[i64.i32 i]
            let place = places[i64.i32 d]
            let x = g.lengths[i64.i32 i] + own + penalties[i64.i32 d]
            let is_nearer = place != joined && (place == unseen || is_before x d c keys[i64.i32 d] d parents[i64.i32 d])
            in if !is_nearer
               then (keys, parents, places, heap, size, i + 1)
               else let keys = keys with [i64.i32 d] = x
                    let parents = parents with [i64.i32 d] = c
                    let (start, size) = if place == unseen then (size, size + 1) else (place, size)
                    let (places, heap, hole, _) =
                      loop (places, heap, hole, on) = (places, heap, start, true)
                      while on && hole > 0 do
                        let above = (hole - 1) / 2
                        let b = heap[i64.i32 above]
                        in if is_before x d c keys[i64.i32 b] b parents[i64.i32 b]
                           then (places with [i64.i32 b] = hole, heap with [i64.i32 hole] = b, above, true)
                           else (places, heap, hole, false)
                    let places = places with [i64.i32 d] = hole
                    let heap = heap with [i64.i32 hole] = d
                    in (keys, parents, places, heap, size, i + 1)
        in (keys, parents, places, heap, degrees, total, parts + i64.bool is_new, size, next)
    in {total, degrees, parts}
}

-- | The further edge of a 1-tree: the longest second edge of a leaf. Its cost, the leaf, the smallest among equals, and
-- the other end; `i64.lowest` where there is none.
def further_edge [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) (degrees: [n]i32) : (i64, i32, i32) =
  let second (c: i64): (i64, i32, i32) =
    let none = (i64.lowest, i32.highest, -1)
    in if #[unsafe] degrees[c] != 1
       then none
       else let (_, (cost, other)) = two_shortest g penalties (i32.i64 c)
            in if other < 0 then none else (cost, i32.i64 c, other)
  let longer (a: (i64, i32, i32)) (b: (i64, i32, i32)) = if a.0 > b.0 || (a.0 == b.0 && a.1 < b.1) then a else b
  in reduce_comm longer (i64.lowest, i32.highest, -1) (map second (iota n))

-- | The state of an ascent at a city: its penalty, the degree less 2 in the tree before, and its penalty among the best so far.
type city_ascent = {penalty: i64, before: i32, best: i64}

-- | The state of an ascent, with the bound of the best penalties; whether it is done, since its 1-tree was a tour.
type ascent [n] = {cities: [n]city_ascent, bound: i64, done: bool}

-- | Steps are told in such parts of a unit of length.
def step_parts : i64 = 64

-- | Steps, penalties and degrees are cut off here, so that no product or sum leaves 64 bits.
def most_step : i64 = 1 << 38

def most_penalty : i64 = 1 << 44
def most_excess : i32 = 1 << 20

def are_penalties [n] (penalties: [n]i64) : bool = all (\p -> p >= -most_penalty && p <= most_penalty) penalties
def lawful [n] (penalties: [n]i64) : [n]i64 = assert (are_penalties penalties) penalties

def given_ascent [n] (penalties: [n]i64) : *ascent [n] =
  let penalties = lawful penalties
  in {cities = map2 (\penalty best -> {penalty, before = 0, best}) penalties (copy penalties), bound = i64.lowest, done = false}

def are_steps [t] (steps: [t]i64) : bool = all (\s -> s >= 0 && s <= most_step) steps

-- | Subgradient ascent: penalties change by 0.7 of the step an edge above two now, 0.3 before (Helsgaun 2000).
module mk_ascent (S: spanner) = {
  -- | The 1-tree of a graph under penalties: its cost without them, a lower bound where the graph has all edges; the edges of
  -- each city; and the number of parts of the graph. **Work:** that of a spanning tree, and O(e).
  def one_tree [n] [e] (g: near_graph [n] [e]) (penalties: [n]i64) : (i64, [n]i32, i64) =
    let {total, degrees, parts} = S.span g penalties
    let (cost, leaf, other) = further_edge g penalties degrees
    let bound = total - 2 * i64.sum penalties + (if other < 0 then 0 else cost)
    in (bound, map2 (\c d -> d + i32.bool (i32.i64 c == leaf || i32.i64 c == other)) (iota n) degrees, parts)

  -- | Make one step per number, in the memory of the given state. **Work:** that of a 1-tree per step.
  def ascend [n] [e] [t] (g: near_graph [n] [e]) (ascent: *ascent [n]) (steps: [t]i64) : *ascent [n] =
    let steps = assert (are_steps steps) steps
    let (found, _) =
      loop (a: *ascent [n], i) = (ascent, 0i64)
      while i < t && !a.done do
        let step = #[unsafe] steps[i]
        let (bound, degrees, _) = one_tree g (map (.penalty) a.cities)
        let is_better = bound > a.bound
        let change v w = (step * (7 * i64.i32 v + 3 * i64.i32 w) + 5 * step_parts) / (10 * step_parts)
        let moved (c: city_ascent) degree =
          let v = i32.min (degree - 2) most_excess
          in { penalty = i64.max (-most_penalty) (i64.min most_penalty (c.penalty + change v c.before))
             , before = v
             , best = if is_better then c.penalty else c.best
             }
        let (bound, done) = (i64.max bound a.bound, all (== 2) degrees)
        in ({cities = scatter a.cities (iota n) (map2 moved a.cities degrees), bound, done}, i + 1)
    in found
}
