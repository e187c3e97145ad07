-- | Tests of `gpu_enumerations`: their climbers end where those of a CPU do.

import "../core/gpu_metric"
import "../core/metric"
import "../core/schedule"
import "../core/testing"
import "cpu_climbs"
import "gpu_enumerations"
import "pairs"
import "restarts"
import "testing"

module tiny = {def rows = 1i64 def lanes = 3i64}
module large = {def rows = 1i64 def lanes = 64i64}
module of_grid = mk_restarts (mk_climber grid) automatic
module fine_tiny = mk_block_enumerations fine_grid tiny
module fine_large = mk_block_enumerations fine_grid large
module fine_thread = mk_thread_enumerations fine_grid
module of_matrix = mk_restarts (mk_climber matrix) automatic
module matrix_large = mk_block_enumerations gpu_matrix large
module shared = mk_shared_matrix large
module in_blocks = mk_batches blocks
module in_threads = mk_batches threads

-- Fewer lanes than moves, and more; few cities, whose diagonals are cut into parts.
-- ==
-- entry: enumerations_end_where_a_cpu_does
-- input { 1i64 13i64 4i32 } output { true }
-- input { 24i64 26i64 20i32 } output { true }
-- input { 61i64 62i64 1000i32 } output { true }
entry enumerations_end_where_a_cpu_does (least: i64) (most: i64) (bound: i32) : bool =
  let good n =
    let (xs, ys) = random_grid n bound
    let data = (map f32.i32 xs, map f32.i32 ys)
    let start = random_batch n 6 0 5
    let batch = of_grid.climb (xs, ys) 1 unlimited start
    let listed = pairs_of n by_flat
    let words = pairs_of n by_zipped
    in [ equal batch (in_blocks.on (fine_tiny.by_pairs data (listed_pair listed)) unlimited start)
       , equal batch (in_blocks.on (fine_large.by_pairs data (zipped_pair words)) unlimited start)
       , equal batch (in_blocks.on (fine_large.by_pairs data (computed_pair n)) unlimited start)
       , equal batch (in_blocks.on (fine_tiny.by_diagonals data) unlimited start)
       , equal batch (in_blocks.on (fine_large.by_diagonals data) unlimited start)
       , equal batch (in_threads.on (fine_thread.by_pairs data (listed_pair listed)) unlimited start)
       , equal batch (in_threads.on (fine_thread.by_diagonals data) unlimited start)
       ]
  in map good (least...most) |> map and |> and

-- With a copy of the distances in each block.
-- ==
-- entry: copied_distances_change_nothing
-- input { 5i64 } output { true }
-- input { 24i64 } output { true }
-- input { 100i64 } output { true }
entry copied_distances_change_nothing (n: i64) : bool =
  let (xs, ys) = random_grid n 1000
  let points = map (grid.point (xs, ys)) (map i32.i64 (iota n))
  let distances = map (\p -> map (grid.dist (xs, ys) p) points) points
  let start = random_batch n 7 0 4
  let climb limit = matrix_large.by_pairs (shared.copied distances limit) (computed_pair n) limit
  in and (map2 (\x y -> and (map2 (==) x y)) (shared.copied distances 0) distances)
     && equal (of_matrix.climb distances 1 unlimited start) (in_blocks.on climb unlimited start)
