-- | The climbers of random restarts on a GPU by `pairs`: a thread block each, a thread, or all together.

import "../core/gpu_metric"
import "../core/schedule"
import "../flat/two_opt"
import "gpu_climbs"
import "gpu_enumerations"
import "pairs"
import "restarts"

module enumeration_lanes = {def rows = 1i64 def lanes = 256i64}

-- | The distances of a GPU's metric in 32 bits.
module in_32_bits (M: gpu_metric) : distances with data [n] = M.data [n] = {
  type data [n] = M.data [n]
  type point = M.point
  def point = M.point

  #[inline]
  def dist data a b = i32.i64 (M.weight.to_i64 (M.dist data a b))
}

-- | The result by the pair of each number, or by diagonals, as the enumeration of the pairs has it.
def by_enumeration [m] [w] 'a (pairs: pairs [m] [w]) (n: i64) (by_pairs: (i64 -> (i32, i32)) -> a) (by_diagonals: () -> a) : a =
  if pairs.by == by_flat
  then by_pairs (listed_pair pairs)
  else if pairs.by == by_zipped
  then by_pairs (zipped_pair pairs)
  else if pairs.by == by_closed_form
  then by_pairs (computed_pair n)
  else by_diagonals ()

def are_limits_by [m] [w] (n: i64) (pairs: pairs [m] [w]) (limit: i32) = are_limits 1 limit && are_pairs n pairs
def are_flat [m] [w] (n: i64) (pairs: pairs [m] [w]) (limit: i32) = are_limits_by n pairs limit && pairs.by == by_flat

-- | Climbers that go on by at most `limit` passes of one move.
module mk_gpu_neighbourhoods (M: gpu_metric) = {
  module B = mk_batches blocks
  module T = mk_batches threads
  module in_block = mk_block_enumerations M enumeration_lanes
  module in_thread = mk_thread_enumerations M
  module all_together = mk_flat_two_opt (in_32_bits M)

  -- | Climbers with a thread block of their own.
  def block [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    let limit = assert (are_limits_by n pairs limit && fits_a_block n) limit
    in by_enumeration pairs n (\pair -> B.on (in_block.by_pairs data pair) limit batch) (\() -> B.on (in_block.by_diagonals data) limit batch)

  -- | Climbers with a thread of their own.
  def thread [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    let limit = assert (are_limits_by n pairs limit) limit
    in by_enumeration pairs n (\pair -> T.on (in_thread.by_pairs data pair) limit batch) (\() -> T.on (in_thread.by_diagonals data) limit batch)

  -- | Climbers go on together, a pass at a time, by the arrays of `flat`.
  def flat [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    all_together.climb_all data (pairs.firsts, pairs.seconds) (assert (are_flat n pairs limit) limit) batch
}

module fine_neighbourhoods = mk_gpu_neighbourhoods fine_grid
module plane_neighbourhoods = mk_gpu_neighbourhoods gpu_plane
module matrix_neighbourhoods = mk_gpu_neighbourhoods gpu_matrix

-- | A grid that is too wide for `fine_grid`, in double precision.
def plane_of_gpu_grid [n] (instance: gpu_grid_instance [n]) : gpu_plane.data [n] =
  (map f64.f32 instance.grid.0, map f64.f32 instance.grid.1, 0)

-- | Those of a grid, by either metric.
module grid_neighbourhoods = {
  local
  def on 'a [n] (instance: gpu_grid_instance [n]) (fine: fine_grid.data [n] -> a) (coarse: gpu_plane.data [n] -> a) : a =
    if instance.fine then fine instance.grid else coarse (plane_of_gpu_grid instance)

  def block [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    on instance (\data -> fine_neighbourhoods.block data pairs limit batch) (\data -> plane_neighbourhoods.block data pairs limit batch)

  def thread [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    on instance (\data -> fine_neighbourhoods.thread data pairs limit batch) (\data -> plane_neighbourhoods.thread data pairs limit batch)

  def flat [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    on instance (\data -> fine_neighbourhoods.flat data pairs limit batch) (\data -> plane_neighbourhoods.flat data pairs limit batch)
}

-- Whose distances fit a block's shared memory.
def shared_most : i64 = 100

-- | All distances. **Work:** O(n^2).
def distances_of [n] (data: gpu_plane.data [n]) : [n][n]i32 =
  let points = tabulate n (\c -> gpu_plane.point data (i32.i64 c))
  in tabulate_2d n n (\a b -> #[unsafe] i32.i64 (gpu_plane.weight.to_i64 (gpu_plane.dist data points[a] points[b])))

-- | Climbers whose blocks have a copy of the distances in their shared memory.
module shared_neighbourhoods = {
  module B = mk_batches blocks
  module in_block = mk_block_enumerations gpu_matrix enumeration_lanes
  module M = mk_shared_matrix enumeration_lanes

  def block [c] [n] [m] [w] (distances: [n][n]i32) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    let copied = M.copied (assert (are_limits_by n pairs limit && fits_a_block n && n <= shared_most) distances)
    let by_pairs pair = B.on (\limit start -> in_block.by_pairs (copied limit) pair limit start) limit batch
    let by_diagonals () = B.on (\limit start -> in_block.by_diagonals (copied limit) limit start) limit batch
    in by_enumeration pairs n by_pairs by_diagonals
}
