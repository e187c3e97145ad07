-- | Distances between cities: module types with their instances; a part of a tour as an instance of its own.

import "tour"

-- | A symmetric distance in whole numbers.
module type metric = {
  -- | The data from which distances of `n` cities are computed.
  type~ data [n]

  -- | A city as it stands in a tour: its number, and what a distance needs of it.
  type point

  -- | The city number `c`.
  val point [n] : data [n] -> (c: i32) -> point

  -- | The number of a city.
  val city : point -> i32

  -- | The distance of two cities, at most 2^30 - 1, so that a gain never leaves 32 bits. **Work:** O(1).
  val dist [n] : data [n] -> point -> point -> i32

  -- | Tell whether a distance may be below `most`: never false for one that is. **Work:** O(1).
  val may_be_below [n] : data [n] -> point -> point -> (most: i64) -> bool
}

-- | Distances that stand in a matrix: every metric, in O(n^2) memory.
module matrix : metric with data [n] = [n][n]i32 = {
  type data [n] = [n][n]i32
  type point = i32

  def point _ c = c
  def city c = c

  #[inline]
  def dist d (a: i32) (b: i32) = #[unsafe] d[i64.i32 a, i64.i32 b]

  #[inline]
  def may_be_below d (a: i32) (b: i32) (most: i64) = i64.i32 (dist d a b) < most
}

-- | EUC_2D of whole coordinates, no distance over 46,000: 32-bit arithmetic only, exact. The root in single precision,
-- less 2^-20.9 of itself, rounds to d or d - 1; and d exceeds r just where s > r^2 + r.
module grid : metric with data [n] = ([n]i32, [n]i32) = {
  type data [n] = ([n]i32, [n]i32)
  type point = {x: i32, y: i32, c: i32}

  def point [n] ((xs, ys): data [n]) (c: i32) : point =
    #[unsafe] {x = xs[i64.i32 c], y = ys[i64.i32 c], c}

  def city (p: point) = p.c

  #[inline]
  def dist _ (a: point) (b: point) : i32 =
    let dx = a.x - b.x
    let dy = a.y - b.y
    let s = dx * dx + dy * dy
    let r = i32.f32 (f32.sqrt (f32.i32 s) * 0.9999995 + 0.5)
    in r + i32.bool (s > r * r + r)

  #[inline]
  def may_be_below d (a: point) (b: point) (most: i64) = i64.i32 (dist d a b) < most
}

-- | The distance of places of a plane, from their distances in each direction.
#[inline]
def root_in_plane (dx: f64) (dy: f64) : f64 = f64.sqrt (dx * dx + dy * dy)

-- | The nearest whole number, of two that are as near the larger one.
#[inline]
def rounded (r: f64) : i32 = i32.f64 (r + 0.5)

-- | The next whole number above, or itself.
#[inline]
def rounded_up (r: f64) : i32 =
  let t = i32.f64 r
  in t + i32.bool (f64.i32 t < r)

-- | Tell whether their distance, rounded or up, may be below `most`: rounding takes a half at most.
#[inline]
def may_root_be_below (dx: f64) (dy: f64) (most: i64) : bool =
  let m = f64.i64 (i64.max 0 most)
  in dx * dx + dy * dy < m * m

-- | EUC_2D (`up` = 0) and CEIL_2D (`up` = 1) as TSPLIB defines them. A number `up` leaves loops without branches.
module plane : metric with data [n] = ([n]f64, [n]f64, f64) = {
  type data [n] = ([n]f64, [n]f64, f64)
  type point = {x: f64, y: f64, c: i32}

  def point [n] ((xs, ys, _): data [n]) (c: i32) : point =
    #[unsafe] {x = xs[i64.i32 c], y = ys[i64.i32 c], c}

  def city (p: point) = p.c

  #[inline]
  def dist [n] ((_, _, up): data [n]) (a: point) (b: point) : i32 =
    let r = root_in_plane (a.x - b.x) (a.y - b.y)
    let t = i32.f64 (r + (0.5 - 0.5 * up))
    in t + i32.bool (f64.i32 t < up * r)

  #[inline]
  def may_be_below [n] (_: data [n]) (a: point) (b: point) (most: i64) : bool =
    may_root_be_below (a.x - b.x) (a.y - b.y) most
}

-- | Lengths of closed tours.
module mk_length (M: metric) = {
  -- | The length of a closed tour, city by city. **Work:** O(n). **Span:** O(n).
  def tour_length [n] (data: M.data [n]) (tour: [n]i32) : i64 =
    let between a b = i64.i32 (M.dist data (M.point data a) (M.point data b))
    in loop sum = 0i64
       for p < n do
         #[unsafe] sum + between tour[p] tour[cyclic_64.next n p]

  -- | The length of a closed tour by the points of its cities. **Work:** O(n). **Span:** O(log n).
  def line_length [n] (data: M.data [n]) (line: [n]M.point) : i64 =
    i64.sum (map (\p -> #[unsafe] i64.i32 (M.dist data line[p] line[cyclic_64.next n p])) (iota n))
}

-- | A metric whose data is a row of cities.
module type sliced = {
  include metric

  -- | The data of `m` cities from the first on; nothing is copied. **Work:** O(1).
  val slice [n] : data [n] -> (first: i64) -> (m: i64) -> data [m]
}

-- | A metric whose data is a row of points.
module type planar = {
  include sliced

  -- | The data of some cities, in their order. **Work:** O(m).
  val gather [n] [m] : data [n] -> (cities: [m]i32) -> data [m]
}

-- | A path from city 0 to city n - 1, as a tour: no move that shortens the tour parts these two.
module mk_path (M: metric) : metric with data [n] = M.data [n] with point = M.point = {
  open M

  -- | The length of a tie: so far below any distance that two other edges of a move, at most 2^30 - 1 each, do not outweigh it.
  def tie : i32 = i32.lowest

  #[inline]
  def are_ends (n: i64) (a: M.point) (b: M.point) : bool =
    let (c, d) = (M.city a, M.city b)
    in c + d == i32.i64 n - 1 && (c == 0 || d == 0)

  #[inline]
  def dist [n] (data: M.data [n]) (a: M.point) (b: M.point) : i32 =
    if are_ends n a b then tie else M.dist data a b

  #[inline]
  def may_be_below [n] (data: M.data [n]) (a: M.point) (b: M.point) (most: i64) : bool =
    are_ends n a b || M.may_be_below data a b most
}
