-- | A tour in device memory of one thread: loops only, as a `map` in a thread's loop is not safe everywhere.

import "../core/gpu_metric"
import "../core/tour"

module mk_thread_tour (M: gpu_metric) = {
  type~ data [n] = M.data [n]
  type point = M.point
  module weight = M.weight
  module W = weight

  -- | Copy a tour and its points.
  def load [n] (data: M.data [n]) (start: [n]i32) : (*[n]i32, *[n]M.point) =
    #[unsafe]
    let tour = loop tour = replicate n 0i32 for p < n do tour with [p] = start[p]
    let points = loop points = replicate n M.origin for p < n do points with [p] = M.point data start[p]
    in (tour, points)

  -- | Set the lengths of the edges that leave positions first, …, last.
  def link [n] (data: M.data [n]) (points: [n]M.point) (succ: *[n]W.t) (first: i32) (last: i32) : *[n]W.t =
    #[unsafe]
    loop succ: *[n]W.t = succ
    for l < last - first + 1 do
      let p = first + l
      in succ with [i64.i32 p] = M.dist data points[i64.i32 p] points[i64.i32 (cyclic.next (i32.i64 n) p)]

  -- | Reverse the positions i + 1, …, j.
  def reverse [n] (tour: *[n]i32, points: *[n]M.point) (i: i32) (j: i32) : (*[n]i32, *[n]M.point) =
    #[unsafe]
    loop (tour: *[n]i32, points: *[n]M.point) = (tour, points)
    for l < (j - i) / 2 do
      let a = i64.i32 (i + 1 + l)
      let b = i64.i32 (j - l)
      let ta = tour[a]
      let tb = tour[b]
      let pa = copy points[a]
      let pb = copy points[b]
      in (tour with [a] = tb with [b] = ta, points with [a] = pb with [b] = pa)

  -- | The sum of the edges.
  def length [n] (succ: [n]W.t) : i64 =
    #[unsafe] loop sum = 0i64 for p < n do sum + W.to_i64 succ[p]
}
