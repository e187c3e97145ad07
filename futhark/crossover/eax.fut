-- | Edge assembly crossover: a tour takes over a cycle of edges from another one, alternately losing its own
-- (Nagata, Kobayashi: A Powerful Genetic Algorithm Using Edge Assembly Crossover for the Traveling Salesman Problem,
-- INFORMS Journal on Computing 25(2), 2013).
--
-- The edges that two tours A and B do not share fall apart into AB-cycles, in which edges of A and B alternate. A cycle
-- makes a child of A: its edges of A go, its edges of B come, and the subtours that arise are merged. This is the
-- strategy "single", where every cycle is a child and the shortest child is taken if it is shorter than A.

import "../core/metric"
import "../core/rng"
import "../local_search/route"
import "edge_exchange"

-- | The longest AB-cycle that makes a child, in edges of A.
def most_cycle : i32 = 150

-- | A tour, and the position of each city on it.
type placed [n] = ([n]i32, [n]i32)

-- The neighbour of a city by way 0 (next on A), 1 (previous on A), 2 (next on B), 3 (previous on B).
local
def neighbour [n] ((a, a_position): placed [n]) ((b, b_position): placed [n]) (c: i32) (way: i32) : i32 =
  #[unsafe]
  let at (tour: [n]i32) (p: i32) = tour[i64.i32 (wrap (i32.i64 n) p)]
  in if way < 2
     then at a (a_position[i64.i32 c] + 1 - 2 * way)
     else at b (b_position[i64.i32 c] + 5 - 2 * way)

-- Which ways of a city are left: bits of those that only one tour has.
local
def ways [n] (a: placed [n]) (b: placed [n]) (c: i32) : i8 =
  let to = neighbour a b c
  let (an, ap, bn, bp) = (to 0, to 1, to 2, to 3)
  in i8.bool (an != bn && an != bp)
     | (i8.bool (ap != bn && ap != bp) << 1)
     | (i8.bool (bn != an && bn != ap) << 2)
     | (i8.bool (bp != an && bp != ap) << 3)

