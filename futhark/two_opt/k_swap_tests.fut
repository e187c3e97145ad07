-- | Tests of `k_swap`.

import "../core/metric"
import "../core/schedule"
import "../core/testing"
import "../core/tour"
import "cpu_climbs"
import "k_swap"
import "restarts"
import "testing"

module one_move = mk_climber grid
module restarts = mk_restarts one_move automatic
module k_restarts = mk_restarts (mk_k_swap_climber grid) automatic

-- Two moves overlap where the stretches i, …, j of the tour have a position in common.
-- ==
-- entry: overlaps
-- input { 0i32 2i32 3i32 5i32 } output { false }
-- input { 3i32 5i32 0i32 2i32 } output { false }
-- input { 0i32 3i32 3i32 5i32 } output { true }
-- input { 3i32 5i32 0i32 3i32 } output { true }
-- input { 0i32 9i32 3i32 5i32 } output { true }
-- input { 3i32 5i32 0i32 9i32 } output { true }
entry overlaps (i: i32) (j: i32) (k: i32) (l: i32) : bool = overlap {gain = 1, i, j} {gain = 1, i = k, j = l}

-- With one move a pass it is best improvement.
-- ==
-- entry: one_move_is_best_improvement
-- input { 1i64 30i64 3i32 } output { true }
-- input { 60i64 61i64 1000i32 } output { true }
entry one_move_is_best_improvement (least: i64) (most: i64) (bound: i32) : bool =
  loop ok = true
  for n in least..<most + 1 do
    let data = random_grid n bound
    let batch = random_batch n 3 0 10
    in ok && equal (restarts.climb data 1 unlimited batch) (k_restarts.climb data 1 unlimited batch)

-- However many moves a pass may make, climbers end on tours that no move shortens, each move shortens the tour, and a pass
-- makes k moves at most and, but for the last, one at least.
-- ==
-- entry: climbers_end_on_local_optima
-- input { 1i64 13i64 4i32 } output { true }
-- input { 60i64 61i64 30i32 } output { true }
-- input { 100i64 100i64 1000i32 } output { true }
entry climbers_end_on_local_optima (least: i64) (most: i64) (bound: i32) : bool =
  let good n k =
    let data = random_grid n bound
    let starts = k_restarts.climb data k 0 (random_batch n 3 0 10)
    let ends = k_restarts.climb data k unlimited (random_batch n 3 0 10)
    in and ends.done
       && and (map is_tour ends.tours)
       && and (map (\tour -> (one_move.D.best data (map (grid.point data) tour)).gain == 0) ends.tours)
       && and (map3 (\l m s -> m <= l - i64.i32 s) starts.lengths ends.lengths ends.steps)
       && and (map2 (\s p -> s >= p - 1 && i64.i32 s <= i64.i32 k * i64.i32 (p - 1)) ends.steps ends.passes)
  in loop ok = true
     for n in least..<most + 1 do
       ok && and (map (good n) [1, 2, 7, unlimited])

-- A batch that stops every few passes ends where one that never stops does.
-- ==
-- entry: stops_change_nothing
-- input { 40i64 1i32 } output { true }
-- input { 40i64 3i32 } output { true }
entry stops_change_nothing (n: i64) (limit: i32) : bool =
  let data = random_grid n 20
  let stopped =
    loop batch = k_restarts.climb data 4 limit (random_batch n 3 5 12)
    while !(and batch.done) do
      k_restarts.climb data 4 limit batch
  in equal stopped (k_restarts.climb data 4 unlimited (random_batch n 3 5 12))
