-- | Tests of `fixed_blocks`: any number of blocks brings climbers to the ends that they have by themselves.

import "../core/gpu_metric"
import "../core/testing"
import "block_k_swap"
import "fixed_blocks"
import "restarts"
import "testing"
import "../core/schedule"

-- Few lanes go several rounds over the tiles.
module tiny = {def rows = 3i64 def lanes = 4i64}

module alone = mk_restarts (mk_block_k_swap_climber coarse_grid tiny) blocks
module turns = mk_fixed_blocks coarse_grid tiny

-- One copy of each, which the compiler takes longer to make than all runs take.

#[noinline]
def climb_alone [c] [n] (data: coarse_grid.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
  alone.climb data k limit batch

#[noinline]
def climb [c] [n] (data: coarse_grid.data [n]) (k: i32) (limit: i32) (b: i64) (batch: batch [c] [n]) : batch [c] [n] =
  after batch (turns.lengths data batch.tours batch.lengths) (turns.work data batch.tours batch.done k limit b ((c + b - 1) / b))

-- Whether batches stand at the same places, but for the tours of climbers that nobody asks for: those that are done, and
-- longer than another or as long as one before them.

#[noinline]
def alike [c] [n] (expected: batch [c] [n]) (found: batch [c] [n]) : bool =
  let least = i64.minimum expected.lengths
  let shortest = i64.minimum (map2 (\l p -> if l == least then p else i64.highest) expected.lengths (iota c))
  let tours = map4 (\p done tour other -> if done && p != shortest then other else tour) (iota c) found.done found.tours expected.tours
  in equal expected (found with tours = tours)

-- Fewer blocks than climbers, as many, and more; all passes at once, or a few a call.
-- ==
-- entry: any_number_of_blocks_climbs_alike
-- input { 24i64 30i64 2000i32 } output { true }
-- input { 60i64 61i64 10i32 } output { true }
entry any_number_of_blocks_climbs_alike (least: i64) (most: i64) (bound: i32) : bool =
  loop ok = true
  for n in least..<most + 1 do
    let (xs, ys) = random_grid n bound
    let data = (map f32.i32 xs, map f32.i32 ys)
    let start = random_batch n 3 0 7
    let ends k b (limit: i32) =
      (loop (batch, calls) = (opaque (climb data k limit b start), 0)
       while calls < 10000 && !and batch.done do
         (opaque (climb data k limit b batch), calls + 1)).0
    let same k =
      let expected = opaque (climb_alone data k unlimited start)
      in all (\b -> alike expected (ends k b unlimited) && alike expected (ends k b 5)) [1, 2, 3, 7, 9]
    in ok && all same [1, unlimited]

-- A block makes a limited number of passes, for any of its climbers; without any, lengths are known all the same.
-- ==
-- entry: passes_are_counted_by_the_block
-- input { 40i64 2i64 } output { [37, 37] }
-- input { 40i64 4i64 } output { [37, 37, 37, 37] }
entry passes_are_counted_by_the_block (n: i64) (b: i64) : [b]i32 =
  let (xs, ys) = random_grid n 500
  let data = (map f32.i32 xs, map f32.i32 ys)
  let found = climb data 1 37 b (random_batch n 3 0 12)
  in map (\i -> i32.sum (map2 (\p passes -> if p % b == i then passes else 0) (iota 12) found.passes)) (iota b)

-- ==
-- entry: lengths_are_known_without_a_pass
-- input { 40i64 } output { true }
entry lengths_are_known_without_a_pass (n: i64) : bool =
  let (xs, ys) = random_grid n 500
  let data = (map f32.i32 xs, map f32.i32 ys)
  let start = random_batch n 3 0 5
  in equal (climb_alone data 1 0 start) (climb data 1 0 2 start)
