-- | The entry points of the cuda and opencl backends for random restarts and one large tour: those of `pytsp.fut`, where a
-- climber has a thread block of its own (`…_climb_block`) or a thread (`…_climb_thread`).

import "block_k_swap"
import "columns"
import "descent"
import "gpu_instances"
import "gpu_metric"
import "restarts"
import "rows"
import "screen"
import "threads"
import "tiles"
import "tour"

-- A tour that is too short for the tiles is climbed by a thread in any case.
def block_least : i64 = 24
def block_most : i64 = 32767

-- How many lanes a block has, and how many rows a tile: see docs/benchmarks.md.
module few_lanes = {def rows = 7i64 def lanes = 32i64}
module some_lanes = {def rows = 7i64 def lanes = 64i64}
module many_lanes = {def rows = 11i64 def lanes = 128i64}
module more_lanes = {def rows = 7i64 def lanes = 256i64}
module warp_lanes = {def rows = 11i64 def lanes = 32i64}
module wide_lanes = {def rows = 11i64 def lanes = 256i64}
module most_lanes = {def rows = 11i64 def lanes = 512i64}
module k_swap_lanes = {def rows = 7i64 def lanes = 256i64}
module k_swap_most_lanes = {def rows = 9i64 def lanes = 512i64}

module few_rows = {
  def rows = 5i64
  def units = 524288i64
  def least = 4i64
  def most = 256i64
  def proposing_units = 131072i64
}

-- Enough units to fill a GPU once, and columns enough for what a unit costs before the first: see docs/benchmarks.md.
module many_rows = {
  def rows = 11i64
  def units = 131072i64
  def least = 4i64
  def most = 96i64
  def proposing_units = 131072i64
}

module fine_few = mk_restarts (mk_block_climber fine_grid few_lanes) blocks
module fine_some = mk_restarts (mk_block_climber fine_grid some_lanes) blocks
module fine_many = mk_restarts (mk_block_climber fine_grid many_lanes) blocks
module fine_more = mk_restarts (mk_block_climber fine_grid more_lanes) blocks
module fine_most = mk_restarts (mk_block_climber fine_grid most_lanes) blocks
module fine_k_swap = mk_restarts (mk_block_k_swap_climber fine_grid k_swap_lanes) blocks
module fine_k_swap_most = mk_restarts (mk_block_k_swap_climber fine_grid k_swap_most_lanes) blocks
module fine_thread = mk_restarts (mk_thread_climber fine_grid) threads
module coarse_some = mk_restarts (mk_block_climber coarse_grid some_lanes) blocks
module coarse_many = mk_restarts (mk_block_climber coarse_grid many_lanes) blocks
module coarse_most = mk_restarts (mk_block_climber coarse_grid most_lanes) blocks
module coarse_k_swap = mk_restarts (mk_block_k_swap_climber coarse_grid k_swap_lanes) blocks
module coarse_k_swap_most = mk_restarts (mk_block_k_swap_climber coarse_grid k_swap_most_lanes) blocks
module coarse_thread = mk_restarts (mk_thread_climber coarse_grid) threads
module fast_some = mk_restarts (mk_block_climber fast_plane some_lanes) blocks
module fast_most = mk_restarts (mk_block_climber fast_plane most_lanes) blocks
module fast_k_swap = mk_restarts (mk_block_k_swap_climber fast_plane k_swap_lanes) blocks
module fast_thread = mk_restarts (mk_thread_climber fast_plane) threads
module plane_some = mk_restarts (mk_block_climber gpu_plane some_lanes) blocks
module plane_most = mk_restarts (mk_block_climber gpu_plane most_lanes) blocks
module plane_k_swap = mk_restarts (mk_block_k_swap_climber gpu_plane k_swap_lanes) blocks
module plane_thread = mk_restarts (mk_thread_climber gpu_plane) threads
module matrix_some = mk_restarts (mk_column_climber gpu_matrix some_lanes) blocks
module matrix_more = mk_restarts (mk_column_climber gpu_matrix wide_lanes) blocks
module matrix_most = mk_restarts (mk_column_climber gpu_matrix most_lanes) blocks
module short_few = mk_restarts (mk_column_climber short_matrix warp_lanes) blocks
module short_many = mk_restarts (mk_column_climber short_matrix many_lanes) blocks
module short_more = mk_restarts (mk_column_climber short_matrix wide_lanes) blocks
module short_most = mk_restarts (mk_column_climber short_matrix most_lanes) blocks
module matrix_k_swap = mk_restarts (mk_block_k_swap_climber gpu_matrix k_swap_lanes) blocks
module matrix_thread = mk_restarts (mk_thread_climber gpu_matrix) threads
module matrix_descent = mk_descent (mk_rows screened_matrix few_rows)
module plane_descent = mk_descent (mk_rows screened_plane many_rows)

