-- | The entry points of the cuda and opencl backends for random restarts by the neighbourhoods of Utne and Hansen (2023): those of
-- `gpu_restarts`, where climbers go on by pairs that were made before.

import "../core/tour"
import "../two_opt/gpu_climbs"
import "../two_opt/gpu_neighbourhoods"
import "../two_opt/pairs"
import "../two_opt/restarts"

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : gpu_matrix_instance [n] = gpu_load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : gpu_grid_instance [n] = gpu_load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : gpu_plane_instance [n] = gpu_load_plane xs ys up

-- The moves of n cities: 0, in two arrays; 1, zipped in one; 2, computed from their numbers; 3, by diagonals.
entry pairs_of (n: i64) (by: i32) : ?[m][w].pairs [m] [w] = pairs_of n by

-- The climbers of a batch go on from where they stand, by at most `limit` passes of one move; `shared`: with the distances of up to
-- 100 cities in each block's shared memory.
entry matrix_climb_by_block [c] [n] [m] [w] (instance: gpu_matrix_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (shared: bool) (limit: i32) : batch [c] [n] = climb_matrix_by_block instance pairs batch shared limit
entry grid_climb_by_block [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (shared: bool) (limit: i32) : batch [c] [n] = climb_grid_by_block instance pairs batch shared limit
entry plane_climb_by_block [c] [n] [m] [w] (instance: gpu_plane_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (shared: bool) (limit: i32) : batch [c] [n] = climb_plane_by_block instance pairs batch shared limit
entry matrix_climb_by_thread [c] [n] [m] [w] (instance: gpu_matrix_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = climb_matrix_by_thread instance pairs batch limit
entry grid_climb_by_thread [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = climb_grid_by_thread instance pairs batch limit
entry plane_climb_by_thread [c] [n] [m] [w] (instance: gpu_plane_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = climb_plane_by_thread instance pairs batch limit

-- The same by the arrays of number 0, all climbers together.
entry matrix_climb_by_flat [c] [n] [m] [w] (instance: gpu_matrix_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = climb_matrix_together instance pairs batch limit
entry grid_climb_by_flat [c] [n] [m] [w] (instance: gpu_grid_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = climb_grid_together instance pairs batch limit
entry plane_climb_by_flat [c] [n] [m] [w] (instance: gpu_plane_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = climb_plane_together instance pairs batch limit

-- Climbers first, …, first + count - 1 of a seed on their random tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] = random_batch n seed first count

-- What a batch has found so far: lengths, steps, passes, and which climbers are done.
entry batch_found [c] [n] (batch: batch [c] [n]) : ([c]i64, [c]i32, [c]i32, [c]bool) = (batch.lengths, batch.steps, batch.passes, batch.done)
entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 = tour_at batch.tours place
