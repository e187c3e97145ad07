-- | Distances in the arithmetic that GPUs are fast at: the same whole numbers as `metric`'s, by other ways.

import "metric"

-- | A symmetric distance in whole numbers, held in any numeric type that keeps gains exact.
module type gpu_metric = {
  module weight: numeric

  -- | What the distances of `n` cities are computed from.
  type data [n]

  -- | What a distance needs of a city.
  type point

  -- | Any point at all, to fill an array with.
  val origin : point

  val point [n] : data [n] -> (c: i32) -> point

  -- | **Work:** O(1).
  val dist [n] : data [n] -> point -> point -> weight.t
}

-- | Distances that stand in a matrix.
module gpu_matrix : gpu_metric with data [n] = [n][n]i32 = {
  module weight = i32
  type data [n] = [n][n]i32
  type point = i32

  def origin : point = 0
  def point _ (c: i32) : point = c

  #[inline]
  def dist d (a: i32) (b: i32) : i32 = #[unsafe] d[i64.i32 a, i64.i32 b]
}

-- | `metric.plane` without the city's number.
module gpu_plane : gpu_metric with data [n] = ([n]f64, [n]f64, f64) = {
  module weight = i32
  type data [n] = ([n]f64, [n]f64, f64)
  type point = (f64, f64)

  def origin : point = (0, 0)
  def point [n] ((xs, ys, _): data [n]) (c: i32) : point = #[unsafe] (xs[i64.i32 c], ys[i64.i32 c])

  #[inline]
  def dist [n] ((_, _, up): data [n]) ((ax, ay): point) ((bx, by): point) : i32 =
    let dx = ax - bx
    let dy = ay - by
    let r = f64.sqrt (dx * dx + dy * dy)
    let t = i32.f64 (r + (0.5 - 0.5 * up))
    in t + i32.bool (f64.i32 t < up * r)
}

-- | A whole number r with nint(sqrt(s)) - 1 <= r <= nint(sqrt(s)), for a root up to 46,341.
--
-- `s` may be rounded once, and the root may be wrong by 2^-22 of itself (CUDA's approximate root is better than that): the
-- factor 1 - 2^-20.9 keeps the product under the true root, and less than 0.04 under it. Adding and subtracting 1.5 * 2^23
-- rounds to the nearest whole number.
def root_below (s: f32) : f32 =
  let magic = 12582912f32
  in f32.fma (f32.sqrt s) 0.9999995f32 magic - magic

-- | EUC_2D of whole coordinates that span at most 4,090 in y, with no distance over 5,790: single precision only.
--
-- nint(sqrt(s)) exceeds r just where s > r^2 + r. Both sides need up to 25 bits. But q = r^2 + r is even, so a float holds
-- it, and dx^2 - q lies within dy^2 + 3 r < 2^24 of zero, so that one is exact as well; the sign of its sum with dy^2 is
-- that of s - q.
module fine_grid : gpu_metric with data [n] = ([n]f32, [n]f32) = {
  module weight = f32
  type data [n] = ([n]f32, [n]f32)
  type point = (f32, f32)

  def origin : point = (0, 0)
  def point [n] ((xs, ys): data [n]) (c: i32) : point = #[unsafe] (xs[i64.i32 c], ys[i64.i32 c])

  #[inline]
  def dist _ ((ax, ay): point) ((bx, by): point) : f32 =
    let dx = ax - bx
    let dy = ay - by
    let r = root_below (f32.fma dx dx (dy * dy))
    let q = f32.fma r r r
    in if f32.fma dy dy (f32.fma dx dx (-q)) > 0 then r + 1 else r
}

-- | EUC_2D of whole coordinates, no distance over 46,000: single precision only, as `fine_grid`, with each product kept in
-- two floats.
--
-- s - q = dy^2 - (r - dx) (r + dx) - r. The products nearly cancel, so that the difference of their high parts is exact,
-- and their low parts are what fma leaves; all are whole numbers under 2^24.
module coarse_grid : gpu_metric with data [n] = ([n]f32, [n]f32) = {
  module weight = f32
  type data [n] = ([n]f32, [n]f32)
  type point = (f32, f32)

  def origin : point = (0, 0)
  def point [n] ((xs, ys): data [n]) (c: i32) : point = #[unsafe] (xs[i64.i32 c], ys[i64.i32 c])

  #[inline]
  def dist _ ((ax, ay): point) ((bx, by): point) : f32 =
    let dx = ax - bx
    let dy = ay - by
    let p = dy * dy
    let r = root_below (f32.fma dx dx p)
    let a = r - dx
    let b = r + dx
    let m = a * b
    let high = p - m - r
    let low = f32.fma dy dy (-p) - f32.fma a b (-m)
    in if high + low > 0 then r + 1 else r
}
