-- | The climbers of random restarts on a CPU: best-improvement 2-opt, or up to k moves a pass.

import "../core/metric"
import "../core/schedule"
import "../core/tour"
import "../flat/two_opt"
import "diagonals"
import "k_swap"
import "pairs"
import "restarts"

-- | Best-improvement 2-opt, one move after the other. **Work:** O(n^2) a pass.
module mk_climber (M: metric) = {
  module D = mk_diagonals M
  module L = mk_length M
  type~ data [n] = M.data [n]

  -- | The best move by numbers of pairs, by another enumeration than `flat/two_opt.fut`. **Span:** O(log n).
  def best_by [n] (data: data [n]) (pair: i64 -> (i32, i32)) (tour: [n]M.point) : move i32 =
    let next = cyclic_64.next n
    let succ = map (\p -> M.dist data tour[p] tour[next p]) (iota n)
    let gain (k: i64) =
      let (i, j) = pair k
      let (i, j) = (i64.i32 i, i64.i32 j)
      in #[unsafe]
         succ[i]
         + succ[j]
         - M.dist data tour[i] tour[j]
         - M.dist data tour[i + 1] tour[next j]
    let better (g, k) (h, l) = if g > h || (g == h && k < l) then (g, k) else (h, l)
    let (g, k) =
      reduce_comm better (0, i64.highest) (map (\k -> (gain k, k)) (iota (moves n)))
    let (i, j) = if g > 0 then pair k else (0, 0)
    in {gain = g, i, j}

  -- | A climber by its best moves.
  def climb_by [n] (data: data [n]) (best: [n]M.point -> move i32) (limit: i32) (start: [n]i32) : state [n] =
    let (tour, passes, done) =
      loop (tour, passes, done) = (map (M.point data) start, 0, false)
      while !done && passes < limit do
        let move = best tour
        let tour =
          map (\p -> #[unsafe] tour[i64.i32 (reversal move.i move.j (i32.i64 p))]) (iota n)
        in (tour, passes + 1, move.gain == 0)
    in { tour = map M.city tour
       , length = L.line_length data tour
       , steps = passes - i32.bool done
       , passes
       , done
       }

  -- | The same along diagonals, with one move a pass, whatever k is.
  def climb [n] (data: data [n]) (_: i32) (limit: i32) (start: [n]i32) : state [n] =
    climb_by data (D.best data) limit start
}

module mk_cpu_climbs (M: metric) = {
  module climber = mk_climber M
  module one_move = mk_restarts climber automatic
  module k_moves = mk_restarts (mk_k_swap_climber M) automatic

  -- | The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
  def climb [c] [n] (data: M.data [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
    assert (are_limits k limit) (if k == 1 then one_move.climb data k limit batch else k_moves.climb data k limit batch)

  module B = mk_batches cores
  module flat_two_opt = mk_flat_two_opt M

  -- | The same, with one move a pass, by an enumeration of all pairs; `climb` goes by diagonals.
  #[noinline]
  def climb_by [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
    let limit = assert (are_limits 1 limit && are_pairs n pairs && pairs.by != by_diagonals) limit
    let by pair = B.on (climber.climb_by data (climber.best_by data pair)) limit batch
    in if pairs.by == by_flat
       then B.on (flat_two_opt.climb data (pairs.firsts, pairs.seconds)) limit batch
       else if pairs.by == by_zipped
       then by (zipped_pair pairs)
       else by (computed_pair n)
}
