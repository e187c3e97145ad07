-- | A tour in the shared memory of a thread block: what the block climbers have in common.
--
-- The lanes do everything in rounds of as many cities as there are lanes: no map here is wider than the block.

import "gpu_metric"

-- | How a climber is laid out on its thread block.
module type shape = {
  -- | Cities in a tile; odd, at most 11.
  val rows : i64

  -- | Threads in the block, a multiple of 32.
  val lanes : i64
}

module mk_block_tour (M: gpu_metric) (S: shape) = {
  module W = M.weight

  local def lanes = i32.i64 S.lanes

  -- | Copy a tour and its points.
  def load [n] (data: M.data [n]) (start: [n]i32) : (*[n]i32, *[n]M.point) =
    loop (tour: *[n]i32, points: *[n]M.point) = (replicate n 0, replicate n M.origin)
    for k < (i32.i64 n + lanes - 1) / lanes do
      let ps = map (\l -> i64.i32 (k * lanes) + l) (iota S.lanes)
      let cs = #[unsafe] map (\p -> if p < n then start[p] else 0) ps
      let ms = map (M.point data) cs
      in (scatter tour ps cs, scatter points ps ms)

  -- | Set the lengths of the edges that leave positions first, …, last.
  def link [n] (data: M.data [n]) (points: [n]M.point) (succ: *[n]W.t) (first: i32) (last: i32) : *[n]W.t =
    loop succ for k < (last - first + lanes) / lanes do
      let edge (l: i64) =
        #[unsafe]
        let p = i64.i32 (first + k * lanes) + l
        let q = if p + 1 == n then 0 else p + 1
        in if p > i64.i32 last then (-1, W.i32 0) else (p, M.dist data points[p] points[q])
      let (ps, ds) = unzip (map edge (iota S.lanes))
      in scatter succ ps ds

  -- | Reverse the positions i + 1, …, j.
  def reverse [n] (tour: *[n]i32, points: *[n]M.point) (i: i32) (j: i32) : (*[n]i32, *[n]M.point) =
    let pairs = (j - i) / 2
    in loop (tour: *[n]i32, points: *[n]M.point) = (tour, points)
       for k < (pairs + lanes - 1) / lanes do
         let ends (l: i64) =
           let r = k * lanes + i32.i64 l
           in if r < pairs then (i64.i32 (i + 1 + r), i64.i32 (j - r)) else (-1, -1)
         let (ps, qs) = unzip (map ends (iota S.lanes))
         let exchange 'a (xs: *[n]a): *[n]a =
           let front = #[unsafe] map (\p -> xs[i64.max 0 p]) ps
           let back = #[unsafe] map (\q -> xs[i64.max 0 q]) qs
           in scatter (scatter xs ps back) qs front
         in (exchange tour, exchange points)

  -- | The sum of the edges.
  def length [n] (succ: [n]W.t) : i64 =
    let share (l: i64) =
      #[unsafe]
      loop sum = 0i64
      for k < (i32.i64 (n - l) + lanes - 1) / lanes do
        sum + W.to_i64 succ[l + i64.i32 (k * lanes)]
    in i64.sum (map share (iota S.lanes))
}
