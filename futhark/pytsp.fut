-- | The entry points of the c and multicore backends: instantiate, check, convert.
--
-- Distances come in three forms, and each entry point on distances exists once a form: `matrix` (any metric), `grid`
-- (EUC_2D of small whole coordinates) and `plane` (EUC_2D and CEIL_2D of any coordinates).

import "annealing"
import "ants"
import "bands"
import "climber"
import "descent"
import "generation"
import "hands"
import "ils"
import "k_swap"
import "many"
import "metric"
import "nearest"
import "passes"
import "pieces"
import "planar"
import "population"
import "restarts"
import "three_opt"
import "tour"
import "two_opt"

module matrix_climber = mk_climber matrix (diagonals matrix)
module matrix_restarts = mk_restarts matrix_climber anyhow
module matrix_k_swap = mk_restarts (mk_k_swap_climber matrix) anyhow
module grid_climber = mk_climber grid (diagonals grid)
module grid_restarts = mk_restarts grid_climber anyhow
module grid_k_swap = mk_restarts (mk_k_swap_climber grid) anyhow
module plane_climber = mk_climber plane (diagonals plane)
module plane_restarts = mk_restarts plane_climber anyhow
module plane_k_swap = mk_restarts (mk_k_swap_climber plane) anyhow
module matrix_population = mk_population matrix (mk_ils matrix (mk_thread_hands matrix)) alone
module grid_population = mk_population grid (mk_ils grid (mk_thread_hands grid)) alone
module plane_population = mk_population plane (mk_ils plane (mk_thread_hands plane)) alone
module matrix_annealing = mk_annealing matrix (mk_thread_hands matrix) alone
module grid_annealing = mk_annealing grid (mk_thread_hands grid) alone
module plane_annealing = mk_annealing plane (mk_thread_hands plane) alone
module matrix_ants = mk_ants matrix (mk_ils matrix (mk_thread_hands matrix)) alone
module grid_ants = mk_ants grid (mk_ils grid (mk_thread_hands grid)) alone
module plane_ants = mk_ants plane (mk_ils plane (mk_thread_hands plane)) alone
module matrix_generation = mk_generation matrix
module grid_generation = mk_generation grid
module plane_generation = mk_generation plane
module bands_of = {def width = 1024i64 def depth = 64i64}
module matrix_descent = mk_descent (mk_bands matrix bands_of)
module grid_descent = mk_descent (mk_bands grid bands_of)
module plane_descent = mk_descent (mk_bands plane bands_of)
module matrix_many = mk_many matrix
module grid_many = mk_many grid
module plane_many = mk_many plane
module grid_passes = mk_passes planar_grid wide
module grid_path = mk_path planar_grid
module grid_pieces = mk_pieces planar_grid (mk_ils grid_path (mk_thread_hands grid_path)) alone
module plane_passes = mk_passes planar_plane wide
module plane_path = mk_path planar_plane
module plane_pieces = mk_pieces planar_plane (mk_ils plane_path (mk_thread_hands plane_path)) alone

-- An instance on the device.
type matrix_instance [n] = {matrix: matrix.data [n]}
type grid_instance [n] = {grid: grid.data [n]}
type plane_instance [n] = {plane: plane.data [n]}

def fits_32_bits (n: i64) = n >= 1 && n <= i64.i32 i32.highest
def are_climbers (first: i64) (count: i64) = first >= 0 && count >= 1
def are_limits (k: i32) (limit: i32) = k >= 1 && limit >= 0
def are_diagonals (n: i64) (from: i64) (to: i64) = from >= 2 && from <= to && to <= i64.max 2 (diagonals_end n)

entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] =
  assert (fits_32_bits n) {matrix = distances}

entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] =
  assert (fits_32_bits n) {grid = (xs, ys)}

entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] =
  assert (fits_32_bits n) {plane = (xs, ys, f64.bool up)}

-- The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
entry matrix_climb [c] [n] (instance: matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if k == 1
                               then matrix_restarts.climb instance.matrix k limit batch
                               else matrix_k_swap.climb instance.matrix k limit batch)

