-- | Best-improvement 2-opt by numbers of moves or by diagonals (Utne and Hansen 2023, sections 5.2.3 and 6), one
-- climber a thread block or a thread.

import "../core/gpu_metric"
import "../core/tour"
import "../flat/two_opt"
import "climb"
import "restarts"

-- | The lanes of a climber.
module type lanes = {
  -- | The numbers of moves, and how many bits a position has in one.
  module number: integral

  val bits : number.t
  val lanes : number.t

  -- | The joint result of all lanes, by their numbers.
  val join 'a : (both: a -> a -> a) -> (none: a) -> (lane: number.t -> a) -> a
}

module mk_enumerations
  (M: gpu_metric)
  (T: tour_in_place with data [n] = M.data [n] with point = M.point with weight.t = M.weight.t)
  (L: lanes) = {
  module W = M.weight
  module I = L.number
  module C = mk_climb T

  local def zero = W.i32 0

  -- The best move: of the largest gain that a lane has found, with the smallest number that has it; or 0, 0.
  local
  def best_of (lane: I.t -> (W.t, I.t)) (pair: I.t -> (i32, i32)) : (W.t, i32, i32) =
    let better (g, k) (h, l) = if g W.> h || (g W.== h && k I.< l) then (g, k) else (h, l)
    let (most, number) = L.join better (zero, I.highest) lane
    let (i, j) = if most W.> zero then pair number else (0, 0)
    in (most, i, j)

  -- | By numbers, those of neighbouring lanes side by side. **Work:** O(n^2) a move. **Span:** O(n^2 / lanes).
  def by_pairs [n] (data: M.data [n]) (pair: i64 -> (i32, i32)) (limit: i32) (start: [n]i32) : state [n] =
    let count = I.i64 (moves n)
    let best (points: [n]M.point) (succ: [n]W.t) =
      let lane (l: I.t): (W.t, I.t) =
        #[unsafe]
        let (most, number, _) =
          loop (most, number, k) = (zero, I.highest, l)
          while k I.< count do
            let (i, j) = pair (I.to_i64 k)
            let gain =
              succ[i64.i32 i]
              W.+ succ[i64.i32 j]
              W.- M.dist data points[i64.i32 i] points[i64.i32 j]
              W.- M.dist data points[i64.i32 (i + 1)] points[i64.i32 (cyclic.next (i32.i64 n) j)]
            let wins = gain W.> most
            in (W.max gain most, if wins then k else number, k I.+ L.lanes)
        in (most, number)
      in best_of lane (\k -> pair (I.to_i64 k))
    in C.climb data best limit start

  -- | By cyclic diagonals, a distance a move. **Work:** O(n^2) a move. **Span:** O(n^2 / lanes).
  def by_diagonals [n] (data: M.data [n]) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let lanes = i32.i64 (I.to_i64 L.lanes)
    let wrap = cyclic.wrap n32
    let diagonals = i32.max 1 (n32 / 2 - 1)
    -- Each diagonal in so many parts that there is one for each lane, where that many can be had.
    let parts = (lanes + diagonals - 1) / diagonals
    let width = (n32 + parts - 1) / parts
    let best (points: [n]M.point) (succ: [n]W.t) =
      let lane (l: I.t): (W.t, I.t) =
        #[unsafe]
        let (most, order, _) =
          loop (most, order, unit) = (zero, I.highest, i32.i64 (I.to_i64 l))
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
                let here = (I.i32 (i32.min p q) I.<< L.bits) I.| I.i32 (i32.max p q)
                let order' = if gain W.> most then here else if gain W.== most then I.min here order else order
                in (W.max gain most, order', q', across')
            in (most, order, unit + lanes)
        in (most, if most W.> zero then order else I.highest)
      let position (x: I.t) = i32.i64 (I.to_i64 x)
      in best_of lane (\k -> (position (k I.>> L.bits), position (k I.& ((I.i32 1 I.<< L.bits) I.- I.i32 1))))
    in C.climb data best limit start
}

-- | One climber a thread block, of at most 32,767 cities.
module mk_block_enumerations (M: gpu_metric) (S: shape) = mk_enumerations M (mk_block_tour M S) {
  module number = i32

  def bits = 16i32
  def lanes = i32.i64 S.lanes
  def join both none lane = reduce_comm both none (map (\l -> lane (i32.i64 l)) (iota S.lanes))
}

-- | One climber a thread, in device memory.
module mk_thread_enumerations (M: gpu_metric) = mk_enumerations M (mk_thread_tour M) {
  module number = i64

  def bits = 32i64
  def lanes = 1i64
  def join _ _ lane = lane 0i64
}

-- | The distances of a matrix, copied into a block's shared memory (Utne and Hansen 2023, section 6.4).
module mk_shared_matrix (S: shape) = {
  -- | **Work:** O(n^2). `limit`, at least 0, is each climber's own, and changes nothing: it keeps the copies in the
  -- blocks, where the compiler would make one for all.
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
