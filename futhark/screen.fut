-- | About the distances of cities, fast; and the distances themselves, for the few moves of a large neighbourhood that then
-- still may be the best.

import "gpu_metric"
import "metric"

-- | Distances in two degrees of precision.
module type screen = {
  -- | What is about a distance, or about a gain.
  module weight: numeric

  type data [n]

  -- | What is about the distances of a city is computed from this.
  type point

  -- | Any point at all, to fill an array with.
  val origin : point

  val point [n] : data [n] -> (c: i32) -> point

  -- | About the distance of two cities.
  val near [n] : data [n] -> point -> point -> weight.t

  -- | The distance of two cities.
  val dist [n] : data [n] -> (a: i32) -> (b: i32) -> i32

  -- | What a move that gains at least so much seems to gain at least: s - near - near + s', from left to right, where s and
  -- s' are lengths of edges, `weigh`ed.
  val least [n] : data [n] -> (gain: i32) -> weight.t

  val weigh : (length: i32) -> weight.t
}

-- | Cities of the plane in single precision, and by how much a gain may be more than it seems.
type screened [n] = {exact: plane.data [n], xs: [n]f32, ys: [n]f32, slack: f32}

-- | Make ready for `screened_plane`.
--
-- Let u = 2^-24, and h the most that a coordinate is from the middle. A distance is off by less than 7.01 u r + 2.83 u h, as
-- in `gpu_metric.settle`, with r at most 2.83 h: by 22.7 u h. Lengths of edges as floats are off by 2.83 u h each; the sums
-- are at most 2.83 h, 5.66 h and 8.49 h, so off by 17 u h together; and the float of the least gain by 5.66 u h. Altogether
-- that is less than 75 u h, so than 4.8e-6 h; and a distance is rounded up by 1/2 or less, where it makes a gain larger.
def screened [n] (data: fast_data [n]) : screened [n] =
  let farthest zs = f32.maximum (map f32.abs zs)
  let h = f32.max (farthest data.xs) (farthest data.ys)
  in {exact = data.exact, xs = data.xs, ys = data.ys, slack = 1.01 + 4.8e-6 * h}

-- | EUC_2D and CEIL_2D: four operations and a root a distance, whatever the coordinates.
module screened_plane : screen with data [n] = screened [n] = {
  module weight = f32
  type data [n] = screened [n]
  type point = (f32, f32)

  def origin : point = (0, 0)
  def point [n] (data: data [n]) (c: i32) : point = #[unsafe] (data.xs[i64.i32 c], data.ys[i64.i32 c])

  #[inline]
  def near _ ((ax, ay): point) ((bx, by): point) : f32 =
    let dx = ax - bx
    let dy = ay - by
    in f32.sqrt (f32.fma dx dx (dy * dy))

  def dist [n] (data: data [n]) (a: i32) (b: i32) : i32 =
    plane.dist data.exact (plane.point data.exact a) (plane.point data.exact b)

  def least [n] (data: data [n]) (gain: i32) : f32 = f32.i32 gain - data.slack
  def weigh = f32.i32
}

-- | A matrix leaves nothing open. The weights have room for a gain less another.
module screened_matrix : screen with data [n] = matrix.data [n] = {
  module weight = i64
  type data [n] = matrix.data [n]
  type point = i32

  def origin : point = 0
  def point _ (c: i32) : point = c

  #[inline]
  def dist [n] (data: data [n]) (a: i32) (b: i32) : i32 = matrix.dist data (matrix.point data a) (matrix.point data b)

  #[inline]
  def near [n] (data: data [n]) (a: point) (b: point) : i64 = i64.i32 (dist data a b)

  def least _ (gain: i32) : i64 = i64.i32 gain
  def weigh = i64.i32
}
