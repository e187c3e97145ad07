-- | The entry points of the cuda and opencl backends for random restarts and one large tour: those of `cpu.fut`, where a
-- climber has a thread block of its own (`…_climb_block`) or a thread (`…_climb_thread`).

import "../core/tour"
import "../two_opt/descent"
import "../two_opt/gpu_climbs"
import "../two_opt/gpu_descents"
import "../two_opt/restarts"
import "../two_opt/screen"

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : gpu_matrix_instance [n] = gpu_load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : gpu_grid_instance [n] = gpu_load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : gpu_plane_instance [n] = gpu_load_plane xs ys up

-- The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
entry matrix_climb_block [c] [n] (instance: gpu_matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = climb_matrix_block instance batch k limit
entry grid_climb_block [c] [n] (instance: gpu_grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = climb_grid_block instance batch k limit
entry plane_climb_block [c] [n] (instance: gpu_plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = climb_plane_block instance batch k limit
entry matrix_climb_thread [c] [n] (instance: gpu_matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = climb_matrix_thread instance batch k limit
entry grid_climb_thread [c] [n] (instance: gpu_grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = climb_grid_thread instance batch k limit
entry plane_climb_thread [c] [n] (instance: gpu_plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = climb_plane_thread instance batch k limit

-- Climbers first, …, first + count - 1 of a seed on their random tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] = random_batch n seed first count

-- What a batch has found so far: lengths, steps, passes, and which climbers are done.
entry batch_found [c] [n] (batch: batch [c] [n]) : ([c]i64, [c]i32, [c]i32, [c]bool) = (batch.lengths, batch.steps, batch.passes, batch.done)
entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 = tour_at batch.tours place

-- One tour on its way to a local optimum, from a given tour; a grid is loaded as a plane. `…_descend` makes whole passes of one move each. A pass of at most
-- k moves is made by `…_scan`, all diagonals once, in one call or several, and `descent_turn`.
entry descent_given [n] (tour: [n]i32) : descent [n] = given_descent tour
entry matrix_descend [n] (instance: gpu_matrix_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] = gpu_matrix_descent.descend instance.matrix descent limit
entry plane_descend [n] (instance: gpu_plane_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] = gpu_plane_descent.descend (screened instance.plane) descent limit
entry matrix_scan [n] (instance: gpu_matrix_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] = gpu_matrix_descent.scan instance.matrix descent k from to
entry plane_scan [n] (instance: gpu_plane_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] = gpu_plane_descent.scan (screened instance.plane) descent k from to
entry descent_turn [n] (descent: descent [n]) (k: i32) : descent [n] = turn k descent

-- Where a tour stands: itself; and by how much it has become shorter, its moves, its passes, and 1 where it is done.
entry descent_tour [n] (descent: descent [n]) : [n]i32 = descent.tour
entry descent_counts [n] (descent: descent [n]) : [4]i64 = counts_of descent
