-- | The entry points of the cuda and opencl backends: those of `pytsp.fut`, where a climber has a thread block of its own
-- (`…_climb_block`) or a thread (`…_climb_thread`).

import "block_hands"
import "block_k_swap"
import "descent"
import "generation"
import "gpu_metric"
import "hands"
import "ils"
import "many"
import "metric"
import "passes"
import "pieces"
import "planar"
import "population"
import "restarts"
import "rows"
import "screen"
import "threads"
import "three_opt"
import "tiles"
import "tour"

-- A tour that is too short for the tiles is climbed by a thread in any case.
def block_least : i64 = 24
def block_most : i64 = 32767

-- How many lanes a block has, and how many rows a tile: see docs/benchmarks.md.
module few_lanes = {def rows = 7i64 def lanes = 32i64}
module some_lanes = {def rows = 7i64 def lanes = 64i64}
module many_lanes = {def rows = 11i64 def lanes = 128i64}
module most_lanes = {def rows = 11i64 def lanes = 512i64}

-- How many cities a climber of the iterated local search looks at together.
module few_cities = {def cities = 4i64}
module k_swap_lanes = {def rows = 7i64 def lanes = 256i64}
module k_swap_most_lanes = {def rows = 9i64 def lanes = 512i64}

module few_rows = {
  def rows = 5i64
  def units = 524288i64
  def least = 4i64
  def most = 256i64
  def proposing_units = 131072i64
}

module many_rows = {
  def rows = 9i64
  def units = 524288i64
  def least = 4i64
  def most = 256i64
  def proposing_units = 131072i64
}

module fine_few = mk_restarts (mk_block_climber fine_grid few_lanes) blocks
module fine_some = mk_restarts (mk_block_climber fine_grid some_lanes) blocks
module fine_many = mk_restarts (mk_block_climber fine_grid many_lanes) blocks
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
module matrix_some = mk_restarts (mk_block_climber gpu_matrix some_lanes) blocks
module matrix_most = mk_restarts (mk_block_climber gpu_matrix most_lanes) blocks
module matrix_k_swap = mk_restarts (mk_block_k_swap_climber gpu_matrix k_swap_lanes) blocks
module matrix_thread = mk_restarts (mk_thread_climber gpu_matrix) threads
module matrix_population_block = mk_population matrix (mk_ils matrix (mk_block_hands matrix few_cities)) blocks_of_hands
module matrix_population_thread = mk_population matrix (mk_ils matrix (mk_thread_hands matrix)) apart
module grid_population_block = mk_population grid (mk_ils grid (mk_block_hands grid few_cities)) blocks_of_hands
module grid_population_thread = mk_population grid (mk_ils grid (mk_thread_hands grid)) apart
module plane_population_block = mk_population plane (mk_ils plane (mk_block_hands plane few_cities)) blocks_of_hands
module plane_population_thread = mk_population plane (mk_ils plane (mk_thread_hands plane)) apart
module matrix_generation = mk_generation matrix
module grid_generation = mk_generation grid
module plane_generation = mk_generation plane
module matrix_descent = mk_descent (mk_rows screened_matrix few_rows)
module plane_descent = mk_descent (mk_rows screened_plane many_rows)
module matrix_many = mk_many matrix
module grid_many = mk_many grid
module plane_many = mk_many plane
module grid_passes = mk_passes planar_grid
module grid_path = mk_path planar_grid
module grid_pieces = mk_pieces planar_grid (mk_ils grid_path (mk_block_hands grid_path few_cities)) blocks_of_hands
module plane_passes = mk_passes planar_plane
module plane_path = mk_path planar_plane
module plane_pieces = mk_pieces planar_plane (mk_ils plane_path (mk_block_hands plane_path few_cities)) blocks_of_hands

