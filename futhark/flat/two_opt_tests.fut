-- Flattened 2-opt: the worked example, the order of all moves, and that climbers together come to what each comes to alone. More
-- is tested from Python.

import "../core/metric"
import "../core/testing"
import "../core/tour"
import "../two_opt/restarts"
import "two_opt"

-- The example of five cities.
-- ==
-- entry: example
-- input { 5i64 }
-- output { [true, false, true, false, true] [1, 2, 1, 2, 1] [0, 0, 1, 1, 2] [2, 3, 3, 4, 4] }
-- input { 4i64 } output { [true, true] [1, 1] [0, 1] [2, 3] }
-- input { 3i64 } output { empty([0]bool) empty([0]i32) empty([0]i32) empty([0]i32) }
-- input { 0i64 } output { empty([0]bool) empty([0]i32) empty([0]i32) empty([0]i32) }
entry example (n: i64) : ([]bool, []i32, []i32, []i32) =
  let flags = row_flags n
  let (is, js) = positions_of_moves n
  in (flags, segmented_sums flags (replicate (moves n) 1), is, js)

-- All pairs of edges that share no city are there once, in order.
-- ==
-- entry: moves_are_in_order
-- input { 4i64 } output { true }
-- input { 6i64 } output { true }
-- input { 100i64 } output { true }
-- input { 1001i64 } output { true }
entry moves_are_in_order (n: i64) : bool =
  let (is, js) = positions_of_moves n
  let is_move (i: i32) (j: i32) = i >= 0 && j >= i + 2 && i64.i32 j < n && i64.i32 (j - i) <= n - 2
  let comes_before (i, j) (k, l) = i < k || (i == k && j < l)
  let pairs = zip is js
  in and (map2 is_move is js) && and (map2 comes_before (init pairs) (tail pairs))

module two_opt = mk_flat_two_opt grid

-- Whatever the passes are cut into.
-- ==
-- entry: together_as_alone
-- input { 3i64 1000 } output { true }
-- input { 9i64 1 } output { true }
-- input { 60i64 3 } output { true }
-- input { 60i64 1000 } output { true }
entry together_as_alone (n: i64) (limit: i32) : bool =
  let cities = random_grid n 50
  let pairs = positions_of_moves n
  let batch = random_batch n 1 0 5
  let together = two_opt.climb_all cities pairs 1000 (two_opt.climb_all cities pairs limit batch)
  let alone = map (two_opt.climb cities pairs 1000) batch.tours
  let is_same (tour: [n]i32) (length: i64) (steps: i32) (passes: i32) (state: state [n]) = and (map2 (==) tour state.tour) && length == state.length && steps == state.steps && passes == state.passes && state.done
  in and (map5 is_same together.tours together.lengths together.steps together.passes alone) && and together.done && all is_tour together.tours
