-- | Neighbours from all four quadrants around a city, for cities in clusters, by a tree of boxes.

import "../core/instances"
import "nearest"

-- | The quadrant of a difference: 0, …, 3, each with the axis at its clockwise side; the same point is in the last.
def quadrant_of (dx: f64) (dy: f64) : i64 =
  if dy > 0 || (dy == 0 && dx > 0) then i64.bool (dx <= 0) else 3 - i64.bool (dx < 0)

-- | Tell whether a box reaches into a quadrant around a point; the box of the point alone reaches into none.
def reaches [m] (boxes: [m][6]f64) (x: f64) (y: f64) (node: i64) (quadrant: i64) : bool =
  #[unsafe]
  let (left, right, low, high) = (boxes[node, 0], boxes[node, 1], boxes[node, 2], boxes[node, 3])
  in if quadrant == 0
     then right > x && high >= y
     else if quadrant == 1
     then left <= x && high > y
     else if quadrant == 2
     then left < x && low <= y
     else right >= x && low < y

-- | The k / 4 nearest others of city c in each quadrant, of its `most` nearest, filled up with the nearest: k cities, 0
-- < k <= most < n, by squared distances, then `numbers`. **Work:** about O(k + log n), O(most) with empty quadrants.
def around [n] [m] (boxed: boxed [n] [m]) (numbers: [n]i32) (k: i64) (most: i64) (c: i64) : [k]i32 =
  #[unsafe]
  let {xs, ys, zs = _, boxes} = boxed
  let (x, y) = (xs[c], ys[c])
  let share = k / 4
  -- The lists of the quadrants, then that of the nearest overall.
  let every = 4 * (share + 1)
  let size = every + k + 1
  let look (ds: *[size]f64) (cs: *[size]i32) (l: i64): (*[size]f64, *[size]i32) =
    loop (ds: *[size]f64, cs: *[size]i32) = (ds, cs)
    for i < (if l < 0 then 0 else i64.min leaf (n - l * leaf)) do
      let other = l * leaf + i
      let (dx, dy) = (xs[other] - x, ys[other] - y)
      let (d, number) = if other == c then (f64.inf, i32.highest) else (dx * dx + dy * dy, numbers[other])
      let (ds, cs) = put ds cs (quadrant_of dx dy * (share + 1)) share d number
      in put ds cs every k d number
  let visit ((ds, cs): *([size]f64, [size]i32)) (node: i64) (l: i64): (*([size]f64, [size]i32), bool) =
    let square = bound boxes x y 0 node
    let (is_near, _) =
      loop (is_near, q) = (square <= ds[every + k - 1], 0)
      while !is_near && q < (if share > 0 then 4 else 0) do
        (square <= ds[q * (share + 1) + share - 1] && reaches boxes x y node q, q + 1)
    let (ds, cs) = look ds cs (if is_near then l else -1)
    in ((ds, cs), is_near)
  let (ds, cs) = walk boxed false c (replicate size f64.inf, replicate size i32.highest) visit
  let is_listed (d: f64) (number: i32): bool = d < ds[every + k - 1] || (d == ds[every + k - 1] && number <= cs[every + k - 1])
  -- No rank is needed where fewer than `most` cities lie in boxes, of up to four leaves each, that are as near as the
  -- farthest city of a quadrant that is not among the nearest overall.
  let farthest =
    loop farthest = -1
    for i < every do
      let is_far = i % (share + 1) < share && cs[i] < i32.highest && !is_listed ds[i] cs[i]
      in if is_far then f64.max farthest ds[i] else farthest
  let pass (within: *[1]i64) (node: i64) (_: i64): (*[1]i64, bool) =
    let leaves = if node >= m / 2 then 1 else if 2 * node >= m / 2 then 2 else if 4 * node >= m / 2 then 4 else 0
    let is_near = within[0] < most && bound boxes x y 0 node <= farthest
    let after = within[0] + (if is_near then leaf * leaves else 0)
    in (within with [0] = after, is_near && leaves == 0)
  let are_near = farthest < 0 || (walk boxed false c [0] pass)[0] < most
  -- How many others are nearer than one of them, as far as they matter.
  let rank (d: f64) (number: i32): i64 =
    let count (l: i64): i64 =
      loop before = 0
      for i < (if l < 0 then 0 else i64.min leaf (n - l * leaf)) do
        let other = l * leaf + i
        let (dx, dy) = (xs[other] - x, ys[other] - y)
        let e = dx * dx + dy * dy
        in before + i64.bool (other != c && (e < d || (e == d && numbers[other] < number)))
    let pass (before: *[1]i64) (node: i64) (l: i64): (*[1]i64, bool) =
      let is_near = before[0] < most && bound boxes x y 0 node <= d
      let after = before[0] + count (if is_near then l else -1)
      in (before with [0] = after, is_near)
    in (walk boxed false c [0] pass)[0]
  -- Those of the quadrants, then of the others as many as there is room for.
  let (es, found, chosen) =
    loop (es: *[k + 1]f64, found: *[k + 1]i32, chosen) = (replicate (k + 1) f64.inf, replicate (k + 1) i32.highest, 0)
    for i < every do
      let (d, number) = (ds[i], cs[i])
      let is_chosen = i % (share + 1) < share && number < i32.highest
      let is_chosen = if is_chosen && !are_near && !is_listed d number then rank d number < most else is_chosen
      let (es, found) = if is_chosen then put es found 0 k d number else (es, found)
      in (es, found, chosen + i64.bool is_chosen)
  let (_, found, _) =
    loop (es: *[k + 1]f64, found: *[k + 1]i32, chosen) = (es, found, chosen)
    for i < k do
      let (d, number) = (ds[every + i], cs[every + i])
      let (is_chosen, _) =
        loop (is_chosen, j) = (false, 0)
        while !is_chosen && j < every do
          (j % (share + 1) < share && cs[j] == number, j + 1)
      let is_put = !is_chosen && chosen < k
      let (es, found) = if is_put then put es found 0 k d number else (es, found)
      in (es, found, chosen + i64.bool is_put)
  in take k found

-- | The lists of some cities, 0 < k <= most < n.
def around_each [n] [m] [q] (boxed: boxed [n] [m]) (numbers: [n]i32) (k: i64) (most: i64) (cities: [q]i32) : [q][k]i32 =
  let cities = assert (k >= 1 && k <= most && most < n && are_cities n cities) cities
  in map (\c -> around boxed numbers k most (i64.i32 c)) cities