-- Which block suits how many cities and moves a pass.
def fine_block [c] [n] (data: fine_grid.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if k > 1 && n < 2000
  then fine_k_swap.climb data k limit batch
  else if k > 1
  then fine_k_swap_most.climb data k limit batch
  else if n < 160
  then fine_few.climb data k limit batch
  else if n < 320
  then fine_some.climb data k limit batch
  else if n < 3000
  then fine_many.climb data k limit batch
  else fine_most.climb data k limit batch

def coarse_block [c] [n] (data: coarse_grid.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if k > 1 && n < 2000
  then coarse_k_swap.climb data k limit batch
  else if k > 1
  then coarse_k_swap_most.climb data k limit batch
  else if n < 320
  then coarse_some.climb data k limit batch
  else if n < 3000
  then coarse_many.climb data k limit batch
  else coarse_most.climb data k limit batch

def fast_block [c] [n] (data: fast_plane.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if k > 1
  then fast_k_swap.climb data k limit batch
  else if n < 1000
  then fast_some.climb data k limit batch
  else fast_most.climb data k limit batch

def plane_block [c] [n] (data: gpu_plane.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if k > 1
  then plane_k_swap.climb data k limit batch
  else if n < 1000
  then plane_some.climb data k limit batch
  else plane_most.climb data k limit batch

def matrix_block [c] [n] (data: gpu_matrix.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) =
  if k > 1
  then matrix_k_swap.climb data k limit batch
  else if n < 1000
  then matrix_some.climb data k limit batch
  else matrix_most.climb data k limit batch

-- An instance on the device; `fine` where the coordinates are small enough for `fine_grid`, `fast` where they are for
-- `fast_plane`.
type matrix_instance [n] = {matrix: gpu_matrix.data [n]}
type grid_instance [n] = {grid: fine_grid.data [n], fine: bool}
type plane_instance [n] = {plane: fast_plane.data [n], fast: bool}

def fits_32_bits (n: i64) = n >= 1 && n <= i64.i32 i32.highest
def are_climbers (first: i64) (count: i64) = first >= 0 && count >= 1
def are_limits (k: i32) (limit: i32) = k >= 1 && limit >= 0
def are_diagonals (n: i64) (from: i64) (to: i64) = from >= 2 && from <= to && to <= i64.max 2 (diagonals_end n)
def fits_a_block (n: i64) = n >= block_least && n <= block_most

entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] =
  assert (fits_32_bits n) {matrix = distances}

entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] =
  let width = i32.maximum xs - i32.minimum xs
  let height = i32.maximum ys - i32.minimum ys
  let (longs, shorts) = if width >= height then (xs, ys) else (ys, xs)
  let diagonal = f32.sqrt (f32.i32 width ** 2 + f32.i32 height ** 2)
  in assert (fits_32_bits n) { grid = (map f32.i32 longs, map f32.i32 shorts)
                             , fine = i32.min width height <= 4090 && diagonal <= 5790
                             }

entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] =
  let (plane, fast) = fast_data (xs, ys, f64.bool up)
  in assert (fits_32_bits n) {plane, fast}

-- The grid as whole numbers again, which its coordinates are.
def whole [n] ((xs, ys): fine_grid.data [n]) : grid.data [n] = (map i32.f32 xs, map i32.f32 ys)

-- The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
entry matrix_climb_block [c] [n] (instance: matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit && fits_a_block n) (matrix_block instance.matrix k limit batch)

entry matrix_climb_thread [c] [n] (instance: matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (matrix_thread.climb instance.matrix k limit batch)

entry grid_climb_block [c] [n] (instance: grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit && fits_a_block n) (if instance.fine
                                                 then fine_block instance.grid k limit batch
                                                 else coarse_block instance.grid k limit batch)

entry grid_climb_thread [c] [n] (instance: grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if instance.fine
                               then fine_thread.climb instance.grid k limit batch
                               else coarse_thread.climb instance.grid k limit batch)

entry plane_climb_block [c] [n] (instance: plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit && fits_a_block n) (if instance.fast
                                                 then fast_block instance.plane k limit batch
                                                 else plane_block instance.plane.exact k limit batch)

entry plane_climb_thread [c] [n] (instance: plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if instance.fast
                               then fast_thread.climb instance.plane k limit batch
                               else plane_thread.climb instance.plane.exact k limit batch)

-- Climbers first, …, first + count - 1 of a seed on their random tours, or climbers on given tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] =
  assert (fits_32_bits n && are_climbers first count) (random_batch n seed first count)

entry batch_given [c] [n] (tours: [c][n]i32) : batch [c] [n] =
  assert (fits_32_bits n && all is_tour tours) (batch_on tours)

-- What a batch has found so far.
entry batch_lengths [c] [n] (batch: batch [c] [n]) : [c]i64 = batch.lengths
entry batch_steps [c] [n] (batch: batch [c] [n]) : [c]i32 = batch.steps
entry batch_done [c] [n] (batch: batch [c] [n]) : [c]bool = batch.done
entry batch_best [c] [n] (batch: batch [c] [n]) : i64 = best batch
entry batch_passes [c] [n] (batch: batch [c] [n]) : [c]i32 = batch.passes
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

entry matrix_descend [n] (instance: matrix_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] =
  assert (are_limits 1 limit) (matrix_descent.descend instance.matrix descent limit)

entry plane_descend [n] (instance: plane_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] =
  assert (are_limits 1 limit) (plane_descent.descend (screened instance.plane) descent limit)

entry matrix_scan [n] (instance: matrix_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
  assert (are_limits k 0 && are_diagonals n from to) (matrix_descent.scan instance.matrix descent k from to)

entry plane_scan [n] (instance: plane_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
  assert (are_limits k 0 && are_diagonals n from to) (plane_descent.scan (screened instance.plane) descent k from to)

entry descent_turn [n] (descent: descent [n]) (k: i32) : descent [n] =
  assert (are_limits k 0) (turn k descent)

-- Where a tour stands: itself; and by how much it has become shorter, its moves, its passes, and 1 where it is done.
entry descent_tour [n] (descent: descent [n]) : [n]i32 = descent.tour

entry descent_counts [n] (descent: descent [n]) : [4]i64 =
  [descent.gained, descent.moves, descent.passes, i64.bool descent.done]

-- Climbers of the iterated local search on given tours; their lengths are 0 until they have climbed.
entry population_given [p] [n] (tours: [p][n]i32) : population [p] [n] =
  assert (fits_32_bits n && are_climbers 0 p && all is_tour tours) (population_on tours)

-- The climbers of a population, streams first, …, first + p - 1 of the seed, go on by the iterations from, …,
-- from + iterations - 1, behind a descent where `from` is 0. Lists of neighbours are in order of their distances.
entry matrix_ils_block [p] [n] [k]
                       (instance: matrix_instance [n])
                       (lists: [n][k]i32)
                       (population: population [p] [n])
                       (seed: u64)
                       (first: i64)
                       (from: i64)
                       (iterations: i64)
                       (moves: i32)
                       (pivot: i32)
                       (draws: i32)
                       (kick: i32)
                       (temperature: f64)
                       (cooled: i64) : population [p] [n] =
  let plan = plan_of n seed first from iterations moves pivot draws kick temperature cooled
  in matrix_population_block.climb instance.matrix lists plan population

entry matrix_ils_thread [p] [n] [k]
                        (instance: matrix_instance [n])
                        (lists: [n][k]i32)
                        (population: population [p] [n])
                        (seed: u64)
                        (first: i64)
                        (from: i64)
                        (iterations: i64)
                        (moves: i32)
                        (pivot: i32)
                        (draws: i32)
                        (kick: i32)
                        (temperature: f64)
                        (cooled: i64) : population [p] [n] =
  let plan = plan_of n seed first from iterations moves pivot draws kick temperature cooled
  in matrix_population_thread.climb instance.matrix lists plan population

entry grid_ils_block [p] [n] [k]
                     (instance: grid_instance [n])
                     (lists: [n][k]i32)
                     (population: population [p] [n])
                     (seed: u64)
                     (first: i64)
                     (from: i64)
                     (iterations: i64)
                     (moves: i32)
                     (pivot: i32)
                     (draws: i32)
                     (kick: i32)
                     (temperature: f64)
                     (cooled: i64) : population [p] [n] =
  let plan = plan_of n seed first from iterations moves pivot draws kick temperature cooled
  in grid_population_block.climb (whole instance.grid) lists plan population

entry grid_ils_thread [p] [n] [k]
                      (instance: grid_instance [n])
                      (lists: [n][k]i32)
                      (population: population [p] [n])
                      (seed: u64)
                      (first: i64)
                      (from: i64)
                      (iterations: i64)
                      (moves: i32)
                      (pivot: i32)
                      (draws: i32)
                      (kick: i32)
                      (temperature: f64)
                      (cooled: i64) : population [p] [n] =
  let plan = plan_of n seed first from iterations moves pivot draws kick temperature cooled
  in grid_population_thread.climb (whole instance.grid) lists plan population

entry plane_ils_block [p] [n] [k]
                      (instance: plane_instance [n])
                      (lists: [n][k]i32)
                      (population: population [p] [n])
                      (seed: u64)
                      (first: i64)
                      (from: i64)
                      (iterations: i64)
                      (moves: i32)
                      (pivot: i32)
                      (draws: i32)
                      (kick: i32)
                      (temperature: f64)
                      (cooled: i64) : population [p] [n] =
  let plan = plan_of n seed first from iterations moves pivot draws kick temperature cooled
  in plane_population_block.climb instance.plane.exact lists plan population

entry plane_ils_thread [p] [n] [k]
                       (instance: plane_instance [n])
                       (lists: [n][k]i32)
                       (population: population [p] [n])
                       (seed: u64)
                       (first: i64)
                       (from: i64)
                       (iterations: i64)
                       (moves: i32)
                       (pivot: i32)
                       (draws: i32)
                       (kick: i32)
                       (temperature: f64)
                       (cooled: i64) : population [p] [n] =
  let plan = plan_of n seed first from iterations moves pivot draws kick temperature cooled
  in plane_population_thread.climb instance.plane.exact lists plan population

-- The best tours of a population, streams first, …, first + p - 1 of the seed, after a descent over all cities.
entry matrix_polish_block [p] [n] [k]
                          (instance: matrix_instance [n])
                          (lists: [n][k]i32)
                          (population: population [p] [n])
                          (seed: u64)
                          (first: i64)
                          (moves: i32)
                          (pivot: i32)
                          (draws: i32) : population [p] [n] =
  matrix_population_block.polish instance.matrix lists seed first moves pivot draws population

entry matrix_polish_thread [p] [n] [k]
                           (instance: matrix_instance [n])
                           (lists: [n][k]i32)
                           (population: population [p] [n])
                           (seed: u64)
                           (first: i64)
                           (moves: i32)
                           (pivot: i32)
                           (draws: i32) : population [p] [n] =
  matrix_population_thread.polish instance.matrix lists seed first moves pivot draws population

entry grid_polish_block [p] [n] [k]
                        (instance: grid_instance [n])
                        (lists: [n][k]i32)
                        (population: population [p] [n])
                        (seed: u64)
                        (first: i64)
                        (moves: i32)
                        (pivot: i32)
                        (draws: i32) : population [p] [n] =
  grid_population_block.polish (whole instance.grid) lists seed first moves pivot draws population

entry grid_polish_thread [p] [n] [k]
                         (instance: grid_instance [n])
                         (lists: [n][k]i32)
                         (population: population [p] [n])
                         (seed: u64)
                         (first: i64)
                         (moves: i32)
                         (pivot: i32)
                         (draws: i32) : population [p] [n] =
  grid_population_thread.polish (whole instance.grid) lists seed first moves pivot draws population

entry plane_polish_block [p] [n] [k]
                         (instance: plane_instance [n])
                         (lists: [n][k]i32)
                         (population: population [p] [n])
                         (seed: u64)
                         (first: i64)
                         (moves: i32)
                         (pivot: i32)
                         (draws: i32) : population [p] [n] =
  plane_population_block.polish instance.plane.exact lists seed first moves pivot draws population

entry plane_polish_thread [p] [n] [k]
                          (instance: plane_instance [n])
                          (lists: [n][k]i32)
                          (population: population [p] [n])
                          (seed: u64)
                          (first: i64)
                          (moves: i32)
                          (pivot: i32)
                          (draws: i32) : population [p] [n] =
  plane_population_thread.polish instance.plane.exact lists seed first moves pivot draws population

-- Climbers first, …, first + count - 1 of a seed on nearest-neighbour tours from random cities.
entry matrix_start [n] [k]
                   (instance: matrix_instance [n])
                   (lists: [n][k]i32)
                   (seed: u64)
                   (first: i64)
                   (count: i64)
                   (passes: i32) : population [count] [n] =
  assert (are_climbers first count && are_lists lists && are_passes passes) (matrix_generation.started instance.matrix lists seed first count (u64.i32 passes) (threads_a_climber count n))

entry grid_start [n] [k]
                 (instance: grid_instance [n])
                 (lists: [n][k]i32)
                 (seed: u64)
                 (first: i64)
                 (count: i64)
                 (passes: i32) : population [count] [n] =
  assert (are_climbers first count && are_lists lists && are_passes passes) (grid_generation.started (whole instance.grid) lists seed first count (u64.i32 passes) (threads_a_climber count n))

entry plane_start [n] [k]
                  (instance: plane_instance [n])
                  (lists: [n][k]i32)
                  (seed: u64)
                  (first: i64)
                  (count: i64)
                  (passes: i32) : population [count] [n] =
  assert (are_climbers first count && are_lists lists && are_passes passes) (plane_generation.started instance.plane.exact lists seed first count (u64.i32 passes) (threads_a_climber count n))

-- The next generation: each tour is replaced by its best child of so many with the next one in a random order. The lengths
-- must be known: after a call of `…_ils`.
entry matrix_cross [p] [n] [k]
                   (instance: matrix_instance [n])
                   (lists: [n][k]i32)
                   (population: population [p] [n])
                   (seed: u64)
                   (generation: i64)
                   (children: i32)
                   (spread: i64) : population [p] [n] =
  assert (are_lists lists && is_generation generation children spread) (matrix_generation.next instance.matrix lists seed generation children spread population)

entry grid_cross [p] [n] [k]
                 (instance: grid_instance [n])
                 (lists: [n][k]i32)
                 (population: population [p] [n])
                 (seed: u64)
                 (generation: i64)
                 (children: i32)
                 (spread: i64) : population [p] [n] =
  assert (are_lists lists && is_generation generation children spread) (grid_generation.next (whole instance.grid) lists seed generation children spread population)

entry plane_cross [p] [n] [k]
                  (instance: plane_instance [n])
                  (lists: [n][k]i32)
                  (population: population [p] [n])
                  (seed: u64)
                  (generation: i64)
                  (children: i32)
                  (spread: i64) : population [p] [n] =
  assert (are_lists lists && is_generation generation children spread) (plane_generation.next instance.plane.exact lists seed generation children spread population)

-- What a population has found so far: the best tours.
entry population_tours [p] [n] (population: population [p] [n]) : [p][n]i32 = population.bests
entry population_lengths [p] [n] (population: population [p] [n]) : [p]i64 = population.lengths
entry population_steps [p] [n] (population: population [p] [n]) : [p]i64 = population.steps
entry population_best [p] [n] (population: population [p] [n]) : i64 = shortest population

entry population_tour [p] [n] (population: population [p] [n]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < p) (copy population.bests[place])

-- Two populations as one, the climbers of `a` first.
entry population_joined [p] [q] [n] (a: population [p] [n]) (b: population [q] [n]) : population [p + q] [n] = joined a b

-- The climbers at the places `to` go on from where those at the places `from` stand.
entry population_copy [p] [n] [q] (population: population [p] [n]) (from: [q]i32) (to: [q]i32) : population [p] [n] =
  assert (are_places p from && are_places p to && are_distinct p to) (follow population from to)

-- Many instances of equal size at once, with lists of the k nearest; each is solved as if it were alone.
entry matrix_solve_many [b] [n] (distances: [b][n][n]i32) (k: i64) (seed: u64) (climbers: i64) (generations: i64) (children: i32) (spread: i64) (passes: i32) : many [b] [n] =
  let data (i: i64) = #[unsafe] distances[i]
  in assert (fits_32_bits n && b >= 1 && k >= 1 && k < n && are_counts climbers generations children spread && are_passes passes) (matrix_many.solve b data k seed climbers generations children spread passes)

entry grid_solve_many [b] [n] (xs: [b][n]i32) (ys: [b][n]i32) (k: i64) (seed: u64) (climbers: i64) (generations: i64) (children: i32) (spread: i64) (passes: i32) : many [b] [n] =
  let data (i: i64) = #[unsafe] (xs[i], ys[i])
  in assert (fits_32_bits n && b >= 1 && k >= 1 && k < n && are_counts climbers generations children spread && are_passes passes) (grid_many.solve b data k seed climbers generations children spread passes)

entry plane_solve_many [b] [n] (xs: [b][n]f64) (ys: [b][n]f64) (up: bool) (k: i64) (seed: u64) (climbers: i64) (generations: i64) (children: i32) (spread: i64) (passes: i32) : many [b] [n] =
  let data (i: i64) = #[unsafe] (xs[i], ys[i], f64.bool up)
  in assert (fits_32_bits n && b >= 1 && k >= 1 && k < n && are_counts climbers generations children spread && are_passes passes) (plane_many.solve b data k seed climbers generations children spread passes)

entry many_tours [b] [n] (many: many [b] [n]) : [b][n]i32 = many.tours
entry many_lengths [b] [n] (many: many [b] [n]) : [b]i64 = many.lengths

-- Fails for a negative number: how an error inside a kernel surfaces can be seen, and tested, by it.
entry debug_fail (x: i32) : i32 = assert (x >= 0) x
entry debug_sum [n] (xs: [n]i32) : i64 = i64.sum (map i64.i32 xs)

-- One huge tour: links are neighbour lists with their distances, in order of these; what is huge holds the tour.

entry grid_links [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) : links [n] [k] =
  grid_passes.T.links_of (whole instance.grid) (assert (are_lists lists) lists)

entry plane_links [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) : links [n] [k] =
  plane_passes.T.links_of instance.plane.exact (assert (are_lists lists) lists)

entry huge_given [n] (tour: [n]i32) : huge [n] =
  assert (fits_32_bits n && is_tour tour) (huge_of tour (replicate n true))

entry huge_tour [n] (huge: huge [n]) : [n]i32 = huge.tour
entry huge_done [n] (huge: huge [n]) : bool = huge.done
entry huge_moves [n] (huge: huge [n]) : i64 = huge.moves

entry grid_huge_length [n] (instance: grid_instance [n]) (huge: huge [n]) : i64 = grid_passes.length_of (whole instance.grid) huge

entry plane_huge_length [n] (instance: plane_instance [n]) (huge: huge [n]) : i64 = plane_passes.length_of instance.plane.exact huge

-- Passes over the neighbourhood of the whole tour, at most `limit` of them.

entry grid_settle [n] [k]
                  (instance: grid_instance [n])
                  (links: links [n] [k])
                  (huge: huge [n])
                  (seed: u64)
                  (limit: i64) : huge [n] =
  grid_passes.descend (whole instance.grid) links seed limit huge

entry plane_settle [n] [k]
                   (instance: plane_instance [n])
                   (links: links [n] [k])
                   (huge: huge [n])
                   (seed: u64)
                   (limit: i64) : huge [n] =
  plane_passes.descend instance.plane.exact links seed limit huge

-- Pieces first, …, first + count - 1 of `piece` cities climb, by the iterations from, …, from + iterations - 1, behind a
-- descent where `from` is 0; the piece 0 begins at position `offset`, and its climber is the stream `stream` of the seed.

entry grid_climb_pieces [n] [k]
                        (instance: grid_instance [n])
                        (links: links [n] [k])
                        (huge: huge [n])
                        (seed: u64)
                        (stream: i64)
                        (from: i64)
                        (iterations: i64)
                        (temperature: f64)
                        (offset: i64)
                        (piece: i64)
                        (first: i64)
                        (count: i64) : huge [n] =
  let plan = plan_of n seed stream from iterations 1 0 1 0 temperature 0
  in assert (are_pieces n offset piece first count) (grid_pieces.climb (whole instance.grid) links plan offset piece first count huge)

entry plane_climb_pieces [n] [k]
                         (instance: plane_instance [n])
                         (links: links [n] [k])
                         (huge: huge [n])
                         (seed: u64)
                         (stream: i64)
                         (from: i64)
                         (iterations: i64)
                         (temperature: f64)
                         (offset: i64)
                         (piece: i64)
                         (first: i64)
                         (count: i64) : huge [n] =
  let plan = plan_of n seed stream from iterations 1 0 1 0 temperature 0
  in assert (are_pieces n offset piece first count) (plane_pieces.climb instance.plane.exact links plan offset piece first count huge)
