-- | The entry points of the cuda and opencl backends for edge assembly crossover: those of `cpu.fut`, all tours at once.
--
-- One copy of the code serves all forms of distances: each takes the compiler of a GPU many seconds.

import "../core/anywhere"
import "../core/instances"
import "../core/space"
import "../core/tour"
import "../flat/crossing"
import "../flat/curve"
import "../local_search/population"

module any_crossing = mk_crossing anywhere

def grid_anywhere [n] (instance: grid_instance [n]) : anywhere.data [n] = plane_anywhere (plane_of_grid instance)

#[noinline]
def bulk_started [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] = any_crossing.start data lists spots count plan

#[noinline]
def bulk_searched [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: bulk_plan) : population [p] [n] = any_crossing.search data lists climbers plan

#[noinline]
def next_generation [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: generation_plan) : population [p] [n] = any_crossing.cross data lists climbers plan

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] = load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up
entry space_load [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) (aways: [n]i32) (formula: i32) (radius: f64) : space_instance [n] = load_space xs ys zs aways formula radius

-- Climbers on given tours; their lengths are 0 until they have climbed.
entry population_given [p] [n] (tours: [p][n]i32) : population [p] [n] = given_population tours

-- Climbers on tours made in bulk: along curves over spots, or of fragments; then a local search of all cities at once, in rounds.
entry matrix_bulk [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (xs: [n]i32) (ys: [n]i32) (count: i64) (plan: bulk_plan) : population [count] [n] = bulk_started (matrix_anywhere instance.matrix) lists (xs, ys) count plan
entry grid_bulk [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (xs: [n]i32) (ys: [n]i32) (count: i64) (plan: bulk_plan) : population [count] [n] = bulk_started (grid_anywhere instance) lists (xs, ys) count plan
entry plane_bulk [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (xs: [n]i32) (ys: [n]i32) (count: i64) (plan: bulk_plan) : population [count] [n] = bulk_started (plane_anywhere instance.plane) lists (xs, ys) count plan
entry space_bulk [n] [k] (instance: space_instance [n]) (lists: [n][k]i32) (xs: [n]i32) (ys: [n]i32) (count: i64) (plan: bulk_plan) : population [count] [n] = bulk_started (anywhere.of_places instance.space) lists (xs, ys) count plan

-- The same local search of climbers on given tours.
entry matrix_rounds [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: bulk_plan) : population [p] [n] = bulk_searched (matrix_anywhere instance.matrix) lists population plan
entry grid_rounds [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: bulk_plan) : population [p] [n] = bulk_searched (grid_anywhere instance) lists population plan
entry plane_rounds [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: bulk_plan) : population [p] [n] = bulk_searched (plane_anywhere instance.plane) lists population plan
entry space_rounds [p] [n] [k] (instance: space_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: bulk_plan) : population [p] [n] = bulk_searched (anywhere.of_places instance.space) lists population plan

-- The next generation: each tour takes over edges from the next one in a random order. The lengths must be known: after a call
-- of `…_ils`, `…_bulk` or `…_rounds`.
entry matrix_cross [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: generation_plan) : population [p] [n] = next_generation (matrix_anywhere instance.matrix) lists population plan
entry grid_cross [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: generation_plan) : population [p] [n] = next_generation (grid_anywhere instance) lists population plan
entry plane_cross [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: generation_plan) : population [p] [n] = next_generation (plane_anywhere instance.plane) lists population plan
entry space_cross [p] [n] [k] (instance: space_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: generation_plan) : population [p] [n] = next_generation (anywhere.of_places instance.space) lists population plan

-- What a population has found so far: the best tours' lengths, the improvements, the place of the shortest, and a tour.
entry population_lengths [p] [n] (population: population [p] [n]) : [p]i64 = population.lengths
entry population_steps [p] [n] (population: population [p] [n]) : [p]i64 = population.steps
entry population_best [p] [n] (population: population [p] [n]) : i64 = shortest population
entry population_tour [p] [n] (population: population [p] [n]) (place: i64) : [n]i32 = tour_at population.bests place

-- Two populations as one, the climbers of `a` first.
entry population_joined [p] [q] [n] (a: population [p] [n]) (b: population [q] [n]) : population [p + q] [n] = join a b

-- The climbers at these places, as a population of their own.
entry population_chosen [p] [n] [q] (population: population [p] [n]) (places: [q]i32) : population [q] [n] = select population places
