-- | Random restarts by a fixed number of thread blocks, of chosen lanes and rows (Robinson, Vrbsky, Hong, Eddy 2018,
-- sections 3.3, 4.1). Their blocks fetch climbers' numbers; without an atomic counter block i of b takes i, i + b, ….

import "../core/gpu_metric"
import "../core/schedule"
import "../core/tour"
import "block_k_swap"
import "climb"
import "gpu_climbs"
import "restarts"

-- | A block's climbers in its rounds: lengths, -1 without time, steps, passes, ends; and the shortest tour and that on
-- its way, with their climbers' numbers or -1.
type shift [rounds] [n] = (([rounds]i64, [rounds]i32, [rounds]i32, [rounds]bool), ([n]i32, i64), ([n]i32, i64))

-- | A batch after what blocks have done, with tours of the shortest and of climbers on their way; others keep starts.
def after [c] [n] [b] [rounds] (batch: batch [c] [n]) (lengths: [c]i64) (shifts: [b](shift [rounds] [n])) : batch [c] [n] =
  let (columns, bests, lasts) = unzip3 shifts
  let (new_lengths, steps, passes, done) = unzip4 columns
  let by_climber 'a (rows: [b][rounds]a) = map (\climber -> #[unsafe] rows[climber % b, climber / b]) (iota c)
  let tours = scatter (copy batch.tours) (map (.1) bests) (map (.0) bests)
  let tours = scatter tours (map (.1) lasts) (map (.0) lasts)
  in { tours
     , lengths = map2 (\old new -> if new < 0 then old else new) lengths (by_climber new_lengths)
     , steps = map2 (+) batch.steps (by_climber steps)
     , passes = map2 (+) batch.passes (by_climber passes)
     , done = map2 (||) batch.done (by_climber done)
     }

-- | Blocks of one shape.
module mk_fixed_blocks (M: gpu_metric) (S: shape) = {
  module C = mk_block_k_swap_climber M S

  -- Copy a tour over another one, or do not: an array-valued `if` loses its double buffer on GPUs.
  local
  def keep [n] (kept: *[n]i32) (tour: [n]i32) (really: bool) : *[n]i32 =
    loop kept for round < (if really then (n + S.lanes - 1) / S.lanes else 0) do
      let ps = map (\l -> round * S.lanes + l) (iota S.lanes)
      in scatter kept ps (map (\p -> if p < n then #[unsafe] tour[p] else 0) ps)

  -- | Lengths, 0 where they are not known yet. **Work:** O(n) each. **Span:** O(n).
  def lengths [c] [n] (data: M.data [n]) (tours: [c][n]i32) (lengths: [c]i64) : [c]i64 =
    #[unsafe]
    let edge tour p = M.dist data (M.point data tour[p]) (M.point data tour[cyclic_64.next n p])
    let length tour = loop sum = 0 for p < n do sum + M.weight.to_i64 (edge tour p)
    in threads.over (\(tour, known) -> if known > 0 then known else length tour) (zip tours lengths)

  -- | The climbers go on until blocks have made `limit` passes. **Work:** O(n^2), **span:** O(n^2 / lanes) a pass.
  def work [c] [n] (data: M.data [n]) (tours: [c][n]i32) (are_done: [c]bool) (k: i32) (limit: i32) (b: i64) (rounds: i64) : [b](shift [rounds] [n]) =
    let block (i: i64): shift [rounds] [n] =
      #[unsafe]
      let waiting round = loop round while i + round * b < c && are_done[i + round * b] do round + 1
      let (columns, (best, _, best_at), (last, last_at), _, _) =
        loop ( (lengths: *[rounds]i64, steps: *[rounds]i32, passes: *[rounds]i32, done: *[rounds]bool)
             , (best: *[n]i32, least, best_at)
             , (last: *[n]i32, _)
             , round
             , left
             ) =
               ( (replicate rounds (-1), replicate rounds 0, replicate rounds 0, replicate rounds false)
               , (replicate n 0, i64.highest, -1)
               , (replicate n 0, -1)
               , waiting 0
               , limit
               )
        while left > 0 && i + round * b < c do
          let climber = i + round * b
          let state = C.climb data k left tours[climber]
          let better = state.length < least
          in ( ( lengths with [round] = state.length
               , steps with [round] = state.steps
               , passes with [round] = state.passes
               , done with [round] = state.done
               )
             , (keep best state.tour better, i64.min least state.length, if better then climber else best_at)
             , (keep last state.tour (!state.done), if state.done then -1 else climber)
             , waiting (round + 1)
             , left - state.passes
             )
      in (columns, (best, best_at), (last, last_at))
    in blocks.over block (iota b)
}

def is_shape (lanes: i64) (rows: i64) = (lanes == 32 || lanes == 128 || lanes == 512) && (rows == 3 || rows == 7)

-- | Blocks of so many lanes, of 3 or 7 rows.
module mk_lanes (M: gpu_metric) (L: {val lanes : i64}) = {
  module few = mk_fixed_blocks M {def rows = 3i64 def lanes = L.lanes}
  module many = mk_fixed_blocks M {def rows = 7i64 def lanes = L.lanes}

  def work [c] [n] (rows: i64) (data: M.data [n]) (tours: [c][n]i32) (done: [c]bool) (k: i32) (limit: i32) (b: i64) (rounds: i64) =
    if rows == 3 then few.work data tours done k limit b rounds else many.work data tours done k limit b rounds
}

-- | Blocks of any of these shapes.
module mk_shaped_blocks (M: gpu_metric) = {
  module of_32 = mk_lanes M {def lanes = 32i64}
  module of_128 = mk_lanes M {def lanes = 128i64}
  module of_512 = mk_lanes M {def lanes = 512i64}

  -- | The climbers go on until done, or each of b blocks of a shape, or one a climber if b is 0, has made `limit` passes.
  def climb [c] [n] (data: M.data [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) (b: i64) (lanes: i64) (rows: i64) : batch [c] [n] =
    let b = if b == 0 then c else b
    let rounds = assert (are_limits k limit && fits_a_block n && b >= 1 && is_shape lanes rows) ((c + b - 1) / b)
    let {tours, lengths, steps = _, passes = _, done} = batch
    let shifts =
      if lanes == 32
      then of_32.work rows data tours done k limit b rounds
      else if lanes == 128
      then of_128.work rows data tours done k limit b rounds
      else of_512.work rows data tours done k limit b rounds
    in after batch (of_32.few.lengths data tours lengths) shifts
}
