-- | Distances of the plane, whatever the coordinates: one kernel in place of two, where there are many kernels already.

import "gpu_metric"
import "metric"

-- | `fast_plane` with gains of 32 bits, so that distances may exceed 2^22. Where all are in doubt it costs as much as
-- `gpu_plane`, and a little more.
module any_plane : gpu_metric with data [n] = fast_data [n] = {
  module weight = i32
  type data [n] = fast_data [n]
  type point = (f32, f32, i32)

  def origin : point = (0, 0, 0)
  def point [n] (data: data [n]) (c: i32) : point = #[unsafe] (data.xs[i64.i32 c], data.ys[i64.i32 c], c)

  local
  #[inline]
  def exact [n] (data: data [n]) (a: i32) (b: i32) : i32 =
    plane.dist data.exact (plane.point data.exact a) (plane.point data.exact b)

  local
  #[inline]
  def try [n] (data: data [n]) (ax: f32) (ay: f32) (bx: f32) (by: f32) : (f32, bool) =
    let dx = ax - bx
    let dy = ay - by
    in try_root data.half data.most (f32.fma dx dx (dy * dy))

  #[inline]
  def dist [n] (data: data [n]) ((ax, ay, a): point) ((bx, by, b): point) : i32 =
    let (t, certain) = try data ax ay bx by
    in if certain then i32.f32 t else exact data a b

  #[inline]
  def dists [n] [m] (data: data [n]) (row: [m]point) (p: point) : [m]i32 =
    -- As in `fast_plane`: the doubts of a column cost one branch.
    let (bx, by, b) = p
    let (ts, doubt) =
      loop (ts, doubt) = (replicate m 0i32, false)
      for r < m do
        let (ax, ay, _) = #[unsafe] row[r]
        let (t, certain) = try data ax ay bx by
        in #[unsafe] (ts with [r] = i32.f32 t, doubt || !certain)
    in loop _ = ts for _i < i32.bool doubt do table m 0 (\r -> #[unsafe] exact data row[r].2 b)
}
