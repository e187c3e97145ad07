-- | 2-opt with up to k moves a pass, one climber a thread, in device memory (O'Neil, Tamir, Burtscher 2011: k = 1).

import "../core/gpu_metric"
import "../core/tour"
import "climb"
import "proposals"
import "restarts"

module mk_thread_climber (M: gpu_metric) : climber with data [n] = M.data [n] = {
  module W = M.weight
  module tiling = {def rows = 8i64}
  module P = mk_proposals M tiling
  module C = mk_climb (mk_thread_tour M)
  type~ data [n] = M.data [n]

  -- **Work:** O(n^2) a pass, and O(n) a move. **Span:** the same.
  def climb [n] (data: data [n]) (k: i32) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let rows = i32.i64 tiling.rows
    let zero = W.i32 0
    let next = cyclic.next n32
    -- A tour of few cities has no whole tile: then each edge looks at the others one by one.
    let tiles = if n32 < 3 * rows then 0 else (n32 + rows - 1) / rows
    let propose (points: [n]M.point) (succ: [n]W.t) (gains: *[n]W.t) (qs: *[n]i32): (*[n]W.t, *[n]i32) =
      #[unsafe]
      let (gains, qs) =
        loop (gains: *[n]W.t, qs: *[n]i32) = (gains, qs)
        for tile < tiles do
          let (bests, at) = P.propose data points succ (tile * rows)
          in loop (gains: *[n]W.t, qs: *[n]i32) = (gains, qs)
             for r < i32.min rows (n32 - tile * rows) do
               let p = i64.i32 (tile * rows + r)
               in (gains with [p] = bests[i64.i32 r], qs with [p] = at[i64.i32 r])
      in loop (gains: *[n]W.t, qs: *[n]i32) = (gains, qs)
         for p < (if tiles == 0 then n32 else 0) do
           let (best, at) =
             loop (best, at) = (zero, 0)
             for e < n32 / 2 - 1 do
               let q = cyclic.wrap n32 (p + e + 2)
               let gain =
                 succ[i64.i32 p]
                 W.+ succ[i64.i32 q]
                 W.- M.dist data points[i64.i32 p] points[i64.i32 q]
                 W.- M.dist data points[i64.i32 (next p)] points[i64.i32 (next q)]
               in if gain W.> best || (gain W.== best && q < at) then (gain, q) else (best, at)
           in (gains with [i64.i32 p] = best, qs with [i64.i32 p] = at)
    let best (gains: [n]W.t) (qs: [n]i32) =
      #[unsafe]
      loop (most, i, j) = (zero, 0i32, 0i32)
      for p < n32 do
        let gain = copy gains[i64.i32 p]
        let a = i32.min p qs[i64.i32 p]
        let b = i32.max p qs[i64.i32 p]
        in if gain W.> most
           || (gain W.== most && gain W.> zero && (a < i || (a == i && b < j)))
           then (gain, a, b)
           else (most, i, j)
    let forget (gains: *[n]W.t) (qs: [n]i32) (i: i32) (j: i32): *[n]W.t =
      #[unsafe]
      loop gains: *[n]W.t = gains
      for p < n32 do
        let q = qs[i64.i32 p]
        let gone = i32.min p q <= j && i <= i32.max p q
        in gains with [i64.i32 p] = copy (if gone then zero else gains[i64.i32 p])
    in C.climb_many data propose best forget k limit start
}
