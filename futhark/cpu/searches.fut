-- | Every search of the c and multicore backends, made of its modules, for each form of distances.

import "../bound/one_tree"
import "../comparators/annealing"
import "../comparators/ants"
import "../core/instances"
import "../core/metric"
import "../core/planar"
import "../core/schedule"
import "../core/space"
import "../crossover/generation"
import "../crossover/many"
import "../large/parallel_moves"
import "../large/pieces"
import "../local_search/ils"
import "../local_search/lin_kernighan"
import "../local_search/population"
import "../local_search/three_opt"
import "../local_search/worker"
import "../two_opt/bands"
import "../two_opt/cpu_climbs"
import "../two_opt/descent"
import "../two_opt/pairs"
import "../two_opt/restarts"

module penalties_ascent = mk_ascent prim
module matrix_climbs = mk_cpu_climbs matrix
module grid_climbs = mk_cpu_climbs grid
module plane_climbs = mk_cpu_climbs plane
module bands_of = {def width = 1024i64 def depth = 64i64}
module matrix_descent = mk_descent (mk_bands matrix bands_of)
module grid_descent = mk_descent (mk_bands grid bands_of)
module plane_descent = mk_descent (mk_bands plane bands_of)
module matrix_worker = mk_thread_worker matrix
module space_worker = mk_thread_worker space
module matrix_climbing = mk_deep_ils matrix matrix_worker (mk_thread_look matrix)
module space_climbing = mk_deep_ils space space_worker (mk_thread_look space)
module matrix_population = mk_population matrix matrix_climbing cores
module space_population = mk_population space space_climbing cores
module matrix_generation = mk_generation matrix cores
module space_generation = mk_generation space cores
module matrix_many = mk_many matrix (mk_ils matrix matrix_worker) matrix_generation cores
module space_many = mk_many space (mk_ils space space_worker) space_generation cores
module space_passes = mk_passes space wide
module space_path = mk_path space
module space_pieces = mk_pieces space (mk_deep_ils space_path (mk_thread_worker space_path) (mk_thread_look space_path)) cores
module matrix_annealing = mk_annealing matrix matrix_worker cores
module space_annealing = mk_annealing space space_worker cores
module matrix_ants = mk_ants matrix matrix_population cores
module space_ants = mk_ants space space_population cores

-- | A grid's cities. **Work:** O(n).
def grid_in_space [n] (instance: grid_instance [n]) : space.data [n] = in_space (plane_of_grid instance)

-- What grids, planes and space share, as calls: one copy of the code serves all.

#[noinline]
def plane_climbed_by [c] [n] [m] [w] (data: plane.data [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = plane_climbs.climb_by data pairs batch limit

#[noinline]
def nearest_tours [n] [k] (data: space.data [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) (spread: i64) : population [count] [n] = space_generation.start data lists seed first count passes spread

#[noinline]
def next_generation [p] [n] [k] (data: space.data [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: generation_plan) : population [p] [n] = space_generation.cross data lists population plan

#[noinline]
def solved_in_plane [b] [n] (xs: [b][n]f64) (ys: [b][n]f64) (up: f64) (plan: many_plan) : many [b] [n] = space_many.solve b (\i -> #[unsafe] in_space (xs[i], ys[i], up)) plan

#[noinline]
def descended [n] [k] (data: space.data [n]) (links: links [n] [k]) (seed: u64) (limit: i64) (most: i64) (huge: huge [n]) : huge [n] = space_passes.descend data links seed limit most huge

#[noinline]
def climbed_pieces [n] [k] (data: space.data [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (stretch: stretch) (temperature: f64) (moves: i32) (pieces: piece_range) : huge [n] = space_pieces.search data neighbours huge stretch temperature moves pieces
