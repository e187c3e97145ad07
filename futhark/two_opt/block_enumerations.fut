-- | Best-improvement 2-opt, one climber a thread block, whose lanes share the moves out by their numbers or by diagonals
-- (Utne and Hansen 2023, sections 5.2.3 and 6): what `tiles` is to be compared with.

import "../core/gpu_metric"
import "../core/tour"
import "../flat/two_opt"
import "block_tour"
import "climb"
import "pairs"
import "restarts"

module mk_block_enumerations (M: gpu_metric) (S: shape) = {
  module W = M.weight
  module T = mk_block_tour M S
  module C = mk_climb T

  local def lanes = i32.i64 S.lanes
  local def zero = W.i32 0

  local
  -- | What lanes have found, each its largest gain and the smallest number of a move that has it: the best move, or 0, 0.
  def first_of (found: [S.lanes](W.t, i32)) (pair: i32 -> (i32, i32)) : (W.t, i32, i32) =
    let better (g, k) (h, l) = if g W.> h || (g W.== h && k < l) then (g, k) else (h, l)
    let (most, number) = reduce_comm better (zero, i32.highest) found
    let (i, j) = if most W.> zero then pair number else (0, 0)
    in (most, i, j)

  -- | Lanes that work side by side take moves with numbers side by side.
  --
  -- **Work:** O(n^2) a move. **Span:** O(n^2 / lanes).
  def by_pairs [n] (data: M.data [n]) (pair: i64 -> (i32, i32)) (limit: i32) (start: [n]i32) : state [n] =
    let count = i32.i64 (moves n)
    let best (points: [n]M.point) (succ: [n]W.t) =
      let lane (l: i64): (W.t, i32) =
        #[unsafe]
        let (most, number, _) =
          loop (most, number, k) = (zero, i32.highest, i32.i64 l)
          while k < count do
            let (i, j) = pair (i64.i32 k)
            let gain =
              succ[i64.i32 i]
              W.+ succ[i64.i32 j]
              W.- M.dist data points[i64.i32 i] points[i64.i32 j]
              W.- M.dist data points[i64.i32 (i + 1)] points[i64.i32 (cyclic.next (i32.i64 n) j)]
            let wins = gain W.> most
            in (W.max gain most, if wins then k else number, k + lanes)
        in (most, number)
      in first_of (map lane (iota S.lanes)) (\k -> pair (i64.i32 k))
    in C.climb data best limit start

  -- | The moves are walked along the cyclic diagonals j = i + d, as by `enumerations.diagonals`: neighbours on a diagonal share
  -- a distance. Lanes that work side by side walk on diagonals side by side.
  --
  -- **Work:** O(n^2) a move. **Span:** O(n^2 / lanes).
  def by_diagonals [n] (data: M.data [n]) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let wrap = cyclic.wrap n32
    let diagonals = i32.max 1 (n32 / 2 - 1)
    -- Each diagonal in so many parts that there is one for each lane, where that many can be had.
    let parts = (lanes + diagonals - 1) / diagonals
    let width = (n32 + parts - 1) / parts
    let best (points: [n]M.point) (succ: [n]W.t) =
      let lane (l: i64): (W.t, i32) =
        #[unsafe]
        let (most, order, _) =
          loop (most, order, unit) = (zero, i32.highest, i32.i64 l)
          while unit < (if n32 < 4 then 0 else diagonals * parts) do
            let first = unit / diagonals * width
            let d = unit % diagonals + 2
            let q = wrap (i32.min (n32 - 1) first + d)
            let across = M.dist data points[i64.i32 (i32.min (n32 - 1) first)] points[i64.i32 q]
            let (most, order, _, _) =
              loop (most, order, q, across) = (most, order, q, across)
              for l < i32.min width (n32 - first) do
                let p = first + l
                let q' = wrap (q + 1)
                let across' = M.dist data points[i64.i32 (wrap (p + 1))] points[i64.i32 q']
                let gain = succ[i64.i32 p] W.+ succ[i64.i32 q] W.- across W.- across'
                let here = (i32.min p q << 16) | i32.max p q
                let order' = if gain W.> most then here else if gain W.== most then i32.min here order else order
                in (W.max gain most, order', q', across')
            in (most, order, unit + lanes)
        in (most, if most W.> zero then order else i32.highest)
      in first_of (map lane (iota S.lanes)) (\order -> (order >> 16, order & 0xffff))
    in C.climb data best limit start
}

-- | The distances of a matrix, copied into a block's shared memory (Utne and Hansen 2023, section 6.4).
module mk_shared_matrix (S: shape) = {
  -- | **Work:** O(n^2). `limit`, at least 0, is each climber's own, and changes nothing: it keeps the copies in the blocks, where the
  -- compiler would make one for all.
  def copied [n] (distances: [n][n]i32) (limit: i32) : *[n][n]i32 =
    let nothing = i32.min 0 limit
    let flat =
      loop flat: *[n * n]i32 = replicate (n * n) nothing
      for k < (n * n + S.lanes - 1) / S.lanes do
        let places = map (\l -> k * S.lanes + l) (iota S.lanes)
        let distance (place: i64) =
          let place = i64.min place (n * n - 1)
          in #[unsafe] distances[place / n, place % n] + nothing
        in scatter flat places (map distance places)
    in unflatten flat
}
