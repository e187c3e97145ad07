-- | Best-improvement 2-opt, one climber a thread, which takes the moves by their numbers or by diagonals: the neighbourhoods of
-- `block_enumerations`, in device memory.

import "../core/gpu_metric"
import "../core/tour"
import "../flat/two_opt"
import "climb"
import "pairs"
import "restarts"
import "thread_tour"

module mk_thread_enumerations (M: gpu_metric) = {
  module W = M.weight
  module T = mk_thread_tour M
  module C = mk_climb T

  local def zero = W.i32 0

  -- | **Work:** O(n^2) a move. **Span:** the same.
  def by_pairs [n] (data: M.data [n]) (pair: i64 -> (i32, i32)) (limit: i32) (start: [n]i32) : state [n] =
    let best (points: [n]M.point) (succ: [n]W.t) =
      #[unsafe]
      loop (most, first, second) = (zero, 0i32, 0i32)
      for k < moves n do
        let (i, j) = pair k
        let gain =
          succ[i64.i32 i]
          W.+ succ[i64.i32 j]
          W.- M.dist data points[i64.i32 i] points[i64.i32 j]
          W.- M.dist data points[i64.i32 (i + 1)] points[i64.i32 (cyclic.next (i32.i64 n) j)]
        let wins = gain W.> most
        in (W.max gain most, if wins then i else first, if wins then j else second)
    in C.climb data best limit start

  -- | **Work:** O(n^2) a move. **Span:** the same.
  def by_diagonals [n] (data: M.data [n]) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let wrap = cyclic.wrap n32
    let best (points: [n]M.point) (succ: [n]W.t) =
      #[unsafe]
      let (most, order) =
        loop (most, order) = (zero, i64.highest)
        for e < n32 / 2 - 1 do
          let (most, order, _, _) =
            loop (most, order, q, across) = (most, order, e + 2, M.dist data points[0] points[i64.i32 (e + 2)])
            for p < n32 do
              let q' = wrap (q + 1)
              let across' = M.dist data points[i64.i32 (wrap (p + 1))] points[i64.i32 q']
              let gain = succ[i64.i32 p] W.+ succ[i64.i32 q] W.- across W.- across'
              let here = i64.i32 (i32.min p q) * n + i64.i32 (i32.max p q)
              let order' = if gain W.> most then here else if gain W.== most then i64.min here order else order
              in (W.max gain most, order', q', across')
          in (most, order)
      let (i, j) = if most W.> zero then (i32.i64 (order / n), i32.i64 (order % n)) else (0, 0)
      in (most, i, j)
    in C.climb data best limit start
}
