-- | The climbers of random restarts on a GPU: a thread each, or a block of lanes that suit their number and cities.

import "../core/gpu_metric"
import "../core/instances"
import "../core/metric"
import "../core/schedule"
import "block_k_swap"
import "columns"
import "restarts"
import "threads"
import "tiles"

-- A tour that is too short for the tiles is climbed by a thread in any case.
def block_least : i64 = 24
def block_most : i64 = 32767

-- An instance on the device; `short` where no distance has more than 16 bits.
type gpu_matrix_instance [n] = {matrix: gpu_matrix.data [n], short: bool}

-- Coordinates small enough for `fine_grid` are `fine`, for `fast_plane` `fast`.
type gpu_grid_instance [n] = {grid: fine_grid.data [n], fine: bool}
type gpu_plane_instance [n] = {plane: fast_plane.data [n], fast: bool}

def fits_a_block (n: i64) = n >= block_least && n <= block_most

def gpu_load_matrix [n] (distances: [n][n]i32) : gpu_matrix_instance [n] =
  assert (fits_32_bits n) {matrix = distances, short = all (all (\d -> d >> 16 == 0)) distances}

def gpu_load_grid [n] (xs: [n]i32) (ys: [n]i32) : gpu_grid_instance [n] =
  let range (zs: [n]i32) =
    let (least, most) = extremes i32.min i32.max i32.lowest i32.highest zs
    in most - least
  let (width, height) = (range xs, range ys)
  let (longs, shorts) = if width >= height then (xs, ys) else (ys, xs)
  let diagonal = f32.sqrt (f32.i32 width ** 2 + f32.i32 height ** 2)
  in assert (fits_32_bits n) { grid = (map f32.i32 longs, map f32.i32 shorts)
                             , fine = i32.min width height <= 4090 && diagonal <= 5790
                             }

