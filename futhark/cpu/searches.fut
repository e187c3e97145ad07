-- | Every search of the c and multicore backends, made of its modules, for each form of distances.

import "../bound/one_tree"
import "../comparators/annealing"
import "../comparators/ants"
import "../core/anywhere"
import "../core/instances"
import "../core/metric"
import "../core/planar"
import "../core/schedule"
import "../core/space"
import "../crossover/many"
import "../flat/crossing"
import "../flat/curve"
import "../large/parallel_moves"
import "../large/pieces"
import "../local_search/ils"
import "../local_search/lin_kernighan"
import "../local_search/near_tours"
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
module any_worker = mk_thread_worker anywhere
module any_climbing = mk_deep_ils anywhere any_worker (mk_thread_look anywhere)
module any_population = mk_population anywhere any_climbing cores
module any_near_tours = mk_near_tours anywhere cores
module any_crossing = mk_crossing anywhere
module any_many = mk_many anywhere (mk_ils anywhere any_worker) cores
module space_passes = mk_passes space wide
module space_path = mk_path space
module space_pieces = mk_pieces space (mk_deep_ils space_path (mk_thread_worker space_path) (mk_thread_look space_path)) cores
module any_annealing = mk_annealing anywhere any_worker cores
module any_ants = mk_ants anywhere any_population cores

-- | A grid's cities, as they are for huge tours and for all else. **Work:** O(n).
def grid_in_space [n] (instance: grid_instance [n]) : places [n] = in_space (plane_of_grid instance)
def grid_anywhere [n] (instance: grid_instance [n]) : anywhere.data [n] = plane_anywhere (plane_of_grid instance)

-- What several forms share, as calls: one copy of the code serves all.

#[noinline]
def plane_climbed_by [c] [n] [m] [w] (data: plane.data [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = plane_climbs.climb_by data pairs batch limit

#[noinline]
def nearest_tours [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) (spread: i64) : population [count] [n] = any_near_tours.start data lists seed first count passes spread

#[noinline]
def bulk_started [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] = any_crossing.start_alone data lists spots count plan

#[noinline]
def bulk_searched [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: bulk_plan) : population [p] [n] = any_crossing.search_alone data lists climbers plan

#[noinline]
def next_generation [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: generation_plan) : population [p] [n] = any_crossing.cross_alone data lists climbers plan

#[noinline]
def listed [b] [n] [w] (kind: kind) (xs: [b][n]f64) (ys: [b][n]f64) (distances: [b][w]i32) (k: i64) : [b][n][k]i32 =
  any_many.lists b (\i -> #[unsafe] anywhere.of_kind kind xs[i] ys[i] distances[i]) k

#[noinline]
def solved [b] [n] [w] [k] [j] (kind: kind) (xs: [b][n]f64) (ys: [b][n]f64) (distances: [b][w]i32) (near: [b][n][j]i32) (lists: [b][n][k]i32) (plan: many_plan) : many [b] [n] =
  any_many.solve (\i -> #[unsafe] anywhere.of_kind kind xs[i] ys[i] distances[i]) near lists plan

def kind_in_plane (up: f64) : kind = if up > 0 then plane_rounded_up else plane_rounded

def listed_in_plane [b] [n] (xs: [b][n]f64) (ys: [b][n]f64) (up: f64) (k: i64) : [b][n][k]i32 =
  listed (kind_in_plane up) xs ys (replicate b []) k

def solved_in_plane [b] [n] [k] [j] (xs: [b][n]f64) (ys: [b][n]f64) (up: f64) (near: [b][n][j]i32) (lists: [b][n][k]i32) (plan: many_plan) : many [b] [n] =
  solved (kind_in_plane up) xs ys (replicate b []) near lists plan

def listed_in_matrix [b] [n] (distances: [b][n][n]i32) (k: i64) : [b][n][k]i32 =
  let nowhere = replicate b (replicate n 0)
  in listed in_matrix nowhere nowhere (map flatten distances) k

def solved_in_matrix [b] [n] [k] [j] (distances: [b][n][n]i32) (near: [b][n][j]i32) (lists: [b][n][k]i32) (plan: many_plan) : many [b] [n] =
  let nowhere = replicate b (replicate n 0)
  in solved in_matrix nowhere nowhere (map flatten distances) near lists plan

#[noinline]
def descended [n] [k] (data: places [n]) (links: links [n] [k]) (seed: u64) (limit: i64) (most: i64) (huge: huge [n]) : huge [n] = space_passes.descend data links seed limit most huge

#[noinline]
def climbed_pieces [n] [k] (data: places [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (stretch: stretch) (temperature: f64) (moves: i32) (pieces: piece_range) : huge [n] = space_pieces.search data neighbours huge stretch temperature moves pieces
