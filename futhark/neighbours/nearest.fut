-- | The nearest cities of cities along a space-filling curve, by a tree of boxes. With m leaves, nodes m, …, 2 m - 1
-- are the leaves, of consecutive cities, and node i < m has the cities of nodes 2 i and 2 i + 1. A city looks at its
-- own leaf, then up the tree beside its way, passing by far boxes.

import "../core/instances"

-- | Cities of space, or of the plane with z = 0, and the boxes around them: of node i the least and the largest x, then y and z.
type boxed [n] [m] = {xs: [n]f64, ys: [n]f64, zs: [n]f64, boxes: [m][6]f64}

-- Fewer cities a leaf take more memory, more take more time.
def leaf : i64 = 12

-- | The m nodes of a tree: `of_leaf` makes those of leaves 0, 1, …, which are the last, and `both` the others of the
-- two below. What `of_leaf` makes of the others' numbers, below 0, does not count. **Work:** O(m). **Span:** O(log m).
def of_nodes 'a (m: i64) (both: a -> a -> a) (of_leaf: i64 -> a) : [m]a =
  #[unsafe]
  let half = m / 2
  let highest = loop width = 1 while 2 * width < half do 2 * width
  let (nodes, _) =
    loop (nodes: *[m]a, width) = (map (\i -> of_leaf (i - half)) (iota m), highest)
    while width > 0 do
      let end = i64.max width (i64.min half (2 * width))
      let joined = map (\i -> both nodes[2 * (width + i)] nodes[2 * (width + i) + 1]) (iota (end - width))
      in (nodes with [width:end] = joined, width / 2)
  in nodes

-- | **Work:** O(n). **Span:** O(log n). **Memory:** O(n).
def build_boxes [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) : ?[m].boxed [n] [m] =
  let m = assert (fits_32_bits n) ((n + leaf - 1) / leaf)
  let around (l: i64) =
    let range (axis: [n]f64) =
      loop (low, high) = (f64.inf, -f64.inf)
      for i < (if l < 0 then 0 else i64.min leaf (n - l * leaf)) do
        let x = #[unsafe] axis[l * leaf + i]
        in (f64.min low x, f64.max high x)
    let ((a, b), (c, d), (e, f)) = (range xs, range ys, range zs)
    in [a, b, c, d, e, f]
  let both (p: [6]f64) (q: [6]f64): [6]f64 = [f64.min p[0] q[0], f64.max p[1] q[1], f64.min p[2] q[2], f64.max p[3] q[3], f64.min p[4] q[4], f64.max p[5] q[5]]
  in {xs, ys, zs, boxes = of_nodes (2 * m) both around}

-- | Put a city into a list from place `first` on, by squared distance, then number, with a spare. **Work:** O(count).
#[inline]
def put [w] (ds: *[w]f64) (cs: *[w]i32) (first: i64) (count: i64) (d: f64) (c: i32) : (*[w]f64, *[w]i32) =
  #[unsafe]
  let (ds, cs, p) =
    loop (ds: *[w]f64, cs: *[w]i32, p) = (ds, cs, first + count)
    while p > first && (d < ds[p - 1] || (d == ds[p - 1] && c < cs[p - 1])) do
      let (e, j) = (ds[p - 1], cs[p - 1])
      in (ds with [p] = e, cs with [p] = j, p - 1)
  in (ds with [p] = d, cs with [p] = c)

-- | The square of the distance between a point and a node's box, or less.
#[inline]
def bound [m] (boxes: [m][6]f64) (x: f64) (y: f64) (z: f64) (node: i64) : f64 =
  #[unsafe]
  let dx = f64.max 0 (f64.max (boxes[node, 0] - x) (x - boxes[node, 1]))
  let dy = f64.max 0 (f64.max (boxes[node, 2] - y) (y - boxes[node, 3]))
  let dz = f64.max 0 (f64.max (boxes[node, 4] - z) (z - boxes[node, 5]))
  in dx * dx + dy * dy + dz * dz

