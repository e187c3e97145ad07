-- | The climbers of random restarts on a CPU: best-improvement 2-opt, or up to k moves a pass.

import "../core/metric"
import "../core/schedule"
import "../flat/two_opt"
import "climber"
import "enumerations"
import "k_swap"
import "pairs"
import "restarts"

module mk_cpu_climbs (M: metric) = {
  module climber = mk_climber M (diagonals M)
  module one_move = mk_restarts climber automatic
  module k_moves = mk_restarts (mk_k_swap_climber M) automatic

  -- | The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
  def climb [c] [n] (data: M.data [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
    assert (are_limits k limit) (if k == 1 then one_move.climb data k limit batch else k_moves.climb data k limit batch)

  module B = mk_batches cores
  module flat_two_opt = mk_flat_two_opt M
  module zipped_climber = mk_climber M (numbered M zipped)
  module closed_form_climber = mk_climber M (numbered M closed_form)

  -- | The same, with one move a pass, by an enumeration of all pairs; `climb` goes by diagonals.
  #[noinline]
  def climb_by [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
    let limit = assert (are_limits 1 limit && are_pairs n pairs && pairs.by != by_diagonals) limit
    in if pairs.by == by_flat
       then B.on (flat_two_opt.climb data (pairs.firsts, pairs.seconds)) limit batch
       else if pairs.by == by_zipped
       then B.on (zipped_climber.climb_by data pairs) limit batch
       else B.on (closed_form_climber.climb_by data pairs) limit batch
}
