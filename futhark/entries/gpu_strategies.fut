-- | The entry points of the cuda and opencl backends for iterated local search by climbers in step with each other, their tours
-- in the device's memory: what is asked for by name only. Draws of a climber are shared out among so many thread `blocks`.

import "../core/instances"
import "../core/metric"
import "../core/tour"
import "../local_search/ils"
import "../local_search/lockstep"
import "../local_search/population"

-- How many cities a climber looks at together.
module few_cities = {def cities = 4i64}

module matrix_lockstep = mk_lockstep matrix few_cities
module grid_lockstep = mk_lockstep grid few_cities
module plane_lockstep = mk_lockstep plane few_cities

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] = load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up

-- Climbers on given tours; their lengths are 0 until they have climbed.
entry population_given [p] [n] (tours: [p][n]i32) : population [p] [n] = given_population tours

-- The climbers of a population go on by a plan, as those of `gpu_search.fut` do.
entry matrix_ils_lockstep [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (blocks: i64) : population [p] [n] = matrix_lockstep.search instance.matrix lists population plan blocks
entry grid_ils_lockstep [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (blocks: i64) : population [p] [n] = grid_lockstep.search instance.grid lists population plan blocks
entry plane_ils_lockstep [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (blocks: i64) : population [p] [n] = plane_lockstep.search instance.plane lists population plan blocks

-- The best tours of a population, after a descent over all cities by a plan, but without its iterations.
entry matrix_polish_lockstep [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (blocks: i64) : population [p] [n] = matrix_lockstep.polish instance.matrix lists population plan blocks
entry grid_polish_lockstep [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (blocks: i64) : population [p] [n] = grid_lockstep.polish instance.grid lists population plan blocks
entry plane_polish_lockstep [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (blocks: i64) : population [p] [n] = plane_lockstep.polish instance.plane lists population plan blocks

-- What a population has found so far: the best tours' lengths, the improvements, the place of the shortest, and a tour.
entry population_lengths [p] [n] (population: population [p] [n]) : [p]i64 = population.lengths
entry population_steps [p] [n] (population: population [p] [n]) : [p]i64 = population.steps
entry population_best [p] [n] (population: population [p] [n]) : i64 = shortest population
entry population_tour [p] [n] (population: population [p] [n]) (place: i64) : [n]i32 = tour_at population.bests place

-- The climbers at the places `to` go on from where those at the places `from` stand.
entry population_copy [p] [n] [q] (population: population [p] [n]) (from: [q]i32) (to: [q]i32) : population [p] [n] = follow population from to
