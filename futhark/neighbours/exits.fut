-- | The nearest cities in other clusters, by a tree of boxes around cities that stand in order of a curve.

import "../core/instances"
import "nearest"

-- | A number in the order of the lengths by a norm: 1, 2, for which it is the square, or 0 for the largest coordinate.
#[inline]
def length_by (norm: i32) (dx: f64) (dy: f64) (dz: f64) : f64 =
  if norm == 2
  then dx * dx + dy * dy + dz * dz
  else if norm == 1
  then f64.abs dx + f64.abs dy + f64.abs dz
  else f64.max (f64.abs dx) (f64.max (f64.abs dy) (f64.abs dz))

-- | The cluster of all cities below each node of a tree, -1 where there are several. **Work:** O(n). **Span:** O(log n).
def clusters_below [n] (m: i64) (clusters: [n]i32) : [m]i32 =
  let of_leaf (l: i64): i32 =
    if l < 0
    then -1
    else #[unsafe]
         loop cluster = clusters[l * leaf]
         for i < i64.min leaf (n - l * leaf) do
           if clusters[l * leaf + i] == cluster then cluster else -1
  in of_nodes m (\a b -> if a == b then a else -1) of_leaf

-- | The nearest city of each of the `count` nearest other clusters of city c: its number, by which equals are in order,
-- or -1. **Work:** about O(count + log n) where clusters lie apart.
def outside [n] [m] (boxed: boxed [n] [m]) (below: [m]i32) (clusters: [n]i32) (numbers: [n]i32) (norm: i32) (count: i64) (c: i64) : [count]i32 =
  #[unsafe]
  let {xs, ys, zs, boxes} = boxed
  let (x, y, z, own) = (xs[c], ys[c], zs[c], clusters[c])
  -- The place of a cluster among those that were found, or behind them.
  let place (ls: [count + 1]i32) (cluster: i32): i64 = loop p = 0 while p < count && ls[p] != cluster do p + 1
  let look (ds: *[count + 1]f64) (cs: *[count + 1]i32) (ls: *[count + 1]i32) (l: i64): (*[count + 1]f64, *[count + 1]i32, *[count + 1]i32) =
    loop (ds: *[count + 1]f64, cs: *[count + 1]i32, ls: *[count + 1]i32) = (ds, cs, ls)
    for i < (if l < 0 then 0 else i64.min leaf (n - l * leaf)) do
      let other = l * leaf + i
      let (cluster, number) = (clusters[other], numbers[other])
      let d = length_by norm (x - xs[other]) (y - ys[other]) (z - zs[other])
      let found = place ls cluster
      let is_before p = d < ds[p] || (d == ds[p] && number < cs[p])
      -- What was found of the same cluster gives way; what is no nearer ends behind the list.
      let from = if cluster == own || (found < count && !(is_before found)) then count else found
      let p = loop p = from while cluster != own && from == found && p > 0 && is_before (p - 1) do p - 1
      let (ds, cs, ls) =
        loop (ds: *[count + 1]f64, cs: *[count + 1]i32, ls: *[count + 1]i32) = (ds, cs, ls)
        for j < from - p do
          let (to, at) = (from - j, from - j - 1)
          let (d, number, cluster) = (ds[at], cs[at], ls[at])
          in (ds with [to] = d, cs with [to] = number, ls with [to] = cluster)
      in (ds with [p] = d, cs with [p] = number, ls with [p] = cluster)
  let visit ((ds, cs, ls): *([count + 1]f64, [count + 1]i32, [count + 1]i32)) (node: i64) (l: i64): (*([count + 1]f64, [count + 1]i32, [count + 1]i32), bool) =
    let away low high v = f64.max 0 (f64.max (boxes[node, low] - v) (v - boxes[node, high]))
    let d = length_by norm (away 0 1 x) (away 2 3 y) (away 4 5 z)
    let found = place ls below[node]
    let is_known = below[node] == own || (below[node] >= 0 && found < count && ds[found] < d)
    let is_near = !is_known && d <= ds[count - 1]
    let (ds, cs, ls) = look ds cs ls (if is_near then l else -1)
    in ((ds, cs, ls), is_near)
  let (_, cs, _) = walk boxed true c (replicate (count + 1) f64.inf, replicate (count + 1) (-1), replicate (count + 1) (-1)) visit
  in take count cs

-- | `outside` of each of some cities.
def outside_of_each [n] [m] [q] (boxed: boxed [n] [m]) (clusters: [n]i32) (numbers: [n]i32) (norm: i32) (count: i64) (cities: [q]i32) : [q][count]i32 =
  let cities = assert (count >= 1 && are_cities n cities) cities
  let below = clusters_below m clusters
  in map (\c -> outside boxed below clusters numbers norm count (i64.i32 c)) cities
