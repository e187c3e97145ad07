-- | Tests of `restarts`, with the climber of the CPU backends.

import "../core/metric"
import "../core/schedule"
import "../core/testing"
import "../core/tour"
import "cpu_climbs"
import "pairs"
import "restarts"
import "testing"

module by_diagonals = mk_climber grid
module restarts = mk_restarts by_diagonals automatic
module climbs = mk_cpu_climbs grid

-- Every climber ends on a tour that no move shortens, no longer than the one it began with.
-- ==
-- entry: climbers_end_on_local_optima
-- input { 1i64 13i64 4i32 } output { true }
-- input { 1i64 13i64 1000i32 } output { true }
-- input { 60i64 61i64 30i32 } output { true }
entry climbers_end_on_local_optima (least: i64) (most: i64) (bound: i32) : bool =
  loop ok = true
  for n in least..<most + 1 do
    let data = random_grid n bound
    let starts = restarts.climb data 1 0 (random_batch n 3 0 20)
    let ends = restarts.climb data 1 unlimited (random_batch n 3 0 20)
    in ok
       && and ends.done
       && and (map is_tour ends.tours)
       && and (map (\tour -> (by_diagonals.D.best data (map (grid.point data) tour)).gain == 0) ends.tours)
       && and (map2 (<=) ends.lengths starts.lengths)
       && and (map3 (\l m s -> s == 0 || l < m) ends.lengths starts.lengths ends.steps)

-- A batch that stops every few moves ends where one that never stops does.
-- ==
-- entry: stops_change_nothing
-- input { 1i64 1i32 } output { true }
-- input { 3i64 1i32 } output { true }
-- input { 40i64 1i32 } output { true }
-- input { 40i64 3i32 } output { true }
-- input { 40i64 1000i32 } output { true }
entry stops_change_nothing (n: i64) (limit: i32) : bool =
  let data = random_grid n 20
  let stopped =
    loop batch = restarts.climb data 1 limit (random_batch n 3 5 12)
    while !(and batch.done) do
      restarts.climb data 1 limit batch
  in equal stopped (restarts.climb data 1 unlimited (random_batch n 3 5 12))
     && equal stopped (restarts.climb data 1 limit stopped)

-- A climber does not depend on the range that it is in.
-- ==
-- entry: ranges_change_nothing
-- input { 30i64 0i64 } output { true }
-- input { 30i64 4294967296i64 } output { true }
entry ranges_change_nothing (n: i64) (first: i64) : bool =
  let data = random_grid n 20
  let whole = restarts.climb data 1 unlimited (random_batch n 3 first 9)
  in all (\c ->
            let one = restarts.climb data 1 unlimited (random_batch n 3 (first + c) 1)
            in and (map2 (==) one.tours[0] whole.tours[c])
               && one.lengths[0] == whole.lengths[c]
               && one.steps[0] == whole.steps[c])
         (iota 9)

-- Called, not inlined: with other climbers behind it, Futhark 0.25.27 has the CPU's read memory put to another use.

#[noinline]
def expected [c] [n] (data: ([n]i32, [n]i32)) (batch: batch [c] [n]) : batch [c] [n] =
  restarts.climb data 1 unlimited batch

-- The enumerations lead every climber to the same end.
-- ==
-- entry: enumerations_change_nothing
-- input { 1i64 13i64 3i32 } output { true }
-- input { 50i64 51i64 20i32 } output { true }
entry enumerations_change_nothing (least: i64) (most: i64) (bound: i32) : bool =
  let good n =
    let data = random_grid n bound
    let batch = expected data (random_batch n 4 0 6)
    in [ equal batch (climbs.climb_by data (pairs_of n by_flat) (random_batch n 4 0 6) unlimited)
       , equal batch (climbs.climb_by data (pairs_of n by_zipped) (random_batch n 4 0 6) unlimited)
       , equal batch (climbs.climb_by data (pairs_of n by_closed_form) (random_batch n 4 0 6) unlimited)
       ]
  in map good (least...most) |> map and |> and
