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
module matrix_ants = mk_ants matrix (mk_ils matrix (mk_thread_worker matrix)) spread_threads
module grid_ants = mk_ants grid (mk_ils grid (mk_thread_worker grid)) spread_threads
module plane_ants = mk_ants plane (mk_ils plane (mk_thread_worker plane)) spread_threads

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] = load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up

-- Chains of annealing on given tours; their lengths are 0 until they have gone on.
entry chains_given [p] [n] (tours: [p][n]i32) : population [p] [n] = given_population tours

-- What chains have found so far: the best tours, their lengths, and the moves made.
entry chains_tours [p] [n] (chains: population [p] [n]) : [p][n]i32 = chains.bests
entry chains_lengths [p] [n] (chains: population [p] [n]) : [p]i64 = chains.lengths
entry chains_steps [p] [n] (chains: population [p] [n]) : [p]i64 = chains.steps
entry chains_tour [p] [n] (chains: population [p] [n]) (place: i64) : [n]i32 = tour_at chains.bests place

-- Chains first, …, first + p - 1 of the seed go on by the iterations from number `from` on, one
-- at each temperature, of so many trials. Lists without neighbours let all pairs of cities be drawn.
entry matrix_anneal [p] [n] [k] [t] (instance: matrix_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (seed: u64) (first: i64) (from: i64) (trials: i64) (moves: i32) (temperatures: [t]f64) : population [p] [n] = matrix_annealing.anneal instance.matrix lists (stretch_of seed first from trials moves) temperatures chains
entry grid_anneal [p] [n] [k] [t] (instance: grid_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (seed: u64) (first: i64) (from: i64) (trials: i64) (moves: i32) (temperatures: [t]f64) : population [p] [n] = grid_annealing.anneal instance.grid lists (stretch_of seed first from trials moves) temperatures chains
entry plane_anneal [p] [n] [k] [t] (instance: plane_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (seed: u64) (first: i64) (from: i64) (trials: i64) (moves: i32) (temperatures: [t]f64) : population [p] [n] = plane_annealing.anneal instance.plane lists (stretch_of seed first from trials moves) temperatures chains

-- Colonies of ants that know a tour each, of the given length, with equal trails to k neighbours of each city.
entry colonies_given [p] [n] (k: i64) (tours: [p][n]i32) (lengths: [p]i64) (trail: f64) : colonies [p] [n] [k] = given_colonies k tours lengths trail

-- What colonies have found so far: the best tours, their lengths, and how often they were improved.
entry colonies_tours [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p][n]i32 = colonies.bests
entry colonies_lengths [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.lengths
entry colonies_steps [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.steps
entry colonies_trails [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p][n][k]f64 = colonies.trails
entry colonies_tour [p] [n] [k] (colonies: colonies [p] [n] [k]) (place: i64) : [n]i32 = tour_at colonies.bests place

-- Colonies first, …, first + p - 1 of the seed go on by the iterations from, …, from + iterations - 1. Lists of neighbours are
-- in order of their distances; `etas` is what a neighbour's distance has to say.
entry matrix_forage [p] [n] [k] [w] (instance: matrix_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (seed: u64) (first: i64) (from: i64) (iterations: i64) (ants: i64) (quarters: i32) (search: i32) (keep: f64) (weights: [w]f64) (elite: f64) (turns: i64) (reference: f64) (floor: f64) (smoothing: f64) (patience: i64) : colonies [p] [n] [k] = matrix_ants.forage instance.matrix lists etas {ants, quarters, search} {keep, weights, elite, turns, reference, floor, smoothing, patience} seed first from iterations colonies
entry grid_forage [p] [n] [k] [w] (instance: grid_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (seed: u64) (first: i64) (from: i64) (iterations: i64) (ants: i64) (quarters: i32) (search: i32) (keep: f64) (weights: [w]f64) (elite: f64) (turns: i64) (reference: f64) (floor: f64) (smoothing: f64) (patience: i64) : colonies [p] [n] [k] = grid_ants.forage instance.grid lists etas {ants, quarters, search} {keep, weights, elite, turns, reference, floor, smoothing, patience} seed first from iterations colonies
entry plane_forage [p] [n] [k] [w] (instance: plane_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (seed: u64) (first: i64) (from: i64) (iterations: i64) (ants: i64) (quarters: i32) (search: i32) (keep: f64) (weights: [w]f64) (elite: f64) (turns: i64) (reference: f64) (floor: f64) (smoothing: f64) (patience: i64) : colonies [p] [n] [k] = plane_ants.forage instance.plane lists etas {ants, quarters, search} {keep, weights, elite, turns, reference, floor, smoothing, patience} seed first from iterations colonies
