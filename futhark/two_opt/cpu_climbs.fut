-- | The climbers of random restarts on a CPU: best-improvement 2-opt, or up to k moves a pass.

import "../core/metric"
import "../core/schedule"
import "climber"
import "enumerations"
import "k_swap"
import "restarts"

module mk_cpu_climbs (M: metric) = {
  module climber = mk_climber M (diagonals M)
  module one_move = mk_restarts climber automatic
  module k_moves = mk_restarts (mk_k_swap_climber M) automatic

  -- | The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
  def climb [c] [n] (data: M.data [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
    assert (are_limits k limit) (if k == 1 then one_move.climb data k limit batch else k_moves.climb data k limit batch)
}
