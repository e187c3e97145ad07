-- | About the distances of cities, fast; and the distances themselves, for the few moves of a large neighbourhood that then
-- still may be the best.

import "../core/gpu_metric"
import "../core/metric"

-- | Distances in two degrees of precision.
module type screen = {
  -- | An approximate distance or gain.
  module weight: numeric

  type data [n]

  -- | The data from which distances of a city are computed.
  type point

  -- | Any point at all, to fill an array with.
  val origin : point

  val point [n] : data [n] -> (c: i32) -> point

  -- | About the distance of two cities.
  val near [n] : data [n] -> point -> point -> weight.t

  -- | The distance of two cities.
  val dist [n] : data [n] -> point -> point -> i32

  val city : point -> i32

  -- | The least apparent gain of a move with a given least gain: s - near - near + s', from left to right, where s and
  -- s' are lengths of edges, `weigh`ed.
  val least [n] : data [n] -> (gain: i32) -> weight.t

  val weigh : (length: i32) -> weight.t
}

-- | Cities of the plane, and by how much a gain may be more than it seems.
type screened [n] = {fast: fast_data [n], slack: f32}

-- | Make ready for `screened_plane`.
--
-- Let u = 2^-24, and h the most that a coordinate is from the middle. A distance is off by less than 7.01 u r + 2.83 u h, as
-- in `gpu_metric.try_root`, with r at most 2.83 h: by 22.7 u h. Lengths of edges as floats are off by 2.83 u h each; the sums
-- are at most 2.83 h, 5.66 h and 8.49 h, so off by 17 u h together; and the float of the least gain by 5.66 u h. Altogether
-- that is less than 75 u h, so than 4.8e-6 h; and a distance is rounded up by 1/2 or less, where it makes a gain larger.
def screened [n] (data: fast_data [n]) : screened [n] =
  let farthest zs = f32.maximum (map f32.abs zs)
  let h = f32.max (farthest data.xs) (farthest data.ys)
  in {fast = data, slack = 1.01 + 4.8e-6 * h}

-- | EUC_2D and CEIL_2D: four operations and a root a distance, whatever the coordinates.
module screened_plane : screen with data [n] = screened [n] = {
  module weight = f32
  type data [n] = screened [n]
  type point = (f32, f32, i32)

  def origin : point = (0, 0, 0)
  def point [n] (data: data [n]) (c: i32) : point = #[unsafe] (data.fast.xs[i64.i32 c], data.fast.ys[i64.i32 c], c)
  def city ((_, _, c): point) : i32 = c

  #[inline]
  def near _ ((ax, ay, _): point) ((bx, by, _): point) : f32 =
    let dx = ax - bx
    let dy = ay - by
    in f32.sqrt (f32.fma dx dx (dy * dy))

  -- As `fast_plane.dist`, but a float would not hold every distance that is left in doubt.
  def dist [n] (data: data [n]) ((ax, ay, a): point) ((bx, by, b): point) : i32 =
    let dx = ax - bx
    let dy = ay - by
    let (t, certain) = try_root data.fast.half data.fast.most (f32.fma dx dx (dy * dy))
    in if certain
       then i32.f32 t
       else plane.dist data.fast.exact (plane.point data.fast.exact a) (plane.point data.fast.exact b)

  def least [n] (data: data [n]) (gain: i32) : f32 = f32.i32 gain - data.slack
  def weigh = f32.i32
}

-- | A matrix leaves nothing open. The weights have room for a gain less another.
module screened_matrix : screen with data [n] = [n][n]i32 = {
  module weight = i64
  type data [n] = [n][n]i32
  type point = i32

  def origin : point = 0
  def point _ (c: i32) : point = c

  def city (c: point) : i32 = c

  #[inline]
  def dist [n] (data: data [n]) (a: point) (b: point) : i32 = matrix.dist data (matrix.point data a) (matrix.point data b)

  #[inline]
  def near [n] (data: data [n]) (a: point) (b: point) : i64 = i64.i32 (dist data a b)

  def least _ (gain: i32) : i64 = i64.i32 gain
  def weigh = i64.i32
}