-- | The least city below a node; leaves of a tree with two levels of them begin on the upper one. **Work:** O(log n).
#[inline]
def first_below (half: i64) (node: i64) : i64 =
  let (low, _) = loop (low, high) = (node, node + 1) while high <= half do (2 * low, 2 * high)
  in leaf * (i64.max low half - half)

-- | Go through the leaves that may matter to city c, its own first, and nodes above: `visit`, by node and leaf or -1, tells
-- whether what is below may matter, and looks at leaves. Below a node it goes in order, or `backward` where all is before c:
-- what is near comes first, then, but of equals not the least number.
#[inline]
def walk 'a [n] [m] ({xs = _, ys = _, zs = _, boxes = _}: boxed [n] [m]) (backward: bool) (c: i64) (found: *a) (visit: *a -> (node: i64) -> (leaf: i64) -> (*a, bool)) : *a =
  let half = m / 2
  let beside (node: i64) = if node <= 1 then 0 else node ^ 1
  let own = half + c / leaf
  let (found, _) = visit found own (c / leaf)
  let first = beside own
  let is_before (node: i64) = backward && node > 0 && first_below half node < c
  -- Below `top` the next is `node`, by `deep` levels, or its mirror image where they lie before the city; nodes come
  -- before those below them.
  let (found, _, _, _, _) =
    loop (found: *a, top, before, node, deep) = (found, first, is_before first, first, 0i64)
    while top > 0 do
      let place = if before then node ^ ((1 << deep) - 1) else node
      let is_leaf = place >= half
      let (found, is_near) = visit found place (if is_leaf then place - half else -1)
      let up = beside (top / 2)
      let turns = i64.ctz (node + 1)
      in if is_near && !is_leaf
         then (found, top, before, 2 * node, deep + 1)
         else if node + 1 == (top + 1) << deep
         then (found, up, is_before up, up, 0)
         else (found, top, before, (node + 1) >> i64.i32 turns, deep - i64.i32 turns)
  in found

-- | The k nearest others of city c, 0 < k < n, by squared distances, then numbers. **Work:** about O(k + log n).
def nearest [n] [m] (boxed: boxed [n] [m]) (k: i64) (c: i64) : [k]i32 =
  #[unsafe]
  let {xs, ys, zs, boxes} = boxed
  let (x, y, z) = (xs[c], ys[c], zs[c])
  let look (ds: *[k + 1]f64) (cs: *[k + 1]i32) (l: i64): (*[k + 1]f64, *[k + 1]i32) =
    loop (ds: *[k + 1]f64, cs: *[k + 1]i32) = (ds, cs)
    for i < (if l < 0 then 0 else i64.min leaf (n - l * leaf)) do
      let other = l * leaf + i
      let (dx, dy, dz) = (x - xs[other], y - ys[other], z - zs[other])
      let (d, number) = if other == c then (f64.inf, i32.highest) else (dx * dx + dy * dy + dz * dz, i32.i64 other)
      in put ds cs 0 k d number
  let visit ((ds, cs): *([k + 1]f64, [k + 1]i32)) (node: i64) (l: i64): (*([k + 1]f64, [k + 1]i32), bool) =
    let square = bound boxes x y z node
    -- Of equals the least numbers count: where many tie, hardly any box holds one.
    let is_near = square < ds[k - 1] || (square == ds[k - 1] && first_below (m / 2) node < i64.i32 cs[k - 1])
    let (ds, cs) = look ds cs (if is_near then l else -1)
    in ((ds, cs), is_near)
  let (_, cs) = walk boxed false c (replicate (k + 1) f64.inf, replicate (k + 1) i32.highest) visit
  in take k cs

-- | The k nearest others of each of some cities, 0 < k < n.
def nearest_of [n] [m] [q] (boxed: boxed [n] [m]) (k: i64) (cities: [q]i32) : [q][k]i32 =
  let cities = assert (k >= 1 && k < n && are_cities n cities) cities
  in #[incremental_flattening(only_inner)] map (\c -> nearest boxed k (i64.i32 c)) cities