def gpu_load_plane [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : gpu_plane_instance [n] =
  let (plane, fast) = fast_data (xs, ys, f64.bool up)
  in assert (fits_32_bits n) {plane, fast}

-- The lanes of a block and the rows of a tile: see docs/benchmarks.md.
module lanes_32 = {def rows = 7i64 def lanes = 32i64}
module lanes_64 = {def rows = 7i64 def lanes = 64i64}
module lanes_128 = {def rows = 11i64 def lanes = 128i64}
module lanes_256 = {def rows = 7i64 def lanes = 256i64}
module warp_lanes = {def rows = 11i64 def lanes = 32i64}
module wide_lanes = {def rows = 11i64 def lanes = 256i64}
module most_lanes = {def rows = 11i64 def lanes = 512i64}
module k_swap_lanes = {def rows = 7i64 def lanes = 256i64}
module k_swap_most_lanes = {def rows = 9i64 def lanes = 512i64}

-- | The climbers of a metric of coordinates, by their blocks; those that are used are compiled.
module mk_blocks (M: gpu_metric) = {
  module few = mk_restarts (mk_block_climber M lanes_32) blocks
  module some = mk_restarts (mk_block_climber M lanes_64) blocks
  module many = mk_restarts (mk_block_climber M lanes_128) blocks
  module more = mk_restarts (mk_block_climber M lanes_256) blocks
  module most = mk_restarts (mk_block_climber M most_lanes) blocks
  module k_swap = mk_restarts (mk_block_k_swap_climber M k_swap_lanes) blocks
  module k_swap_most = mk_restarts (mk_block_k_swap_climber M k_swap_most_lanes) blocks
  module thread = mk_restarts (mk_thread_climber M) threads

  -- | With several moves a pass.
  def k_moves [c] [n] (data: M.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    if n < 2000 then k_swap.climb data k limit batch else k_swap_most.climb data k limit batch
}

-- | The same of a matrix.
module mk_columns (M: gpu_metric) = {
  module few = mk_restarts (mk_column_climber M warp_lanes) blocks
  module some = mk_restarts (mk_column_climber M lanes_64) blocks
  module many = mk_restarts (mk_column_climber M lanes_128) blocks
  module more = mk_restarts (mk_column_climber M wide_lanes) blocks
  module most = mk_restarts (mk_column_climber M most_lanes) blocks
  module k_swap = mk_restarts (mk_block_k_swap_climber M k_swap_lanes) blocks
  module thread = mk_restarts (mk_thread_climber M) threads
}

module of_fine = mk_blocks fine_grid
module of_coarse = mk_blocks coarse_grid
module of_matrix = mk_columns gpu_matrix
module of_short = mk_columns short_matrix

-- Up to so many climbers, two or four a multiprocessor of an H200, lanes are idle unless a climber has many of them.
def few_climbers : i64 = 264
def some_climbers : i64 = 528

-- The block for so many climbers, cities and moves a pass; each `climb` stands once, since it is a kernel.
def fine_block [c] [n] (data: fine_grid.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  let lanes: i64 =
    if n < 160
    then if c <= few_climbers then lanes_256.lanes else if c <= some_climbers then lanes_64.lanes else lanes_32.lanes
    else if n < 320
    then if c <= some_climbers then lanes_256.lanes else lanes_64.lanes
    else if n < 3000 && c > few_climbers
    then lanes_128.lanes
    else most_lanes.lanes
  in if k > 1
     then of_fine.k_moves data k limit batch
     else if lanes == lanes_32.lanes
     then of_fine.few.climb data k limit batch
     else if lanes == lanes_64.lanes
     then of_fine.some.climb data k limit batch
     else if lanes == lanes_128.lanes
     then of_fine.many.climb data k limit batch
     else if lanes == lanes_256.lanes
     then of_fine.more.climb data k limit batch
     else of_fine.most.climb data k limit batch

def coarse_block [c] [n] (data: coarse_grid.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  let are_few = c <= few_climbers && n >= 160
  in if k > 1
     then of_coarse.k_moves data k limit batch
     else if n < 320 && !are_few
     then of_coarse.some.climb data k limit batch
     else if n < 3000 && !are_few
     then of_coarse.many.climb data k limit batch
     else of_coarse.most.climb data k limit batch

-- | The blocks of points of a plane.
module mk_plane_blocks (M: gpu_metric) = {
  open mk_blocks M

  def block [c] [n] (data: M.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    if k > 1
    then k_swap.climb data k limit batch
    else if n < (if c <= few_climbers then 320 else 1000)
    then some.climb data k limit batch
    else most.climb data k limit batch
}

module of_fast = mk_plane_blocks fast_plane
module of_plane = mk_plane_blocks gpu_plane

def matrix_block [c] [n] ({matrix, short}: gpu_matrix_instance [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  let are_few = c <= few_climbers
  in if k > 1
     then of_matrix.k_swap.climb matrix k limit batch
     else if !short
     then if n < 320 && !are_few
          then of_matrix.some.climb matrix k limit batch
          else if n < 1500
          then of_matrix.more.climb matrix k limit batch
          else of_matrix.most.climb matrix k limit batch
     else let distances = map (map u16.i32) matrix
          in if n < 250 && !are_few
             then of_short.few.climb distances k limit batch
             else if n < 500 && !are_few
             then of_short.many.climb distances k limit batch
             else if n < 1500
             then of_short.more.climb distances k limit batch
             else of_short.most.climb distances k limit batch

def matrix_thread [c] [n] ({matrix, short = _}: gpu_matrix_instance [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) = of_matrix.thread.climb matrix k limit batch

def grid_block [c] [n] ({grid, fine}: gpu_grid_instance [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if fine then fine_block grid k limit batch else coarse_block grid k limit batch

def grid_thread [c] [n] ({grid, fine}: gpu_grid_instance [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if fine then of_fine.thread.climb grid k limit batch else of_coarse.thread.climb grid k limit batch

def plane_block [c] [n] ({plane, fast}: gpu_plane_instance [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if fast then of_fast.block plane k limit batch else of_plane.block plane.exact k limit batch

def plane_thread [c] [n] ({plane, fast}: gpu_plane_instance [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if fast then of_fast.thread.climb plane k limit batch else of_plane.thread.climb plane.exact k limit batch