-- | Where tours A and B differ: the ways of each city that are left, as bits; the cities that have any, in the order of A; and
-- how many these are. **Work:** O(n). **Span:** O(log n).
def difference [n] (a: placed [n]) (b: placed [n]) : ([n]i8, [n]i32, i32) =
  let left = map (\c -> ways a b (i32.i64 c)) (iota n)
  let differs = map (\c -> #[unsafe] i32.bool (left[i64.i32 c] != 0)) a.0
  let behind = scan (+) 0 differs
  let cities =
    scatter (replicate n 0) (map2 (\d k -> if d == 0 then -1 else i64.i32 k - 1) differs behind) a.0
  in (left, cities, if n == 0 then 0 else behind[n - 1])

module mk_eax (M: metric) = {
  module exchange = mk_exchange M

  -- The exchange of an AB-cycle's edges, before merging: cuts, links and gain. The cycle's first edge is one of A, and
  -- city `size` is city 0. **Work:** O(size).
  local
  def assemble [n] (data: M.data [n]) (a_position: [n]i32) (size: i32) (city: i32 -> i32) : (*[most_cuts]i32, *[2 * most_cuts]i32, i64) =
    #[unsafe]
    let dist (x: i32) (y: i32) = M.dist data (M.point data x) (M.point data y)
    let cuts: *[most_cuts]i32 = replicate most_cuts 0
    let ends: *[2 * most_cuts]i32 = replicate (2 * most_cuts) 0
    let (cuts, ends, gain) =
      loop (cuts, ends, gain) = (cuts, ends, 0)
      for h < size / 2 do
        let x = city (2 * h)
        let y = city (2 * h + 1)
        let (cut, behind) = cut_between a_position[i64.i32 x] a_position[i64.i32 y]
        let cuts = cuts with [i64.i32 h] = cut
        let ends = ends with [2 * i64.i32 h] = 2 * h + i32.bool behind
        let ends = ends with [2 * i64.i32 h + 1] = 2 * h + i32.bool (!behind)
        in (cuts, ends, gain + i64.i32 (dist x y - dist y (city (2 * h + 2))))
    let link: *[2 * most_cuts]i32 = replicate (2 * most_cuts) 0
    let link =
      loop link for h < size / 2 do
        let e = ends[2 * i64.i32 h + 1]
        let f = ends[2 * i64.i32 (if 2 * h + 2 == size then 0 else h + 1)]
        let link = link with [i64.i32 e] = f
        in link with [i64.i32 f] = e
    in (cuts, link, gain)

  -- The child with the larger gain, the first of two with equal ones. **Work:** O(m).
  local
  def larger ((m, cuts, link, gain): (i32, *[most_cuts]i32, *[2 * most_cuts]i32, i64))
             ((other_m, other_cuts, other_link, other_gain): (i32, [most_cuts]i32, [2 * most_cuts]i32, i64)) : (i32, *[most_cuts]i32, *[2 * most_cuts]i32, i64) =
    #[unsafe]
    let better = other_gain > gain
    let taken = if better then i64.i32 other_m else 0
    let cuts = loop cuts for h < taken do cuts with [h] = other_cuts[h]
    let link = loop link for h < 2 * taken do link with [h] = other_link[h]
    in (if better then other_m else m, cuts, link, i64.max gain other_gain)

  -- | The best child of A among the first `children` AB-cycles with B that save something before merging, the first among
  -- equals: its exchange and its gain, no exchange and 0 where none is shorter than A. To merge costs something nearly always:
  -- what saves no more before it, or on the way, than the best child so far is passed over.
  --
  -- A path goes along edges that are left, of A and B in turn, at random where there are two. Where it comes to a city
  -- that it has left by the same kind of edge before, the cycle in between is taken out; the path goes on from its rest.
  --
  -- `difference` tells where A and B differ.
  --
  -- **Work:** O(n), and that of the children. **Span:** the same.
  def cross [n] [k]
            (data: M.data [n])
            (lists: [n][k]i32)
            (key: rng.key)
            (children: i32)
            (a: placed [n])
            (b: placed [n])
            ((left, cities, count): ([n]i8, [n]i32, i32)) : (exchange, i64) =
    #[unsafe]
    let n32 = i32.i64 n
    let (a_tour, a_position) = a
    let left = copy left
    -- Where a city stands on the path, once for each tour that it is left by.
    let seen: *[2 * n]i32 = replicate (2 * n) (-1)
    let path: *[2 * n + 2]i32 = replicate (2 * n + 2) 0
    -- Paths begin at the cities that differ, on A from a random position on.
    let offset = rng.below key 0 n32
    let (before, _) =
      loop (low, high) = (0, count)
      while low < high do
        let middle = (low + high) / 2
        in if a_position[i64.i32 cities[i64.i32 middle]] < offset then (middle + 1, high) else (low, middle)
    let cuts: *[most_cuts]i32 = replicate most_cuts 0
    let link: *[2 * most_cuts]i32 = replicate (2 * most_cuts) 0
    let (_, _, _, _, _, _, _, m, cuts, link, gain) =
      loop (left, seen, path, j, start, step, tried, m, cuts, link, gain) =
             (left, seen, path, -1i32, 0i32, 1i64, 0i32, 0i32, cuts, link, 0i64)
      while start < count && tried < children do
        if j < 0
        then let c = cities[i64.i32 (wrap count (before + start))]
             in if left[i64.i32 c] == 0
                then (left, seen, path, j, start + 1, step, tried, m, cuts, link, gain)
                else let path = path with [0] = c
                     let seen = seen with [2 * i64.i32 c] = 0
                     in (left, seen, path, 0, start, step, tried, m, cuts, link, gain)
        else let u = path[i64.i32 j]
             let turn = j & 1
             let ways_left = (i32.i8 left[i64.i32 u] >> (2 * turn)) & 3
             in if ways_left == 0
                then -- Only where a path began: its city's edges are used up.
                     let seen = seen with [2 * i64.i32 u] = -1
                     in (left, seen, path, -1, start, step, tried, m, cuts, link, gain)
                else let way = if ways_left == 3 then i32.u64 (rng.word key step >> 63) else ways_left - 1
                     let v = neighbour a b u (2 * turn + way)
                     let u_way = 2 * turn + way
                     let v_way = 2 * turn + 1 - way
                     let left = left with [i64.i32 u] = left[i64.i32 u] & !(1i8 << i8.i32 u_way)
                     let left = left with [i64.i32 v] = left[i64.i32 v] & !(1i8 << i8.i32 v_way)
                     let place = 2 * i64.i32 v + i64.i32 (1 - turn)
                     let i = seen[place]
                     in if i < 0
                        then let path = path with [i64.i32 (j + 1)] = v
                             let seen = seen with [place] = j + 1
                             in (left, seen, path, j + 1, start, step + 1, tried, m, cuts, link, gain)
                        else -- path[i], …, path[j] is an AB-cycle.
                             let size = j + 1 - i
                             let (m, cuts, link, gain, tried) =
                               if size > 2 * most_cycle
                               then (m, cuts, link, gain, tried)
                               else let first = i + (i & 1)
                                    let city t =
                                      let p = first + (if t == size then 0 else t)
                                      in path[i64.i32 (if p > j then p - size else p)]
                                    let (c, l, g) = assemble data a_position size city
                                    let (m, cuts, link, gain) =
                                      if g <= gain
                                      then (m, cuts, link, gain)
                                      else let child = exchange.complete data lists a_tour a_position (size / 2) c l g gain
                                           in larger (m, cuts, link, gain) child
                                    in (m, cuts, link, gain, tried + i32.bool (g > 0))
                             let seen =
                               loop seen for t < size - 1 do
                                 let p = i + 1 + t
                                 in seen with [2 * i64.i32 path[i64.i32 p] + i64.i32 (p & 1)] = -1
                             in (left, seen, path, i, start, step + 1, tried, m, cuts, link, gain)
    in ({m, cuts, link}, gain)
}
