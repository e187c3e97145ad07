-- | The entry points of the c and multicore backends: instantiate, check, convert.
--
-- Distances come in three forms, and each entry point on distances exists once a form: `matrix` (any metric), `grid`
-- (EUC_2D of small whole coordinates) and `plane` (EUC_2D and CEIL_2D of any coordinates).

import "climber"
import "metric"
import "restarts"
import "tour"
import "two_opt"

module matrix_climber = mk_climber matrix (diagonals matrix)
module matrix_restarts = mk_restarts matrix_climber anyhow
module grid_climber = mk_climber grid (diagonals grid)
module grid_restarts = mk_restarts grid_climber anyhow
module plane_climber = mk_climber plane (diagonals plane)
module plane_restarts = mk_restarts plane_climber anyhow

-- An instance on the device.
type matrix_instance [n] = {matrix: matrix.data [n]}
type grid_instance [n] = {grid: grid.data [n]}
type plane_instance [n] = {plane: plane.data [n]}

def fits_32_bits (n: i64) = n >= 1 && n <= i64.i32 i32.highest
def are_climbers (first: i64) (count: i64) = first >= 0 && count >= 1

entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] =
  assert (fits_32_bits n) {matrix = distances}

entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] =
  assert (fits_32_bits n) {grid = (xs, ys)}

entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] =
  assert (fits_32_bits n) {plane = (xs, ys, f64.bool up)}

-- Climbers first, …, first + count - 1 of a seed, at most `limit` moves each.
entry matrix_start [n] (instance: matrix_instance [n]) (seed: u64) (first: i64) (count: i64) (limit: i32) : batch [count] [n] =
  assert (are_climbers first count) (matrix_restarts.start instance.matrix seed first count limit)

entry grid_start [n] (instance: grid_instance [n]) (seed: u64) (first: i64) (count: i64) (limit: i32) : batch [count] [n] =
  assert (are_climbers first count) (grid_restarts.start instance.grid seed first count limit)

entry plane_start [n] (instance: plane_instance [n]) (seed: u64) (first: i64) (count: i64) (limit: i32) : batch [count] [n] =
  assert (are_climbers first count) (plane_restarts.start instance.plane seed first count limit)

-- A batch of climbers goes on from where it stands.
entry matrix_continue [c] [n] (instance: matrix_instance [n]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  matrix_restarts.continue instance.matrix batch limit

entry grid_continue [c] [n] (instance: grid_instance [n]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  grid_restarts.continue instance.grid batch limit

entry plane_continue [c] [n] (instance: plane_instance [n]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
  plane_restarts.continue instance.plane batch limit

-- One step of a climber: the gain and the positions of the best move.
entry matrix_best_move [n] (instance: matrix_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (matrix_climber.best_move instance.matrix tour)

entry grid_best_move [n] (instance: grid_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (grid_climber.best_move instance.grid tour)

entry plane_best_move [n] (instance: plane_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (plane_climber.best_move instance.plane tour)

-- What a batch has found so far.
entry batch_lengths [c] [n] (batch: batch [c] [n]) : [c]i64 = batch.lengths
entry batch_steps [c] [n] (batch: batch [c] [n]) : [c]i32 = batch.steps
entry batch_done [c] [n] (batch: batch [c] [n]) : [c]bool = batch.done
entry batch_best [c] [n] (batch: batch [c] [n]) : i64 = best batch

entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < c) (copy batch.tours[place])

-- The random tours of climbers first, …, first + count - 1.
entry random_tours (n: i64) (seed: u64) (first: i64) (count: i64) : [count][n]i32 =
  assert (fits_32_bits n && are_climbers first count) (map (\c -> random_tour n seed (first + c)) (iota count))

-- Fails for a negative number: how an error inside a kernel surfaces can be seen, and tested, by it.
entry debug_fail (x: i32) : i32 = assert (x >= 0) x
entry debug_sum [n] (xs: [n]i32) : i64 = i64.sum (map i64.i32 xs)