-- Up to so many climbers, two or four a multiprocessor of an H200, lanes are idle unless a climber has many of them.
def few_climbers : i64 = 264
def some_climbers : i64 = 528

-- Which block suits how many climbers, cities and moves a pass; each `climb` stands once, since it is a kernel wherever it
-- stands.
def fine_block [c] [n] (data: fine_grid.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  let lanes: i64 =
    if n < 160
    then if c <= few_climbers then more_lanes.lanes else if c <= some_climbers then some_lanes.lanes else few_lanes.lanes
    else if n < 320
    then if c <= some_climbers then more_lanes.lanes else some_lanes.lanes
    else if n < 3000 && c > few_climbers
    then many_lanes.lanes
    else most_lanes.lanes
  in if k > 1 && n < 2000
     then fine_k_swap.climb data k limit batch
     else if k > 1
     then fine_k_swap_most.climb data k limit batch
     else if lanes == few_lanes.lanes
     then fine_few.climb data k limit batch
     else if lanes == some_lanes.lanes
     then fine_some.climb data k limit batch
     else if lanes == many_lanes.lanes
     then fine_many.climb data k limit batch
     else if lanes == more_lanes.lanes
     then fine_more.climb data k limit batch
     else fine_most.climb data k limit batch

def coarse_block [c] [n] (data: coarse_grid.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  let are_few = c <= few_climbers && n >= 160
  in if k > 1 && n < 2000
     then coarse_k_swap.climb data k limit batch
     else if k > 1
     then coarse_k_swap_most.climb data k limit batch
     else if n < 320 && !are_few
     then coarse_some.climb data k limit batch
     else if n < 3000 && !are_few
     then coarse_many.climb data k limit batch
     else coarse_most.climb data k limit batch

def fast_block [c] [n] (data: fast_plane.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if k > 1
  then fast_k_swap.climb data k limit batch
  else if n < (if c <= few_climbers then 320 else 1000)
  then fast_some.climb data k limit batch
  else fast_most.climb data k limit batch

def plane_block [c] [n] (data: gpu_plane.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if k > 1
  then plane_k_swap.climb data k limit batch
  else if n < (if c <= few_climbers then 320 else 1000)
  then plane_some.climb data k limit batch
  else plane_most.climb data k limit batch

-- An instance on the device; `short` where no distance has more than 16 bits.
type gpu_matrix_instance [n] = {matrix: gpu_matrix.data [n], short: bool}

def matrix_block [c] [n] ({matrix, short}: gpu_matrix_instance [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  let are_few = c <= few_climbers
  in if k > 1
     then matrix_k_swap.climb matrix k limit batch
     else if !short
     then if n < 320 && !are_few
          then matrix_some.climb matrix k limit batch
          else if n < 1500
          then matrix_more.climb matrix k limit batch
          else matrix_most.climb matrix k limit batch
     else let distances = map (map u16.i32) matrix
          in if n < 250 && !are_few
             then short_few.climb distances k limit batch
             else if n < 500 && !are_few
             then short_many.climb distances k limit batch
             else if n < 1500
             then short_more.climb distances k limit batch
             else short_most.climb distances k limit batch

-- The same of coordinates; `fine` where the coordinates are small enough for `fine_grid`, `fast` where they are for
-- `fast_plane`.
type gpu_grid_instance [n] = {grid: fine_grid.data [n], fine: bool}
type gpu_plane_instance [n] = {plane: fast_plane.data [n], fast: bool}

def are_limits (k: i32) (limit: i32) = k >= 1 && limit >= 0
def are_diagonals (n: i64) (from: i64) (to: i64) = from >= 2 && from <= to && to <= i64.max 2 (diagonals_end n)
def fits_a_block (n: i64) = n >= block_least && n <= block_most

entry matrix_load [n] (distances: [n][n]i32) : gpu_matrix_instance [n] =
  assert (fits_32_bits n) {matrix = distances, short = all (all (\d -> d >> 16 == 0)) distances}

entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : gpu_grid_instance [n] =
  let range (zs: [n]i32) =
    let (least, most) = extremes i32.min i32.max i32.lowest i32.highest zs
    in most - least
  let (width, height) = (range xs, range ys)
  let (longs, shorts) = if width >= height then (xs, ys) else (ys, xs)
  let diagonal = f32.sqrt (f32.i32 width ** 2 + f32.i32 height ** 2)
  in assert (fits_32_bits n) { grid = (map f32.i32 longs, map f32.i32 shorts)
                             , fine = i32.min width height <= 4090 && diagonal <= 5790
                             }

entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : gpu_plane_instance [n] =
  let (plane, fast) = fast_data (xs, ys, f64.bool up)
  in assert (fits_32_bits n) {plane, fast}

-- The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
entry matrix_climb_block [c] [n] (instance: gpu_matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit && fits_a_block n) (matrix_block instance k limit batch)

entry matrix_climb_thread [c] [n] (instance: gpu_matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (matrix_thread.climb instance.matrix k limit batch)

entry grid_climb_block [c] [n] (instance: gpu_grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit && fits_a_block n) (if instance.fine
                                                 then fine_block instance.grid k limit batch
                                                 else coarse_block instance.grid k limit batch)

entry grid_climb_thread [c] [n] (instance: gpu_grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if instance.fine
                               then fine_thread.climb instance.grid k limit batch
                               else coarse_thread.climb instance.grid k limit batch)

entry plane_climb_block [c] [n] (instance: gpu_plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit && fits_a_block n) (if instance.fast
                                                 then fast_block instance.plane k limit batch
                                                 else plane_block instance.plane.exact k limit batch)

entry plane_climb_thread [c] [n] (instance: gpu_plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if instance.fast
                               then fast_thread.climb instance.plane k limit batch
                               else plane_thread.climb instance.plane.exact k limit batch)

-- Climbers first, …, first + count - 1 of a seed on their random tours, or climbers on given tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] =
  assert (fits_32_bits n && are_climbers first count) (random_batch n seed first count)

entry batch_given [c] [n] (tours: [c][n]i32) : batch [c] [n] =
  assert (fits_32_bits n && all is_tour tours) (batch_on tours)

-- What a batch has found so far: lengths, steps, passes, and which climbers are done.
entry batch_found [c] [n] (batch: batch [c] [n]) : ([c]i64, [c]i32, [c]i32, [c]bool) =
  (batch.lengths, batch.steps, batch.passes, batch.done)

entry batch_tours [c] [n] (batch: batch [c] [n]) : [c][n]i32 = batch.tours

entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < c) (copy batch.tours[place])

-- The random tours of climbers first, …, first + count - 1.
entry random_tours (n: i64) (seed: u64) (first: i64) (count: i64) : [count][n]i32 =
  assert (fits_32_bits n && are_climbers first count) (random_batch n seed first count).tours

-- One tour on its way to a local optimum, from a given tour; a grid is loaded as a plane. `…_descend` makes whole passes of
-- one move each. A pass of at most k moves is made by `…_scan`, all diagonals once, in one call or several, and
-- `descent_turn`.
entry descent_given [n] (tour: [n]i32) : descent [n] =
  assert (fits_32_bits n && is_tour tour) (descent_on tour)

entry matrix_descend [n] (instance: gpu_matrix_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] =
  assert (are_limits 1 limit) (matrix_descent.descend instance.matrix descent limit)

entry plane_descend [n] (instance: gpu_plane_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] =
  assert (are_limits 1 limit) (plane_descent.descend (screened instance.plane) descent limit)

entry matrix_scan [n] (instance: gpu_matrix_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
  assert (are_limits k 0 && are_diagonals n from to) (matrix_descent.scan instance.matrix descent k from to)

entry plane_scan [n] (instance: gpu_plane_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
  assert (are_limits k 0 && are_diagonals n from to) (plane_descent.scan (screened instance.plane) descent k from to)

entry descent_turn [n] (descent: descent [n]) (k: i32) : descent [n] =
  assert (are_limits k 0) (turn k descent)

-- Where a tour stands: itself; and by how much it has become shorter, its moves, its passes, and 1 where it is done.
entry descent_tour [n] (descent: descent [n]) : [n]i32 = descent.tour

entry descent_counts [n] (descent: descent [n]) : [4]i64 =
  [descent.gained, descent.moves, descent.passes, i64.bool descent.done]

-- Fails for a negative number: how an error inside a kernel surfaces can be seen, and tested, by it.
entry debug_fail (x: i32) : i32 = assert (x >= 0) x
entry debug_sum [n] (xs: [n]i32) : i64 = i64.sum (map i64.i32 xs)
