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
  then by_pairs (flat.pair pairs n)
  else if pairs.by == by_zipped
  then by_pairs (zipped.pair pairs n)
  else if pairs.by == by_closed_form
  then by_pairs (closed_form.pair pairs n)
  else by_diagonals ()

module mk_gpu_neighbourhoods (M: gpu_metric) = {
  module B = mk_batches blocks
  module T = mk_batches threads
  module in_block = mk_block_enumerations M enumeration_lanes
  module in_thread = mk_thread_enumerations M

  -- | Climbers with a thread block of their own go on by at most `limit` passes of one move.
  def block [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    by_enumeration pairs n (\pair -> B.on (in_block.by_pairs data pair) limit batch) (\() -> B.on (in_block.by_diagonals data) limit batch)

  -- | All distances. **Work:** O(n^2).
  def matrix [n] (data: M.data [n]) : [n][n]i32 =
    let points = tabulate n (\c -> M.point data (i32.i64 c))
    in tabulate_2d n n (\a b -> #[unsafe] i32.i64 (M.weight.to_i64 (M.dist data points[a] points[b])))

  -- | Climbers with a thread of their own.
  def thread [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    by_enumeration pairs n (\pair -> T.on (in_thread.by_pairs data pair) limit batch) (\() -> T.on (in_thread.by_diagonals data) limit batch)

  module all_together = mk_flat_two_opt (in_32_bits M)

  -- | Climbers go on together, a pass at a time, by the arrays of `flat`.
  def together [c] [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    all_together.climb_all data (pairs.firsts, pairs.seconds) limit batch
}

module fine_neighbourhoods = mk_gpu_neighbourhoods fine_grid
module plane_neighbourhoods = mk_gpu_neighbourhoods gpu_plane
module matrix_neighbourhoods = mk_gpu_neighbourhoods gpu_matrix

-- Whose distances fit a block's shared memory.
def shared_most : i64 = 100

-- | Climbers whose blocks have a copy of the distances in their shared memory.
module shared_neighbourhoods = {
  module B = mk_batches blocks
  module in_block = mk_block_enumerations gpu_matrix enumeration_lanes
  module M = mk_shared_matrix enumeration_lanes

  def block [c] [n] [m] [w] (distances: [n][n]i32) (pairs: pairs [m] [w]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    let copied = M.copied (assert (n <= shared_most) distances)
    let by_pairs pair = B.on (\limit start -> in_block.by_pairs (copied limit) pair limit start) limit batch
    let by_diagonals () = B.on (\limit start -> in_block.by_diagonals (copied limit) limit start) limit batch
    in by_enumeration pairs n by_pairs by_diagonals
}

-- A grid that is too wide for `fine_grid`, in double precision.
def plane_of [n] (instance: gpu_grid_instance [n]) : gpu_plane.data [n] =
  (map f64.f32 instance.grid.0, map f64.f32 instance.grid.1, 0)

def are_limits_by [m] [w] (n: i64) (pairs: pairs [m] [w]) (limit: i32) = are_limits 1 limit && are_pairs n pairs

-- The climbers of a batch go on by at most `limit` passes of one move; `shared`: each block has the distances in shared memory.
def climb_matrix_by_block [c] [n] [m] [w] (instance: gpu_matrix_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (shared: bool) (limit: i32) : batch [c] [n] =
  let limit = assert (are_limits_by n pairs limit && fits_a_block n) limit
  in if shared
     then shared_neighbourhoods.block instance.matrix pairs limit batch
     else matrix_neighbourhoods.block instance.matrix pairs limit batch

def climb_grid_by_block [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (shared: bool) (limit: i32) : batch [c] [n] =
  let limit = assert (are_limits_by n pairs limit && fits_a_block n) limit
  in if shared
     then shared_neighbourhoods.block (plane_neighbourhoods.matrix (plane_of instance)) pairs limit batch
     else if instance.fine
     then fine_neighbourhoods.block instance.grid pairs limit batch
     else plane_neighbourhoods.block (plane_of instance) pairs limit batch

def climb_plane_by_block [c] [n] [m] [w] (instance: gpu_plane_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (shared: bool) (limit: i32) : batch [c] [n] =
  let limit = assert (are_limits_by n pairs limit && fits_a_block n) limit
  in if shared
     then shared_neighbourhoods.block (plane_neighbourhoods.matrix instance.plane.exact) pairs limit batch
     else plane_neighbourhoods.block instance.plane.exact pairs limit batch

def climb_matrix_by_thread [c] [n] [m] [w] (instance: gpu_matrix_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  assert (are_limits_by n pairs limit) (matrix_neighbourhoods.thread instance.matrix pairs limit batch)

def climb_grid_by_thread [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  assert (are_limits_by n pairs limit) (if instance.fine
                                        then fine_neighbourhoods.thread instance.grid pairs limit batch
                                        else plane_neighbourhoods.thread (plane_of instance) pairs limit batch)

def climb_plane_by_thread [c] [n] [m] [w] (instance: gpu_plane_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  assert (are_limits_by n pairs limit) (plane_neighbourhoods.thread instance.plane.exact pairs limit batch)

def are_flat [m] [w] (n: i64) (pairs: pairs [m] [w]) (limit: i32) = are_limits_by n pairs limit && pairs.by == by_flat

-- The climbers of a batch go on together.
def climb_matrix_together [c] [n] [m] [w] (instance: gpu_matrix_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  assert (are_flat n pairs limit) (matrix_neighbourhoods.together instance.matrix pairs limit batch)

def climb_grid_together [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  assert (are_flat n pairs limit) (if instance.fine
                                   then fine_neighbourhoods.together instance.grid pairs limit batch
                                   else plane_neighbourhoods.together (plane_of instance) pairs limit batch)

def climb_plane_together [c] [n] [m] [w] (instance: gpu_plane_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  assert (are_flat n pairs limit) (plane_neighbourhoods.together instance.plane.exact pairs limit batch)
