-- | The entry points of the c and multicore backends: instantiate, check, convert.
--
-- Distances come in three forms, and each entry point on distances exists once a form: `matrix` (any metric), `grid`
-- (EUC_2D of small whole coordinates) and `plane` (EUC_2D and CEIL_2D of any coordinates).

import "climber"
import "k_swap"
import "metric"
import "restarts"
import "tour"
import "two_opt"

module matrix_climber = mk_climber matrix (diagonals matrix)
module matrix_restarts = mk_restarts matrix_climber anyhow
module matrix_k_swap = mk_restarts (mk_k_swap_climber matrix) anyhow
module grid_climber = mk_climber grid (diagonals grid)
module grid_restarts = mk_restarts grid_climber anyhow
module grid_k_swap = mk_restarts (mk_k_swap_climber grid) anyhow
module plane_climber = mk_climber plane (diagonals plane)
module plane_restarts = mk_restarts plane_climber anyhow
module plane_k_swap = mk_restarts (mk_k_swap_climber plane) anyhow

-- An instance on the device.
type matrix_instance [n] = {matrix: matrix.data [n]}
type grid_instance [n] = {grid: grid.data [n]}
type plane_instance [n] = {plane: plane.data [n]}

def fits_32_bits (n: i64) = n >= 1 && n <= i64.i32 i32.highest
def are_climbers (first: i64) (count: i64) = first >= 0 && count >= 1
def are_limits (k: i32) (limit: i32) = k >= 1 && limit >= 0

entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] =
  assert (fits_32_bits n) {matrix = distances}

entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] =
  assert (fits_32_bits n) {grid = (xs, ys)}

entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] =
  assert (fits_32_bits n) {plane = (xs, ys, f64.bool up)}

-- The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
entry matrix_climb [c] [n] (instance: matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if k == 1
                               then matrix_restarts.climb instance.matrix k limit batch
                               else matrix_k_swap.climb instance.matrix k limit batch)

entry grid_climb [c] [n] (instance: grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if k == 1
                               then grid_restarts.climb instance.grid k limit batch
                               else grid_k_swap.climb instance.grid k limit batch)

entry plane_climb [c] [n] (instance: plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if k == 1
                               then plane_restarts.climb instance.plane k limit batch
                               else plane_k_swap.climb instance.plane k limit batch)

-- One step of a climber: the gain and the positions of the best move.
entry matrix_best_move [n] (instance: matrix_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (matrix_climber.best_move instance.matrix tour)

entry grid_best_move [n] (instance: grid_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (grid_climber.best_move instance.grid tour)

entry plane_best_move [n] (instance: plane_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (plane_climber.best_move instance.plane tour)

-- The climbers first, …, first + count - 1 of a seed on their random tours, or climbers on given tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] =
  assert (fits_32_bits n && are_climbers first count) (random_batch n seed first count)

entry batch_given [c] [n] (tours: [c][n]i32) : batch [c] [n] =
  assert (fits_32_bits n && all is_tour tours) (batch_on tours)

-- What a batch has found so far.
entry batch_tours [c] [n] (batch: batch [c] [n]) : [c][n]i32 = batch.tours
entry batch_lengths [c] [n] (batch: batch [c] [n]) : [c]i64 = batch.lengths
entry batch_steps [c] [n] (batch: batch [c] [n]) : [c]i32 = batch.steps
entry batch_passes [c] [n] (batch: batch [c] [n]) : [c]i32 = batch.passes
entry batch_done [c] [n] (batch: batch [c] [n]) : [c]bool = batch.done
entry batch_best [c] [n] (batch: batch [c] [n]) : i64 = best batch

entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < c) (copy batch.tours[place])

-- The random tours of climbers first, …, first + count - 1.
entry random_tours (n: i64) (seed: u64) (first: i64) (count: i64) : [count][n]i32 =
  assert (fits_32_bits n && are_climbers first count) (random_batch n seed first count).tours

-- Fails for a negative number: how an error inside a kernel surfaces can be seen, and tested, by it.
entry debug_fail (x: i32) : i32 = assert (x >= 0) x
entry debug_sum [n] (xs: [n]i32) : i64 = i64.sum (map i64.i32 xs)
