-- | Approximate distances, fast, and exact ones for the few moves that still may be the best.

import "../core/gpu_metric"
import "../core/metric"

-- | Distances in two degrees of precision: approximate ones, in the type of weights, and exact ones.
module type screen = {
  include gpu_distance

  -- | The distance of two cities.
  val exact [n] : data [n] -> point -> point -> i32

  val city : point -> i32

  -- | The least apparent gain s - dist - dist + s' of a move with such a gain, where s and s' are `weigh`ed lengths.
  val least [n] : data [n] -> (gain: i32) -> weight.t

  val weigh : (length: i32) -> weight.t
}

-- | Cities of the plane, and by how much a gain may be more than it seems.
type screened [n] = {fast: fast_data [n], slack: f32}

-- | Make ready for `screened_plane`. With u = 2^-24 and coordinates at most h from the middle, a distance is off by
-- 22.7 u h (see `try_root`), edges by 2.83 u h, sums by 17 u h, the least gain by 5.66 u h: below 4.8e-6 h, and 1 for
-- rounding up.
def screened [n] (data: fast_data [n]) : screened [n] =
  let farthest zs = f32.maximum (map f32.abs zs)
  let h = f32.max (farthest data.xs) (farthest data.ys)
  in {fast = data, slack = 1.01 + 4.8e-6 * h}

-- | EUC_2D and CEIL_2D: four operations and a root a distance, whatever the coordinates.
module screened_plane : screen with data [n] = screened [n] = {
  module weight = f32
  type data [n] = screened [n]
  type point = any_plane.point

  def origin : point = any_plane.origin
  def point [n] (data: data [n]) (c: i32) : point = any_plane.point data.fast c
  def city ((_, _, c): point) : i32 = c

  #[inline]
  def dist _ ((ax, ay, _): point) ((bx, by, _): point) : f32 =
    let dx = ax - bx
    let dy = ay - by
    in f32.sqrt (f32.fma dx dx (dy * dy))

  def exact [n] (data: data [n]) (a: point) (b: point) : i32 = any_plane.dist data.fast a b
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
  def exact [n] (data: data [n]) (a: point) (b: point) : i32 = matrix.dist data (matrix.point data a) (matrix.point data b)

  #[inline]
  def dist [n] (data: data [n]) (a: point) (b: point) : i64 = i64.i32 (exact data a b)

  def least _ (gain: i32) : i64 = i64.i32 gain
  def weigh = i64.i32
}