entry grid_climb [c] [n] (instance: grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if k == 1
                               then grid_restarts.climb instance.grid k limit batch
                               else grid_k_swap.climb instance.grid k limit batch)

entry plane_climb [c] [n] (instance: plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] =
  assert (are_limits k limit) (if k == 1
                               then plane_restarts.climb instance.plane k limit batch
                               else plane_k_swap.climb instance.plane k limit batch)

-- One step of a climber: the gain and the positions of the best move.
entry matrix_best_move [n] (instance: matrix_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (matrix_climber.best_move instance.matrix tour)

entry grid_best_move [n] (instance: grid_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (grid_climber.best_move instance.grid tour)

entry plane_best_move [n] (instance: plane_instance [n]) (tour: [n]i32) : [3]i32 =
  assert (is_tour tour) (plane_climber.best_move instance.plane tour)

-- The climbers first, …, first + count - 1 of a seed on their random tours, or climbers on given tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] =
  assert (fits_32_bits n && are_climbers first count) (random_batch n seed first count)

entry batch_given [c] [n] (tours: [c][n]i32) : batch [c] [n] =
  assert (fits_32_bits n && all is_tour tours) (batch_on tours)

-- What a batch has found so far: lengths, steps, passes, and which climbers are done.
entry batch_found [c] [n] (batch: batch [c] [n]) : ([c]i64, [c]i32, [c]i32, [c]bool) =
  (batch.lengths, batch.steps, batch.passes, batch.done)

entry batch_tours [c] [n] (batch: batch [c] [n]) : [c][n]i32 = batch.tours

entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < c) (copy batch.tours[place])

-- The random tours of climbers first, …, first + count - 1.
entry random_tours (n: i64) (seed: u64) (first: i64) (count: i64) : [count][n]i32 =
  assert (fits_32_bits n && are_climbers first count) (random_batch n seed first count).tours

-- One tour on its way to a local optimum, from a given tour. `…_descend` makes whole passes of one move each. A pass of at most
-- k moves is made by `…_scan`, all diagonals once, in one call or several, and `descent_turn`.
entry descent_given [n] (tour: [n]i32) : descent [n] =
  assert (fits_32_bits n && is_tour tour) (descent_on tour)

entry matrix_descend [n] (instance: matrix_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] =
  assert (are_limits 1 limit) (matrix_descent.descend instance.matrix descent limit)

entry grid_descend [n] (instance: grid_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] =
  assert (are_limits 1 limit) (grid_descent.descend instance.grid descent limit)

entry plane_descend [n] (instance: plane_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] =
  assert (are_limits 1 limit) (plane_descent.descend instance.plane descent limit)

