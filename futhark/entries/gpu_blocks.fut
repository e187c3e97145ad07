-- | The entry points of the cuda and opencl backends for random restarts by a fixed number of thread blocks, whose lanes and
-- rows are chosen: those of `gpu_restarts.fut`, but for `…_climb_blocks`.

import "../core/any_plane"
import "../core/gpu_metric"
import "../core/tour"
import "../two_opt/fixed_blocks"
import "../two_opt/gpu_climbs"
import "../two_opt/restarts"

module grid_blocks = mk_shaped_blocks coarse_grid
module plane_blocks = mk_shaped_blocks any_plane
module matrix_blocks = mk_shaped_blocks gpu_matrix

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : gpu_matrix_instance [n] = gpu_load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : gpu_grid_instance [n] = gpu_load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : gpu_plane_instance [n] = gpu_load_plane xs ys up

-- The climbers of a batch go on from where they stand, by at most `limit` passes a block, of at most `k` moves; each of
-- `blocks` thread blocks of so many lanes and rows takes its next climber when one is done. With 0 each climber has its own.
entry matrix_climb_blocks [c] [n] (instance: gpu_matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) (blocks: i64) (lanes: i64) (rows: i64) : batch [c] [n] = matrix_blocks.climb instance.matrix batch k limit blocks lanes rows
entry grid_climb_blocks [c] [n] (instance: gpu_grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) (blocks: i64) (lanes: i64) (rows: i64) : batch [c] [n] = grid_blocks.climb instance.grid batch k limit blocks lanes rows
entry plane_climb_blocks [c] [n] (instance: gpu_plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) (blocks: i64) (lanes: i64) (rows: i64) : batch [c] [n] = plane_blocks.climb instance.plane batch k limit blocks lanes rows

-- Climbers first, …, first + count - 1 of a seed on their random tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] = random_batch n seed first count

-- What a batch has found so far: lengths, steps, passes, and which climbers are done.
entry batch_found [c] [n] (batch: batch [c] [n]) : ([c]i64, [c]i32, [c]i32, [c]bool) = (batch.lengths, batch.steps, batch.passes, batch.done)
entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 = tour_at batch.tours place
