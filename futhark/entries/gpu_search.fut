-- | The entry points of the cuda and opencl backends for iterated local search and many instances:
-- those of `cpu.fut`, where a climber has a thread block of its own (`…_block`) or a thread (`…_thread`).

import "../core/anywhere"
import "../core/instances"
import "../core/metric"
import "../core/schedule"
import "../core/tour"
import "../flat/rows"
import "../local_search/block_look"
import "../local_search/block_worker"
import "../local_search/ils"
import "../local_search/lin_kernighan"
import "../local_search/many_starts"
import "../local_search/near_tours"
import "../local_search/population"
import "../local_search/three_opt"
import "../local_search/worker"
import "../neighbours/connected"

-- How many cities a climber of the iterated local search looks at together.
module few_cities = {def cities = 4i64}

module matrix_population_block = mk_population matrix (mk_deep_ils matrix (mk_block_worker matrix few_cities) (mk_block_look matrix few_cities)) blocks
module grid_population_block = mk_population grid (mk_deep_ils grid (mk_block_worker grid few_cities) (mk_block_look grid few_cities)) blocks
module plane_population_block = mk_population plane (mk_deep_ils plane (mk_block_worker plane few_cities) (mk_block_look plane few_cities)) blocks
module matrix_population_thread = mk_population matrix (mk_ils matrix (mk_thread_worker matrix)) spread_threads
module grid_population_thread = mk_population grid (mk_ils grid (mk_thread_worker grid)) spread_threads
module plane_population_thread = mk_population plane (mk_ils plane (mk_thread_worker plane)) spread_threads
module any_climbing_thread = mk_deep_ils anywhere (mk_thread_worker anywhere) (mk_thread_look anywhere)
module any_many_starts = mk_many_starts anywhere any_climbing_thread threads
module matrix_near_tours = mk_near_tours matrix threads
module grid_near_tours = mk_near_tours grid threads
module plane_near_tours = mk_near_tours plane threads

#[noinline]
def many_listed [n] (rows: rows) (data: anywhere.data [n]) (k: i64) : [n][k]i32 = any_many_starts.lists rows data k

#[noinline]
def many_climbed [t] [k] (data: anywhere.data [t]) (n: i64) (near: [t][k]i32) (lists: [t][k]i32) (seed: u64) (count: i64) (passes: i32) : [][n]i32 = any_many_starts.climbed (anywhere.part data) n near lists seed count passes

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] = load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up

-- Climbers of the iterated local search on given tours; their lengths are 0 until they have climbed.
entry population_given [p] [n] (tours: [p][n]i32) : population [p] [n] = given_population tours

-- The climbers of a population go on by a plan: those of the streams first, …, first + p - 1 of its seed, by the iterations
-- from, …, from + iterations - 1, behind a descent where `from` is 0. Lists of neighbours are in order of their distances.
entry matrix_ils_block [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = matrix_population_block.search instance.matrix lists population plan
entry grid_ils_block [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = grid_population_block.search instance.grid lists population plan
entry plane_ils_block [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = plane_population_block.search instance.plane lists population plan
entry matrix_ils_thread [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = matrix_population_thread.search instance.matrix lists population plan
entry grid_ils_thread [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = grid_population_thread.search instance.grid lists population plan
entry plane_ils_thread [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = plane_population_thread.search instance.plane lists population plan

-- The best tours of a population, after a descent over all cities by a plan, but without its iterations.
entry matrix_polish_block [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = matrix_population_block.polish instance.matrix lists population plan
entry grid_polish_block [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = grid_population_block.polish instance.grid lists population plan
entry plane_polish_block [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = plane_population_block.polish instance.plane lists population plan
entry matrix_polish_thread [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = matrix_population_thread.polish instance.matrix lists population plan
entry grid_polish_thread [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = grid_population_thread.polish instance.grid lists population plan
entry plane_polish_thread [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) : population [p] [n] = plane_population_thread.polish instance.plane lists population plan

-- Climbers first, …, first + count - 1 of a seed on nearest-neighbour tours from random cities.
entry matrix_start [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) : population [count] [n] = matrix_near_tours.start instance.matrix lists seed first count passes (threads_a_climber count n)
entry grid_start [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) : population [count] [n] = grid_near_tours.start instance.grid lists seed first count passes (threads_a_climber count n)
entry plane_start [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) : population [count] [n] = plane_near_tours.start instance.plane lists seed first count passes (threads_a_climber count n)

-- What a population has found so far: the best tours' lengths, the improvements, the place of the shortest, and a tour.
entry population_lengths [p] [n] (population: population [p] [n]) : [p]i64 = population.lengths
entry population_steps [p] [n] (population: population [p] [n]) : [p]i64 = population.steps
entry population_best [p] [n] (population: population [p] [n]) : i64 = shortest population
entry population_tour [p] [n] (population: population [p] [n]) (place: i64) : [n]i32 = tour_at population.bests place

-- Two populations as one, the climbers of `a` first.
entry population_joined [p] [q] [n] (a: population [p] [n]) (b: population [q] [n]) : population [p + q] [n] = join a b

-- The climbers at these places, as a population of their own.
entry population_chosen [p] [n] [q] (population: population [p] [n]) (places: [q]i32) : population [q] [n] = select population places

-- The climbers at the places `to` go on from where those at the places `from` stand.
entry population_copy [p] [n] [q] (population: population [p] [n]) (from: [q]i32) (to: [q]i32) : population [p] [n] = follow population from to

-- Many instances at once, of a plane or of matrices, each as if it were alone: the k nearest of each city; whose
-- lists are connected; and tours at their local optima, of instances of n cities each.
entry plane_many_lists [n] [b] (instance: plane_instance [n]) (sizes: [b]i32) (k: i64) : [n][k]i32 = many_listed (rows_of n sizes (replicate b true)) (plane_anywhere instance.plane) k
entry matrices_many_lists [n] [w] [b] (instance: matrices_instance [n] [w]) (sizes: [b]i32) (k: i64) : [n][k]i32 = many_listed (rows_of n sizes (replicate b true)) (matrices_anywhere instance) k
entry many_connected [n] [k] [b] (lists: [n][k]i32) (sizes: [b]i32) : [b]bool = are_connected (rows_of n sizes (replicate b true)) lists :> [b]bool
entry plane_many_climbed [t] [k] (instance: plane_instance [t]) (n: i64) (near: [t][k]i32) (lists: [t][k]i32) (seed: u64) (count: i64) (passes: i32) : [][n]i32 = many_climbed (plane_anywhere instance.plane) n near lists seed count passes
entry matrices_many_climbed [t] [w] [k] (instance: matrices_instance [t] [w]) (n: i64) (near: [t][k]i32) (lists: [t][k]i32) (seed: u64) (count: i64) (passes: i32) : [][n]i32 = many_climbed (matrices_anywhere instance) n near lists seed count passes

-- The matrices of instances, one behind another, by where the row of each city begins, less the number of the first city.
entry matrices_load [n] [w] (firsts: [n]i64) (distances: [w]i32) : matrices_instance [n] [w] = load_matrices firsts distances
