-- | 2-opt with up to k moves a pass (Robinson, Vrbsky, Hong, Eddy 2018), one climber a thread block.

import "../core/gpu_metric"
import "climb"
import "proposals"
import "restarts"

module mk_block_k_swap_climber (M: gpu_metric) (S: shape) : climber with data [n] = M.data [n] = {
  module W = M.weight
  module T = mk_block_tour M S
  module C = mk_climb T
  module P = mk_proposals M S
  type~ data [n] = M.data [n]

  def rows = i32.i64 S.rows
  def lanes = i32.i64 S.lanes

  -- The best of two moves; positions i and j break ties.
  def better (g: W.t, i: i32, j: i32) (h: W.t, k: i32, l: i32) : (W.t, i32, i32) =
    if g W.> h || (g W.== h && (i < k || (i == k && j <= l))) then (g, i, j) else (h, k, l)

  -- **Work:** O(n^2) a pass, and O(n) a move. **Span:** O(n^2 / lanes) a pass, and O(n / lanes) a move.
  def climb [n] (data: data [n]) (k: i32) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let zero = W.i32 0
    let none = (zero, i32.highest, i32.highest)
    let tiles = (n32 + rows - 1) / rows
    -- Every lane takes a tile.
    let propose (points: [n]M.point) (succ: [n]W.t) (gains: *[n]W.t) (qs: *[n]i32): (*[n]W.t, *[n]i32) =
      loop (gains: *[n]W.t, qs: *[n]i32) = (gains, qs)
      for round < (tiles + lanes - 1) / lanes do
        let tile (l: i64) = round * lanes + i32.i64 l
        let propose (l: i64) =
          if tile l < tiles
          then P.propose data points succ (tile l * rows)
          else (replicate S.rows zero, replicate S.rows 0)
        let (bests, at) = #[unsafe] unzip (map propose (iota S.lanes))
        in loop (gains: *[n]W.t, qs: *[n]i32) = (gains, qs)
           for r < S.rows do
             let ps = map (\l -> i64.i32 (tile l * rows) + r) (iota S.lanes)
             in #[unsafe] (scatter gains ps bests[:, r], scatter qs ps at[:, r])
    let best (gains: [n]W.t) (qs: [n]i32) =
      let share (l: i64) =
        #[unsafe]
        loop best = none
        for u < (n32 - i32.i64 l + lanes - 1) / lanes do
          let p = i32.i64 l + u * lanes
          let q = qs[i64.i32 p]
          let gain = copy gains[i64.i32 p]
          in if gain W.<= zero then best else better best (gain, i32.min p q, i32.max p q)
      let (most, i, j) = reduce_comm better none (map share (iota S.lanes))
      in if most W.> zero then (most, i, j) else (most, 0, 0)
    let forget (gains: *[n]W.t) (qs: [n]i32) (i: i32) (j: i32): *[n]W.t =
      loop gains: *[n]W.t = gains
      for u < (n32 + lanes - 1) / lanes do
        let gone (l: i64) =
          #[unsafe]
          let p = u * lanes + i32.i64 l
          let q = if p < n32 then qs[i64.i32 p] else 0
          in if p < n32 && i32.min p q <= j && i <= i32.max p q then i64.i32 p else -1
        in scatter gains (map gone (iota S.lanes)) (replicate S.lanes zero)
    in C.climb_many data propose best forget k limit start
}
