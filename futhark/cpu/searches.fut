-- | Every search of the c and multicore backends, made of its modules, for each form of distances.

import "../bound/one_tree"
import "../comparators/annealing"
import "../comparators/ants"
import "../core/anywhere"
import "../core/instances"
import "../core/metric"
import "../core/planar"
import "../core/positions"
import "../core/schedule"
import "../core/space"
import "../flat/climbers"
import "../flat/crossing"
import "../flat/curve"
import "../flat/many"
import "../flat/rows"
import "../flat/starts"
import "../large/parallel_moves"
import "../large/pieces"
import "../local_search/ils"
import "../local_search/lin_kernighan"
import "../local_search/many_starts"
import "../local_search/near_tours"
import "../local_search/population"
import "../local_search/three_opt"
import "../local_search/worker"
import "../two_opt/bands"
import "../two_opt/cpu_climbs"
import "../two_opt/descent"
import "../two_opt/pairs"
import "../two_opt/restarts"
import "many"

local module flat = import "../flat/apply"
type flat_population [p] [n] [r] = flat.population [p] [n] [r]

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
module any_many_starts = mk_many_starts anywhere any_climbing cores
module any_starts = mk_starts anywhere
module space_passes = mk_passes space wide
module space_path = mk_path space
module space_pieces = mk_pieces space (mk_deep_ils space_path (mk_thread_worker space_path) (mk_thread_look space_path))
module any_annealing = mk_annealing anywhere any_worker cores
module any_ants = mk_ants anywhere any_population cores

-- What several forms share, as calls: one copy of the code serves all.

#[noinline]
def nearest_tours [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) (spread: i64) : population [count] [n] = any_near_tours.start data lists seed first count passes spread

#[noinline]
def bulk_started [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] = climbers_on (any_crossing.start_alone data lists spots count plan) (replicate count 0)

#[noinline]
def bulk_searched [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: bulk_plan) : population [p] [n] = climbers_on (any_crossing.search_alone data lists climbers.bests plan) climbers.steps

#[noinline]
def next_generation [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: generation_plan) : population [p] [n] = after climbers (any_crossing.cross_alone data lists (measured_of climbers) plan)

-- Many instances, of a plane or of matrices.

#[noinline]
def many_listed [n] (rows: rows) (data: anywhere.data [n]) (k: i64) : [n][k]i32 = any_many_starts.lists rows data k

#[noinline]
def many_climbed [t] [k] (data: anywhere.data [t]) (n: i64) (near: [t][k]i32) (lists: [t][k]i32) (seed: u64) (count: i64) (passes: i32) : [][n]i32 = any_many_starts.climbed (anywhere.part data) n near lists seed count passes

#[noinline]
def many_given [p] [n] [k] [b] (data: anywhere.data [n]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] =
  let rows = rows_of n sizes (replicate b true)
  let fits = are_sizes n sizes && are_lists_of rows lists && are_climbers 0 p && are_in_rows rows tours
  let tours = assert fits tours
  in begun lists sizes left (any_starts.measured rows data tours (map positions tours) :> flat_population [p] [n] [p * b])

#[noinline]
def many_crossed [p] [n] [k] [b] [r] (data: anywhere.data [n]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] =
  let cross (first: i64) (m: i64) (lists: [m][k]i32) (tours: flat_population [p] [m] [p]) = any_crossing.cross (one_row m) (anywhere.part data first m) lists tours plan
  in each_crossed batch cross
