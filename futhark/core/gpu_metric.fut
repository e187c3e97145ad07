-- | Distances in the arithmetic that GPUs are fast at: the same whole numbers as `metric`'s, by other ways.

import "metric"

-- | A symmetric distance in whole numbers, held in any numeric type that keeps gains exact.
module type gpu_distance = {
  module weight: numeric

  -- | The data from which distances of `n` cities are computed.
  type data [n]

  -- | The data of a city for a distance.
  type point

  -- | Any point at all, to fill an array with.
  val origin : point

  val point [n] : data [n] -> (c: i32) -> point

  -- | **Work:** O(1).
  val dist [n] : data [n] -> point -> point -> weight.t
}

-- | The same, and the distances of several points from one. **Work:** O(m).
module type gpu_metric = {
  include gpu_distance
  val dists [n] [m] : data [n] -> [m]point -> point -> [m]weight.t
}

-- | An array of registers: a loop, since a `map` in a thread's own loop is not safe everywhere.
def table 't (m: i64) (zero: t) (f: i64 -> t) : *[m]t =
  loop a = replicate m zero for r < m do #[unsafe] a with [r] = f r

-- | The least and the largest, by one reduction: two over one array become a kernel that races in Futhark 0.25.
def extremes 'a [n] (min: a -> a -> a) (max: a -> a -> a) (lowest: a) (highest: a) (xs: [n]a) : (a, a) =
  reduce_comm (\(a, b) (c, d) -> (min a c, max b d)) (highest, lowest) (zip xs xs)

-- | The distances of several points, one after another.
module mk_dists (M: gpu_distance) : gpu_metric with data [n] = M.data [n] = {
  open M

  #[inline]
  def dists [n] [m] (data: data [n]) (row: [m]point) (p: point) : [m]weight.t =
    table m (weight.i32 0) (\r -> #[unsafe] dist data row[r] p)
}

-- | Distances that stand in a matrix. The second city's row is read, so that many distances from one city come from one row.
module mk_gpu_matrix (E: {type t val wide : t -> i32}) = mk_dists {
  module weight = i32
  type data [n] = [n][n]E.t
  type point = i32

  def origin : point = 0
  def point [n] (_: data [n]) (c: i32) : point = c

  #[inline]
  def dist [n] (d: data [n]) (a: i32) (b: i32) : i32 = #[unsafe] E.wide d[i64.i32 b, i64.i32 a]
}

module gpu_matrix = mk_gpu_matrix {type t = i32 def wide (d: i32) = d}

-- | Distances under 2^16: twice as many fit a cache, and come at a time.
module short_matrix = mk_gpu_matrix {type t = u16 def wide = i32.u16}

-- | `metric.plane` without the city's number.
module gpu_plane = mk_dists {
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

-- | Cities; in single precision, from the middle; what is added to a root before rounding; and its certain range.
type fast_data [n] = {exact: gpu_plane.data [n], xs: [n]f32, ys: [n]f32, half: f32, most: f32}

-- | The whole number next to sqrt(s) + half, and whether rounding errors leave no doubt that it is the one.
--
-- Let u = 2^-24. Coordinates are at most h from the middle, so off by u h, their differences by 2 u h, a distance by
-- 2.83 u h. Its square takes four roundings, that is 2 u of the root r; the root may be wrong by 4 u of itself (as in
-- `root_below`), and the sum by u. So the sum is off by less than 7.01 u r + 2.83 u h + u. It is certain where it is
-- closer than one half to the whole number by 4.2e-7 r + 1.7e-7 h + 2^-22, which is more than that, and more by what
-- these bounds and double precision themselves are rounded.
def try_root (half: f32) (most: f32) (s: f32) : (f32, bool) =
  let magic = 12582912f32
  let r = f32.sqrt s
  let v = r + half
  let t = v + magic - magic
  in (t, f32.abs (v - t) <= f32.fma (-4.2e-7f32) r most)

-- | `gpu_plane` in single precision, and exactly where the rounding is in doubt: once in 1,700 times in a square of
-- side 1,000, in proportion to the side. Distances are at most 2^22.
module mk_fast_plane (W: numeric) = {
  module weight = W
  type data [n] = fast_data [n]
  type point = (f32, f32, i32)

