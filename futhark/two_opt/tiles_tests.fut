-- | Tests of `tiles`: its climbers make the moves of the CPU's, in blocks of several shapes.

import "../core/gpu_metric"
import "../core/metric"
import "../core/schedule"
import "../core/testing"
import "cpu_climbs"
import "restarts"
import "testing"
import "tiles"

-- Few lanes go several rounds; many lanes cut the columns into chunks, or have nothing to do.
module tiny = {def rows = 3i64 def lanes = 4i64}
module medium = {def rows = 7i64 def lanes = 64i64}
module large = {def rows = 11i64 def lanes = 128i64}

module of_grid = mk_restarts (mk_climber grid) automatic
module fine_tiny = mk_restarts (mk_block_climber fine_grid tiny) blocks
module fine_medium = mk_restarts (mk_block_climber fine_grid medium) blocks
module fine_large = mk_restarts (mk_block_climber fine_grid large) blocks
module coarse_medium = mk_restarts (mk_block_climber coarse_grid medium) blocks
module of_plane = mk_restarts (mk_climber plane) automatic
module plane_medium = mk_restarts (mk_block_climber gpu_plane medium) blocks
module of_matrix = mk_restarts (mk_climber matrix) automatic
module matrix_medium = mk_restarts (mk_block_climber gpu_matrix medium) blocks

-- All shapes, after every number of passes given; small bounds make many distances equal.
-- ==
-- entry: every_shape_climbs_alike
-- input { 24i64 70i64 3i32 2147483647i32 } output { true }
-- input { 24i64 70i64 2000i32 2147483647i32 } output { true }
-- input { 99i64 101i64 10i32 2147483647i32 } output { true }
-- input { 150i64 150i64 4000i32 2147483647i32 } output { true }
-- input { 200i64 200i64 40i32 2147483647i32 } output { true }
-- input { 24i64 40i64 30i32 0i32 } output { true }
-- input { 24i64 40i64 30i32 5i32 } output { true }
entry every_shape_climbs_alike (least: i64) (most: i64) (bound: i32) (limit: i32) : bool =
  loop ok = true
  for n in least..<most + 1 do
    let data = random_grid n bound
    let on_gpu = (map f32.i32 data.0, map f32.i32 data.1)
    let batch = random_batch n 3 0 3
    let expected = of_grid.climb data 1 limit batch
    in ok
       && equal expected (fine_tiny.climb on_gpu 1 limit batch)
       && equal expected (fine_medium.climb on_gpu 1 limit batch)
       && (n < 33 || equal expected (fine_large.climb on_gpu 1 limit batch))

-- ==
-- entry: every_metric_climbs_alike
-- input { 24i64 40i64 } output { true }
-- input { 100i64 101i64 } output { true }
entry every_metric_climbs_alike (least: i64) (most: i64) : bool =
  loop ok = true
  for n in least..<most + 1 do
    let (xs, ys) = random_grid n 32527
    let batch = random_batch n 4 0 3
    let halves = (map (\x -> f64.i32 x / 2) xs, map (\y -> f64.i32 y / 2) ys, 1)
    let distances = taxicab (xs, ys)
    in ok
       && equal (of_grid.climb (xs, ys) 1 unlimited batch)
                (coarse_medium.climb (map f32.i32 xs, map f32.i32 ys) 1 unlimited batch)
       && equal (of_plane.climb halves 1 unlimited batch) (plane_medium.climb halves 1 unlimited batch)
       && equal (of_matrix.climb distances 1 unlimited batch) (matrix_medium.climb distances 1 unlimited batch)