entry matrix_scan [n] (instance: matrix_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
  assert (are_limits k 0 && are_diagonals n from to) (matrix_descent.scan instance.matrix descent k from to)

entry grid_scan [n] (instance: grid_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
  assert (are_limits k 0 && are_diagonals n from to) (grid_descent.scan instance.grid descent k from to)

entry plane_scan [n] (instance: plane_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
  assert (are_limits k 0 && are_diagonals n from to) (plane_descent.scan instance.plane descent k from to)

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
entry matrix_ils [p] [n] [k]
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
  in matrix_population.climb instance.matrix lists plan population

entry grid_ils [p] [n] [k]
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
  in grid_population.climb instance.grid lists plan population

entry plane_ils [p] [n] [k]
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
  in plane_population.climb instance.plane lists plan population

-- The best tours of a population, streams first, …, first + p - 1 of the seed, after a descent over all cities.
entry matrix_polish [p] [n] [k]
                    (instance: matrix_instance [n])
                    (lists: [n][k]i32)
                    (population: population [p] [n])
                    (seed: u64)
                    (first: i64)
                    (moves: i32)
                    (pivot: i32)
                    (draws: i32) : population [p] [n] =
  matrix_population.polish instance.matrix lists seed first moves pivot draws population

entry grid_polish [p] [n] [k]
                  (instance: grid_instance [n])
                  (lists: [n][k]i32)
                  (population: population [p] [n])
                  (seed: u64)
                  (first: i64)
                  (moves: i32)
                  (pivot: i32)
                  (draws: i32) : population [p] [n] =
  grid_population.polish instance.grid lists seed first moves pivot draws population

entry plane_polish [p] [n] [k]
                   (instance: plane_instance [n])
                   (lists: [n][k]i32)
                   (population: population [p] [n])
                   (seed: u64)
                   (first: i64)
                   (moves: i32)
                   (pivot: i32)
                   (draws: i32) : population [p] [n] =
  plane_population.polish instance.plane lists seed first moves pivot draws population

-- Chains of annealing on given tours; their lengths are 0 until they have gone on.
entry chains_given [p] [n] (tours: [p][n]i32) : population [p] [n] =
  assert (fits_32_bits n && are_climbers 0 p && all is_tour tours) (population_on tours)

-- What chains have found so far: the best tours, their lengths, and the moves made.
entry chains_tours [p] [n] (chains: population [p] [n]) : [p][n]i32 = chains.bests
entry chains_lengths [p] [n] (chains: population [p] [n]) : [p]i64 = chains.lengths
entry chains_steps [p] [n] (chains: population [p] [n]) : [p]i64 = chains.steps

entry chains_tour [p] [n] (chains: population [p] [n]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < p) (copy chains.bests[place])

-- Chains first, …, first + p - 1 of the seed go on by the iterations from number `from` on, one
-- at each temperature, of so many trials. Lists without neighbours let all pairs of cities be drawn.
entry matrix_anneal [p] [n] [k] [t]
                    (instance: matrix_instance [n])
                    (lists: [n][k]i32)
                    (chains: population [p] [n])
                    (seed: u64)
                    (first: i64)
                    (from: i64)
                    (trials: i64)
                    (moves: i32)
                    (temperatures: [t]f64) : population [p] [n] =
  matrix_annealing.anneal instance.matrix lists (stretch_of seed first from trials moves) temperatures chains

entry grid_anneal [p] [n] [k] [t]
                  (instance: grid_instance [n])
                  (lists: [n][k]i32)
                  (chains: population [p] [n])
                  (seed: u64)
                  (first: i64)
                  (from: i64)
                  (trials: i64)
                  (moves: i32)
                  (temperatures: [t]f64) : population [p] [n] =
  grid_annealing.anneal instance.grid lists (stretch_of seed first from trials moves) temperatures chains

entry plane_anneal [p] [n] [k] [t]
                   (instance: plane_instance [n])
                   (lists: [n][k]i32)
                   (chains: population [p] [n])
                   (seed: u64)
                   (first: i64)
                   (from: i64)
                   (trials: i64)
                   (moves: i32)
                   (temperatures: [t]f64) : population [p] [n] =
  plane_annealing.anneal instance.plane lists (stretch_of seed first from trials moves) temperatures chains

-- Colonies of ants that know a tour each, of the given length, with equal trails to k neighbours of each city.
entry colonies_given [p] [n] (k: i64) (tours: [p][n]i32) (lengths: [p]i64) (trail: f64) : colonies [p] [n] [k] =
  assert (fits_32_bits n && are_climbers 0 p && k >= 0 && all is_tour tours) (colonies_on k tours lengths trail)

-- What colonies have found so far: the best tours, their lengths, and how often they were improved.
entry colonies_tours [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p][n]i32 = colonies.bests
entry colonies_lengths [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.lengths
entry colonies_steps [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.steps
entry colonies_trails [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p][n][k]f64 = colonies.trails

entry colonies_tour [p] [n] [k] (colonies: colonies [p] [n] [k]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < p) (copy colonies.bests[place])

-- Colonies first, …, first + p - 1 of the seed go on by the iterations from, …, from + iterations - 1. Lists of neighbours are
-- in order of their distances; `etas` is what a neighbour's distance has to say.
entry matrix_forage [p] [n] [k] [w]
                    (instance: matrix_instance [n])
                    (lists: [n][k]i32)
                    (etas: [n][k]f64)
                    (colonies: colonies [p] [n] [k])
                    (seed: u64)
                    (first: i64)
                    (from: i64)
                    (iterations: i64)
                    (ants: i64)
                    (quarters: i32)
                    (search: i32)
                    (keep: f64)
                    (weights: [w]f64)
                    (elite: f64)
                    (turns: i64)
                    (reference: f64)
                    (floor: f64)
                    (smoothing: f64)
                    (patience: i64) : colonies [p] [n] [k] =
  let rules = {keep, weights, elite, turns, reference, floor, smoothing, patience}
  in matrix_ants.forage instance.matrix lists etas {ants, quarters, search} rules seed first from iterations colonies

entry grid_forage [p] [n] [k] [w]
                  (instance: grid_instance [n])
                  (lists: [n][k]i32)
                  (etas: [n][k]f64)
                  (colonies: colonies [p] [n] [k])
                  (seed: u64)
                  (first: i64)
                  (from: i64)
                  (iterations: i64)
                  (ants: i64)
                  (quarters: i32)
                  (search: i32)
                  (keep: f64)
                  (weights: [w]f64)
                  (elite: f64)
                  (turns: i64)
                  (reference: f64)
                  (floor: f64)
                  (smoothing: f64)
                  (patience: i64) : colonies [p] [n] [k] =
  let rules = {keep, weights, elite, turns, reference, floor, smoothing, patience}
  in grid_ants.forage instance.grid lists etas {ants, quarters, search} rules seed first from iterations colonies

entry plane_forage [p] [n] [k] [w]
                   (instance: plane_instance [n])
                   (lists: [n][k]i32)
                   (etas: [n][k]f64)
                   (colonies: colonies [p] [n] [k])
                   (seed: u64)
                   (first: i64)
                   (from: i64)
                   (iterations: i64)
                   (ants: i64)
                   (quarters: i32)
                   (search: i32)
                   (keep: f64)
                   (weights: [w]f64)
                   (elite: f64)
                   (turns: i64)
                   (reference: f64)
                   (floor: f64)
                   (smoothing: f64)
                   (patience: i64) : colonies [p] [n] [k] =
  let rules = {keep, weights, elite, turns, reference, floor, smoothing, patience}
  in plane_ants.forage instance.plane lists etas {ants, quarters, search} rules seed first from iterations colonies

-- Climbers first, …, first + count - 1 of a seed on nearest-neighbour tours from random cities.
entry matrix_start [n] [k]
                   (instance: matrix_instance [n])
                   (lists: [n][k]i32)
                   (seed: u64)
                   (first: i64)
                   (count: i64)
                   (passes: i32) : population [count] [n] =
  assert (are_climbers first count && are_lists lists && are_passes passes) (matrix_generation.started instance.matrix lists seed first count (u64.i32 passes) 1)

entry grid_start [n] [k]
                 (instance: grid_instance [n])
                 (lists: [n][k]i32)
                 (seed: u64)
                 (first: i64)
                 (count: i64)
                 (passes: i32) : population [count] [n] =
  assert (are_climbers first count && are_lists lists && are_passes passes) (grid_generation.started instance.grid lists seed first count (u64.i32 passes) 1)

entry plane_start [n] [k]
                  (instance: plane_instance [n])
                  (lists: [n][k]i32)
                  (seed: u64)
                  (first: i64)
                  (count: i64)
                  (passes: i32) : population [count] [n] =
  assert (are_climbers first count && are_lists lists && are_passes passes) (plane_generation.started instance.plane lists seed first count (u64.i32 passes) 1)

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
  assert (are_lists lists && is_generation generation children spread) (grid_generation.next instance.grid lists seed generation children spread population)

entry plane_cross [p] [n] [k]
                  (instance: plane_instance [n])
                  (lists: [n][k]i32)
                  (population: population [p] [n])
                  (seed: u64)
                  (generation: i64)
                  (children: i32)
                  (spread: i64) : population [p] [n] =
  assert (are_lists lists && is_generation generation children spread) (plane_generation.next instance.plane lists seed generation children spread population)

-- What a population has found so far: the best tours.
entry population_tours [p] [n] (population: population [p] [n]) : [p][n]i32 = population.bests
entry population_lengths [p] [n] (population: population [p] [n]) : [p]i64 = population.lengths
entry population_steps [p] [n] (population: population [p] [n]) : [p]i64 = population.steps
entry population_best [p] [n] (population: population [p] [n]) : i64 = shortest population

entry population_tour [p] [n] (population: population [p] [n]) (place: i64) : [n]i32 =
  assert (place >= 0 && place < p) (copy population.bests[place])

-- Two populations as one, the climbers of `a` first.
entry population_joined [p] [q] [n] (a: population [p] [n]) (b: population [q] [n]) : population [p + q] [n] = joined a b

-- The climbers at these places, as a population of their own.
entry population_chosen [p] [n] [q] (population: population [p] [n]) (places: [q]i32) : population [q] [n] =
  assert (are_places p places) (chosen population places)

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

-- The nearest cities of cities first, …, first + count - 1, where all stand in order of a space-filling curve.

entry boxes_around [n] (xs: [n]f64) (ys: [n]f64) : ?[m].boxed [n] [m] =
  assert (fits_32_bits n) (boxed xs ys)

entry boxes_nearest [n] [m] (boxed: boxed [n] [m]) (k: i64) (first: i64) (count: i64) : [count][k]i32 =
  let are_cities = k >= 1 && k < n && first >= 0 && count >= 1 && first <= n - count
  in assert are_cities (map (\c -> nearest boxed k (first + c)) (iota count))

-- One huge tour: links are neighbour lists with their distances, in order of these; they stay on the device, and are given
-- some cities at a time, from number `first` on. What is huge holds the tour.

type neighbours [n] [k] = {links: links [n] [k]}

entry links_blank (n: i64) (k: i64) : neighbours [n] [k] =
  assert (fits_32_bits n && k >= 0) {links = replicate n (replicate k 0)}

entry grid_links [n] [k] [m] (instance: grid_instance [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] =
  let links = grid_passes.links_of instance.grid first (assert (are_some_lists n first lists) lists)
  in {links = neighbours.links with [first:first + m] = links}

entry plane_links [n] [k] [m] (instance: plane_instance [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] =
  let links = plane_passes.links_of instance.plane first (assert (are_some_lists n first lists) lists)
  in {links = neighbours.links with [first:first + m] = links}

entry huge_given [n] (tour: [n]i32) : huge [n] =
  assert (fits_32_bits n && is_tour tour) (huge_of tour)

entry huge_tour [n] (huge: huge [n]) : [n]i32 = tour_of huge
entry huge_done [n] (huge: huge [n]) : bool = huge.course.done
entry huge_counts [n] (huge: huge [n]) : [3]i64 = [huge.course.moves, huge.course.passes, huge.course.work]

entry grid_huge_length [n] (instance: grid_instance [n]) (huge: huge [n]) : i64 = grid_passes.length_of instance.grid huge

entry plane_huge_length [n] (instance: plane_instance [n]) (huge: huge [n]) : i64 = plane_passes.length_of instance.plane huge

-- Passes over the neighbourhood of the whole tour, at most `limit` of them, and none more once they cost as much as `most`.

entry grid_settle [n] [k]
                  (instance: grid_instance [n])
                  (neighbours: neighbours [n] [k])
                  (huge: huge [n])
                  (seed: u64)
                  (limit: i64)
                  (most: i64) : huge [n] =
  grid_passes.descend instance.grid neighbours.links seed limit most huge

entry plane_settle [n] [k]
                   (instance: plane_instance [n])
                   (neighbours: neighbours [n] [k])
                   (huge: huge [n])
                   (seed: u64)
                   (limit: i64)
                   (most: i64) : huge [n] =
  plane_passes.descend instance.plane neighbours.links seed limit most huge

-- Pieces first, …, first + count - 1 of `piece` cities climb, by the iterations from, …, from + iterations - 1, behind a
-- descent where `from` is 0; the piece 0 begins at position `offset`, and its climber is the stream `stream` of the seed.

entry grid_climb_pieces [n] [k]
                        (instance: grid_instance [n])
                        (neighbours: neighbours [n] [k])
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
  in assert (are_pieces n offset piece first count) (grid_pieces.climb instance.grid neighbours.links plan offset piece first count huge)

entry plane_climb_pieces [n] [k]
                         (instance: plane_instance [n])
                         (neighbours: neighbours [n] [k])
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
  in assert (are_pieces n offset piece first count) (plane_pieces.climb instance.plane neighbours.links plan offset piece first count huge)