  def origin : point = (0, 0, 0)
  def point [n] (data: data [n]) (c: i32) : point = #[unsafe] (data.xs[i64.i32 c], data.ys[i64.i32 c], c)

  local
  #[inline]
  def try [n] (data: data [n]) ((ax, ay, _): point) ((bx, by, _): point) : (f32, bool) =
    let dx = ax - bx
    let dy = ay - by
    in try_root data.half data.most (f32.fma dx dx (dy * dy))

  #[inline]
  def dist [n] (data: data [n]) (a: point) (b: point) : W.t =
    let (t, certain) = try data a b
    in if certain then W.f32 t else W.i32 (plane.dist data.exact (plane.point data.exact a.2) (plane.point data.exact b.2))

  #[inline]
  def dists [n] [m] (data: data [n]) (row: [m]point) (p: point) : [m]W.t =
    -- All at first in single precision: doubts cost one branch. The last loop keeps the array in registers.
    let (ts, doubt) =
      loop (ts, doubt) = (replicate m (W.i32 0), false)
      for r < m do
        let (t, certain) = #[unsafe] try data row[r] p
        in #[unsafe] (ts with [r] = W.f32 t, doubt || !certain)
    in loop _ = ts for _i < i32.bool doubt do table m (W.i32 0) (\r -> #[unsafe] dist data row[r] p)
}

module fast_plane = mk_fast_plane f32

-- | The same with gains of 32 bits, so that distances may exceed 2^22: one kernel for all coordinates.
module any_plane = mk_fast_plane i32

-- | Make ready for `fast_plane`; it pays where even the longest distance is in doubt at most once in 128 times.
def fast_data [n] ((xs, ys, up): gpu_plane.data [n]) : (fast_data [n], bool) =
  let about (zs: [n]f64) =
    let (least, most) = extremes f64.min f64.max (-f64.inf) f64.inf zs
    let middle = least / 2 + most / 2
    in map (\z -> z - middle) zs
  let (xs', ys') = (about xs, about ys)
  let farthest zs = f64.maximum (map f64.abs zs)
  let (w, h) = (farthest xs', farthest ys')
  let near = 1.7e-7 * f64.max w h + 1 / 4194304
  in ( { exact = (xs, ys, up)
       , xs = map f32.f64 xs'
       , ys = map f32.f64 ys'
       , half = f32.f64 (0.5 * up)
       , most = f32.f64 (0.5 - near)
       }
     , near + 8.4e-7 * f64.sqrt (w * w + h * h) <= 1 / 256
     )

-- | Whole coordinates and distances in single precision.
module single = {
  module weight = f32
  type data [n] = ([n]f32, [n]f32)
  type point = (f32, f32)

  def origin : point = (0, 0)
  def point [n] ((xs, ys): data [n]) (c: i32) : point = #[unsafe] (xs[i64.i32 c], ys[i64.i32 c])
}

-- | A whole number r with nint(sqrt(s)) - 1 <= r <= nint(sqrt(s)), for a root up to 46,341.
--
-- The factor 1 - 2^-20.9 covers the rounding of `s` and CUDA's approximate root. 1.5 * 2^23, added and subtracted, rounds.
def root_below (s: f32) : f32 =
  let magic = 12582912f32
  in f32.fma (f32.sqrt s) 0.9999995f32 magic - magic

-- | EUC_2D of whole coordinates that span at most 4,090 in y, with no distance over 5,790: single precision only.
--
-- The distance exceeds r just where s > r^2 + r = q. q is even, so a float holds it; dx^2 - q is exact, within 2^24 of zero.
module fine_grid = mk_dists {
  open single

  #[inline]
  def dist [n] (_: data [n]) ((ax, ay): point) ((bx, by): point) : f32 =
    let dx = ax - bx
    let dy = ay - by
    let r = root_below (f32.fma dx dx (dy * dy))
    let q = f32.fma r r r
    in if f32.fma dy dy (f32.fma dx dx (-q)) > 0 then r + 1 else r
}

-- | EUC_2D of whole coordinates, no distance over 46,000: as `fine_grid`, with each product kept in two floats.
--
-- s - q = dy^2 - (r - dx) (r + dx) - r. High parts nearly cancel: their difference is exact; low parts are what fma leaves.
module coarse_grid = mk_dists {
  open single

  #[inline]
  def dist [n] (_: data [n]) ((ax, ay): point) ((bx, by): point) : f32 =
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
