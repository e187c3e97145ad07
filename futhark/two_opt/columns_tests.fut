-- | Tests of `columns`: its climbers make the moves of the CPU's, in blocks of several shapes.

import "../core/gpu_metric"
import "../core/metric"
import "../core/schedule"
import "../core/testing"
import "cpu_climbs"
import "columns"
import "restarts"
import "testing"

-- Few lanes go several rounds; many lanes cut the columns into chunks, or have nothing to do.
module tiny = {def rows = 3i64 def lanes = 4i64}
module medium = {def rows = 7i64 def lanes = 64i64}
module large = {def rows = 11i64 def lanes = 512i64}

module of_matrix = mk_restarts (mk_climber matrix) automatic
module matrix_tiny = mk_restarts (mk_column_climber gpu_matrix tiny) blocks
module matrix_medium = mk_restarts (mk_column_climber gpu_matrix medium) blocks
module short_large = mk_restarts (mk_column_climber short_matrix large) blocks

-- Called, not inlined: with other climbers behind it, Futhark 0.25.27 has the CPU's read memory put to another use.

#[noinline]
def expected [c] [n] (distances: [n][n]i32) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
  of_matrix.climb distances 1 limit batch

-- All shapes, for numbers of cities around multiples of their rows; small bounds make many distances equal.
-- ==
-- entry: every_shape_climbs_alike
-- input { 24i64 3i32 2147483647i32 } output { true }
-- input { 24i64 2000i32 2147483647i32 } output { true }
-- input { 24i64 30i32 5i32 } output { true }
-- input { 25i64 3i32 2147483647i32 } output { true }
-- input { 25i64 2000i32 2147483647i32 } output { true }
-- input { 25i64 30i32 5i32 } output { true }
-- input { 32i64 3i32 2147483647i32 } output { true }
-- input { 32i64 2000i32 2147483647i32 } output { true }
-- input { 32i64 30i32 5i32 } output { true }
-- input { 33i64 3i32 2147483647i32 } output { true }
-- input { 33i64 2000i32 2147483647i32 } output { true }
-- input { 33i64 30i32 5i32 } output { true }
-- input { 34i64 3i32 2147483647i32 } output { true }
-- input { 34i64 2000i32 2147483647i32 } output { true }
-- input { 34i64 30i32 5i32 } output { true }
-- input { 35i64 3i32 2147483647i32 } output { true }
-- input { 35i64 2000i32 2147483647i32 } output { true }
-- input { 35i64 30i32 5i32 } output { true }
-- input { 44i64 3i32 2147483647i32 } output { true }
-- input { 44i64 2000i32 2147483647i32 } output { true }
-- input { 44i64 30i32 5i32 } output { true }
-- input { 45i64 3i32 2147483647i32 } output { true }
-- input { 45i64 2000i32 2147483647i32 } output { true }
-- input { 45i64 30i32 5i32 } output { true }
-- input { 59i64 3i32 2147483647i32 } output { true }
-- input { 59i64 2000i32 2147483647i32 } output { true }
-- input { 59i64 30i32 5i32 } output { true }
-- input { 60i64 3i32 2147483647i32 } output { true }
-- input { 60i64 2000i32 2147483647i32 } output { true }
-- input { 60i64 30i32 5i32 } output { true }
-- input { 64i64 3i32 2147483647i32 } output { true }
-- input { 64i64 2000i32 2147483647i32 } output { true }
-- input { 64i64 30i32 5i32 } output { true }
-- input { 65i64 3i32 2147483647i32 } output { true }
-- input { 65i64 2000i32 2147483647i32 } output { true }
-- input { 65i64 30i32 5i32 } output { true }
-- input { 66i64 3i32 2147483647i32 } output { true }
-- input { 66i64 2000i32 2147483647i32 } output { true }
-- input { 66i64 30i32 5i32 } output { true }
-- input { 67i64 3i32 2147483647i32 } output { true }
-- input { 67i64 2000i32 2147483647i32 } output { true }
-- input { 67i64 30i32 5i32 } output { true }
-- input { 99i64 3i32 2147483647i32 } output { true }
-- input { 99i64 2000i32 2147483647i32 } output { true }
-- input { 99i64 30i32 5i32 } output { true }
-- input { 100i64 3i32 2147483647i32 } output { true }
-- input { 100i64 2000i32 2147483647i32 } output { true }
-- input { 100i64 30i32 5i32 } output { true }
-- input { 101i64 3i32 2147483647i32 } output { true }
-- input { 101i64 2000i32 2147483647i32 } output { true }
-- input { 101i64 30i32 5i32 } output { true }
-- input { 153i64 3i32 2147483647i32 } output { true }
-- input { 153i64 2000i32 2147483647i32 } output { true }
-- input { 153i64 30i32 5i32 } output { true }
-- input { 154i64 3i32 2147483647i32 } output { true }
-- input { 154i64 2000i32 2147483647i32 } output { true }
-- input { 154i64 30i32 5i32 } output { true }
-- input { 155i64 3i32 2147483647i32 } output { true }
-- input { 155i64 2000i32 2147483647i32 } output { true }
-- input { 155i64 30i32 5i32 } output { true }
-- input { 200i64 3i32 2147483647i32 } output { true }
-- input { 200i64 2000i32 2147483647i32 } output { true }
-- input { 200i64 30i32 5i32 } output { true }
-- input { 24i64 30i32 0i32 } output { true }
-- input { 40i64 30i32 0i32 } output { true }
entry every_shape_climbs_alike (n: i64) (bound: i32) (limit: i32) : bool =
  let distances = taxicab (random_grid n bound)
  let batch = random_batch n 5 0 3
  let expected = expected distances limit batch
  in equal expected (matrix_tiny.climb distances 1 limit batch)
     && equal expected (matrix_medium.climb distances 1 limit batch)
     && equal expected (short_large.climb (map (map u16.i32) distances) 1 limit batch)
