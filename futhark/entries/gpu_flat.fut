-- | The entry points of the cuda and opencl backends for edge assembly crossover: those of `cpu.fut`, all tours at once.
--
-- One copy of the code serves all forms of distances: each takes the compiler of a GPU many seconds.

import "../core/anywhere"
import "../core/instances"
import "../core/positions"
import "../core/space"
import "../core/tour"
import "../flat/climbers"
import "../flat/crossing"
import "../flat/curve"
import "../flat/many"
import "../flat/rows"
import "../flat/starts"
import "../local_search/population"

module any_crossing = mk_crossing anywhere
module any_starts = mk_starts anywhere
local module flat = import "../flat/apply"

def grid_anywhere [n] (instance: grid_instance [n]) : anywhere.data [n] = plane_anywhere (plane_of_grid instance)

-- One copy of each step serves one instance and many.

#[noinline]
def rows_started [n] [k] (rows: rows) (data: anywhere.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) = any_crossing.start rows data lists spots count plan

#[noinline]
def rows_crossed [p] [n] [r] [k] (rows: rows) (data: anywhere.data [n]) (lists: [n][k]i32) (tours: flat.population [p] [n] [r]) (plan: generation_plan) = any_crossing.cross rows data lists tours plan

def bulk_started [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] =
  climbers_on (rows_started (one_row n) data lists spots count plan :> flat.population [count] [n] [count]) (replicate count 0)

#[noinline]
def bulk_searched [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: bulk_plan) : population [p] [n] =
  climbers_on (any_crossing.search (one_row n) data lists climbers.bests plan) climbers.steps

def next_generation [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: generation_plan) : population [p] [n] =
  -- Of as many rows as a batch has by its type: another type would be another copy.
  let rows = one_row n
  let r = p * instances rows
  let (tours, changed) = rows_crossed rows data lists (measured_of climbers :> flat.population [p] [n] [r]) plan
  in after climbers (tours :> flat.population [p] [n] [p], changed :> [p]bool)

#[noinline]
def many_given [p] [n] [k] [b] (data: anywhere.data [n]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] =
  let rows = rows_of n sizes (replicate b true)
  let fits = are_sizes n sizes && are_lists_of rows lists && are_climbers 0 p && are_in_rows rows tours
  let tours = assert fits tours
  in begun lists sizes left (any_starts.measured rows data tours (map positions tours) :> flat.population [p] [n] [p * b])

#[noinline]
def many_crossed [p] [n] [k] [b] [r] (data: anywhere.data [n]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] =
  moved_on batch (rows_crossed (rows_of_batch batch) data batch.lists (tours_of batch) plan)

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] = load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up
entry space_load [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) (aways: [n]i32) (ties: [n]i32) (formula: i32) (radius: f64) (longer: i32) : space_instance [n] = load_space xs ys zs aways ties formula radius longer

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

-- Many instances at once, of a plane or of matrices, each as if it were alone: populations on given tours, by the cities and the
-- generations of each instance; the next generation of those that go on; which these are; and the shortest tours, by each
-- instance's own numbers, with their lengths.
entry plane_many_given [p] [n] [k] [b] (instance: plane_instance [n]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] = many_given (plane_anywhere instance.plane) lists sizes left tours
entry matrices_many_given [p] [n] [w] [k] [b] (instance: matrices_instance [n] [w]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] = many_given (matrices_anywhere instance) lists sizes left tours
entry plane_many_cross [p] [n] [k] [b] [r] (instance: plane_instance [n]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] = many_crossed (plane_anywhere instance.plane) batch plan
entry matrices_many_cross [p] [n] [w] [k] [b] [r] (instance: matrices_instance [n] [w]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] = many_crossed (matrices_anywhere instance) batch plan
entry many_going [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : [b]bool = go_on batch
entry many_bests [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : ([n]i32, [b]i64) = bests batch

-- The matrices of instances, one behind another, by where the row of each city begins, less the number of the first city.
entry matrices_load [n] [w] (firsts: [n]i64) (distances: [w]i32) : matrices_instance [n] [w] = load_matrices firsts distances
