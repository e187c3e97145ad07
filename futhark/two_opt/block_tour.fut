-- | A tour in the shared memory of a thread block, for the block climbers: no map here is wider than the block.

import "../core/gpu_metric"
import "../core/tour"

-- | The layout of a climber on its thread block.
module type shape = {
  -- | Cities in a tile; odd, at most 11.
  val rows : i64

  -- | Threads in the block, a multiple of 32.
  val lanes : i64
}

module mk_block_tour (M: gpu_metric) (S: shape) = {
  type~ data [n] = M.data [n]
  type point = M.point
  module weight = M.weight
  module W = weight

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
        in if p > i64.i32 last then (-1, W.i32 0) else (p, M.dist data points[p] points[cyclic_64.next n p])
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

  -- | The largest gain, and the first move that has it; 0, 0 if none gains. Each lane has reached its largest in
  -- columns first, …, last; `place` tells, by lane and number, the positions of a column's first row and of the column.
  def first_best [n]
                 (data: M.data [n])
                 (points: [n]M.point)
                 (succ: [n]W.t)
                 (place: i32 -> i32 -> (i32, i32))
                 (found: [S.lanes](W.t, i32, i32)) : (W.t, i32, i32) =
    let (bests, firsts, lasts) = unzip3 found
    let most = reduce_comm W.max (W.i32 0) bests
    let n32 = i32.i64 n
    let next = cyclic.next n32
    let gain (i: i32) (j: i32) =
      #[unsafe]
      succ[i64.i32 i]
      W.+ succ[i64.i32 j]
      W.- M.dist data points[i64.i32 i] points[i64.i32 j]
      W.- M.dist data points[i64.i32 (next i)] points[i64.i32 (next j)]
    let first_of (l: i64) (best: W.t) (first: i32) (last: i32): i32 =
      #[unsafe]
      if best W.< most || most W.<= W.i32 0
      then i32.highest
      else let (order, _) =
             loop (order, number) = (i32.highest, first)
             while number <= last do
               let (i0, j) = place (i32.i64 l) number
               let order =
                 loop order for r < i32.i64 S.rows do
                   let i = cyclic.wrap n32 (i0 + r)
                   in if i != j && gain i j W.== most
                      then i32.min order ((i32.min i j << 16) | i32.max i j)
                      else order
               in (order, number + 1)
           in order
    let order = reduce_comm i32.min i32.highest (map4 first_of (iota S.lanes) bests firsts lasts)
    in if most W.<= W.i32 0 then (most, 0, 0) else (most, order >> 16, order & 0xffff)

  -- | The sum of the edges.
  def length [n] (succ: [n]W.t) : i64 =
    let share (l: i64) =
      #[unsafe]
      loop sum = 0i64
      for k < (i32.i64 (n - l) + lanes - 1) / lanes do
        sum + W.to_i64 succ[l + i64.i32 (k * lanes)]
    in i64.sum (map share (iota S.lanes))
}
