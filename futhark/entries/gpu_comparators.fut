-- | The entry points of the cuda and opencl backends for annealing and ants: those of `cpu.fut`. A chain has a thread, and so
-- has an ant.
--
-- Memory: a chain takes 24 bytes a city, of which 16 once more for each thread that only goes along (`spread_threads`); an ant
-- 8, with a local search 36; a colony 24 a neighbour of each city.

import "../comparators/annealing"
import "../comparators/ants"
import "../core/instances"
import "../core/metric"
import "../core/schedule"
import "../core/tour"
import "../local_search/ils"
import "../local_search/population"
import "../local_search/worker"

module matrix_annealing = mk_annealing matrix (mk_thread_worker matrix) spread_threads
module grid_annealing = mk_annealing grid (mk_thread_worker grid) spread_threads
module plane_annealing = mk_annealing plane (mk_thread_worker plane) spread_threads
module matrix_ants = mk_ants matrix (mk_population matrix (mk_ils matrix (mk_thread_worker matrix)) spread_threads) spread_threads
module grid_ants = mk_ants grid (mk_population grid (mk_ils grid (mk_thread_worker grid)) spread_threads) spread_threads
module plane_ants = mk_ants plane (mk_population plane (mk_ils plane (mk_thread_worker plane)) spread_threads) spread_threads

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] = load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up

-- Chains of annealing on given tours; their lengths are 0 until they have gone on.
entry chains_given [p] [n] (tours: [p][n]i32) : population [p] [n] = given_population tours

-- What chains have found so far: the best tours' lengths, the moves made, and a tour.
entry chains_lengths [p] [n] (chains: population [p] [n]) : [p]i64 = chains.lengths
entry chains_steps [p] [n] (chains: population [p] [n]) : [p]i64 = chains.steps
entry chains_tour [p] [n] (chains: population [p] [n]) (place: i64) : [n]i32 = tour_at chains.bests place

-- Chains go on by a plan, by an iteration at each temperature. Lists without neighbours let all pairs of cities be drawn.
entry matrix_anneal [p] [n] [k] [t] (instance: matrix_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (plan: annealing_plan) (temperatures: [t]f64) : population [p] [n] = matrix_annealing.anneal instance.matrix lists chains plan temperatures
entry grid_anneal [p] [n] [k] [t] (instance: grid_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (plan: annealing_plan) (temperatures: [t]f64) : population [p] [n] = grid_annealing.anneal instance.grid lists chains plan temperatures
entry plane_anneal [p] [n] [k] [t] (instance: plane_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (plan: annealing_plan) (temperatures: [t]f64) : population [p] [n] = plane_annealing.anneal instance.plane lists chains plan temperatures

-- Colonies of ants that know a tour each, of the given length, with equal trails to k neighbours of each city.
entry colonies_given [p] [n] (k: i64) (tours: [p][n]i32) (lengths: [p]i64) (trail: f64) : colonies [p] [n] [k] = given_colonies k tours lengths trail

-- What colonies have found so far: the best tours' lengths, how often they were improved, and a tour.
entry colonies_lengths [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.lengths
entry colonies_steps [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.steps
entry colonies_tour [p] [n] [k] (colonies: colonies [p] [n] [k]) (place: i64) : [n]i32 = tour_at colonies.bests place

-- Colonies go on by a stretch of iterations. Lists of neighbours are in order of their distances; `etas` is what a neighbour's
-- distance has to say.
entry matrix_forage [p] [n] [k] [w] (instance: matrix_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (rules: rules [w]) (stretch: stretch) : colonies [p] [n] [k] = matrix_ants.forage instance.matrix lists etas colonies rules stretch
entry grid_forage [p] [n] [k] [w] (instance: grid_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (rules: rules [w]) (stretch: stretch) : colonies [p] [n] [k] = grid_ants.forage instance.grid lists etas colonies rules stretch
entry plane_forage [p] [n] [k] [w] (instance: plane_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (rules: rules [w]) (stretch: stretch) : colonies [p] [n] [k] = plane_ants.forage instance.plane lists etas colonies rules stretch
