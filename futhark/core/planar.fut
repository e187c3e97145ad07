-- | Metrics of the plane that can be cut into parts, and a part of a tour as an instance of its own.

import "metric"

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

  local
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
