-- | The entry points of the c and multicore backends, one line each: what they take, and which module does it.
--
-- Distances come in four forms, and each entry point on distances exists once a form: `matrix` (any metric), `grid`
-- (EUC_2D of small whole coordinates) and `plane` (EUC_2D and CEIL_2D of any coordinates); those of iterated local search,
-- crossover and huge tours for `space`, too (other metrics on coordinates), where there are more cities than a matrix holds.
-- Each is worth code of its own where loops over its distances vectorise; elsewhere one copy of the code serves all.

import "../bound/alpha"
import "../bound/exact_tree"
import "../bound/near_graph"
import "../bound/one_tree"
import "../comparators/annealing"
import "../comparators/ants"
import "../cpu/searches"
import "../core/anywhere"
import "../core/instances"
import "../core/space"
import "../core/tour"
import "../flat/crossing"
import "../flat/many"
import "../flat/rows"
import "../large/fragments"
import "../neighbours/exits"
import "../neighbours/nearest"
import "../large/parallel_moves"
import "../large/pieces"
import "../neighbours/quadrants"
import "../local_search/ils"
import "../local_search/many_starts"
import "../local_search/population"
import "../neighbours/along_curve"
import "../neighbours/connected"
import "../two_opt/descent"
import "../two_opt/pairs"
import "../two_opt/restarts"

-- An instance on the device.
entry matrix_load [n] (distances: [n][n]i32) : matrix_instance [n] = load_matrix distances
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up
entry space_load [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) (aways: [n]i32) (ties: [n]i32) (formula: i32) (radius: f64) (longer: i32) : space_instance [n] = load_space xs ys zs aways ties formula radius longer

-- The climbers of a batch go on from where they stand, by at most `limit` passes of at most `k` moves.
entry matrix_climb [c] [n] (instance: matrix_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = matrix_climbs.climb instance.matrix batch k limit
entry grid_climb [c] [n] (instance: grid_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = grid_climbs.climb instance.grid batch k limit
entry plane_climb [c] [n] (instance: plane_instance [n]) (batch: batch [c] [n]) (k: i32) (limit: i32) : batch [c] [n] = plane_climbs.climb instance.plane batch k limit

-- The same by at most `limit` passes of one move, by pairs of n cities: 0, in two arrays; 1, zipped in one; 2, computed from their
-- numbers.
entry pairs_of (n: i64) (by: i32) : ?[m][w].pairs [m] [w] = pairs_of n by
entry matrix_climb_by [c] [n] [m] [w] (instance: matrix_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = matrix_climbs.climb_by instance.matrix pairs batch limit
entry grid_climb_by [c] [n] [m] [w] (instance: grid_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = plane_climbed_by (plane_of_grid instance) pairs batch limit
entry plane_climb_by [c] [n] [m] [w] (instance: plane_instance [n]) (pairs: pairs [m] [w]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] = plane_climbed_by instance.plane pairs batch limit

-- Climbers first, …, first + count - 1 of a seed on their random tours.
entry batch_random (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] = random_batch n seed first count

-- What a batch has found so far: lengths, steps, passes, and which climbers are done.
entry batch_found [c] [n] (batch: batch [c] [n]) : ([c]i64, [c]i32, [c]i32, [c]bool) = (batch.lengths, batch.steps, batch.passes, batch.done)
entry batch_tour [c] [n] (batch: batch [c] [n]) (place: i64) : [n]i32 = tour_at batch.tours place

-- One tour on its way to a local optimum, from a given tour. `…_descend` makes whole passes of one move each. A pass of at most
-- k moves is made by `…_scan`, all diagonals once, in one call or several, and `descent_turn`.
entry descent_given [n] (tour: [n]i32) : descent [n] = given_descent tour
entry matrix_descend [n] (instance: matrix_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] = matrix_descent.descend instance.matrix descent limit
entry grid_descend [n] (instance: grid_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] = grid_descent.descend instance.grid descent limit
entry plane_descend [n] (instance: plane_instance [n]) (descent: descent [n]) (limit: i32) : descent [n] = plane_descent.descend instance.plane descent limit
entry matrix_scan [n] (instance: matrix_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] = matrix_descent.scan instance.matrix descent k from to
entry grid_scan [n] (instance: grid_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] = grid_descent.scan instance.grid descent k from to
entry plane_scan [n] (instance: plane_instance [n]) (descent: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] = plane_descent.scan instance.plane descent k from to
entry descent_turn [n] (descent: descent [n]) (k: i32) : descent [n] = turn k descent

-- Where a tour stands: itself; and by how much it has become shorter, its moves, its passes, and 1 where it is done.
entry descent_tour [n] (descent: descent [n]) : [n]i32 = descent.tour
entry descent_counts [n] (descent: descent [n]) : [4]i64 = counts_of descent

-- Climbers of the iterated local search on given tours; their lengths are 0 until they have climbed.
entry population_given [p] [n] (tours: [p][n]i32) : population [p] [n] = given_population tours

-- The climbers of a population go on by a plan: those of the streams first, …, first + p - 1 of its seed, by the iterations
-- from, …, from + iterations - 1, behind a descent where `from` is 0, for which all cities wait, or `window` of the tour from
-- position `begin` on, unless that is 0. Lists of neighbours are in order of their distances.
entry matrix_ils [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.search_within (matrix_anywhere instance.matrix) lists population plan begin window
entry grid_ils [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.search_within (grid_anywhere instance) lists population plan begin window
entry plane_ils [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.search_within (plane_anywhere instance.plane) lists population plan begin window
entry space_ils [p] [n] [k] (instance: space_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.search_within (anywhere.of_places instance.space) lists population plan begin window

-- The best tours of a population, after a descent over all cities by a plan, but without its iterations.
entry matrix_polish [p] [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.polish_within (matrix_anywhere instance.matrix) lists population plan begin window
entry grid_polish [p] [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.polish_within (grid_anywhere instance) lists population plan begin window
entry plane_polish [p] [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.polish_within (plane_anywhere instance.plane) lists population plan begin window
entry space_polish [p] [n] [k] (instance: space_instance [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (begin: i64) (window: i64) : population [p] [n] = any_population.polish_within (anywhere.of_places instance.space) lists population plan begin window

-- Climbers first, …, first + count - 1 of a seed on nearest-neighbour tours from random cities.
entry matrix_start [n] [k] (instance: matrix_instance [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) : population [count] [n] = nearest_tours (matrix_anywhere instance.matrix) lists seed first count passes 1
entry grid_start [n] [k] (instance: grid_instance [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) : population [count] [n] = nearest_tours (grid_anywhere instance) lists seed first count passes 1
entry plane_start [n] [k] (instance: plane_instance [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) : population [count] [n] = nearest_tours (plane_anywhere instance.plane) lists seed first count passes 1
entry space_start [n] [k] (instance: space_instance [n]) (lists: [n][k]i32) (seed: u64) (first: i64) (count: i64) (passes: i32) : population [count] [n] = nearest_tours (anywhere.of_places instance.space) lists seed first count passes 1

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

-- The climbers at the places `to` go on from where those at the places `from` stand.
entry population_copy [p] [n] [q] (population: population [p] [n]) (from: [q]i32) (to: [q]i32) : population [p] [n] = follow population from to

-- Many instances at once, of a plane or of matrices, each as if it were alone: the k nearest of each city; whose
-- lists are connected; tours at their local
-- optima; populations on given tours, by the cities and the generations of each instance; the next generation of those that go
-- on; which these are; and the shortest tours, by each instance's own numbers, with their lengths.
entry plane_many_lists [n] [b] (instance: plane_instance [n]) (sizes: [b]i32) (k: i64) : [n][k]i32 = many_listed (rows_of n sizes (replicate b true)) (plane_anywhere instance.plane) k
entry matrices_many_lists [n] [w] [b] (instance: matrices_instance [n] [w]) (sizes: [b]i32) (k: i64) : [n][k]i32 = many_listed (rows_of n sizes (replicate b true)) (matrices_anywhere instance) k
entry many_connected [n] [k] [b] (lists: [n][k]i32) (sizes: [b]i32) : [b]bool = are_connected (rows_of n sizes (replicate b true)) lists :> [b]bool
entry plane_many_climbed [t] [k] (instance: plane_instance [t]) (n: i64) (near: [t][k]i32) (lists: [t][k]i32) (seed: u64) (count: i64) (passes: i32) : [][n]i32 = many_climbed (plane_anywhere instance.plane) n near lists seed count passes
entry matrices_many_climbed [t] [w] [k] (instance: matrices_instance [t] [w]) (n: i64) (near: [t][k]i32) (lists: [t][k]i32) (seed: u64) (count: i64) (passes: i32) : [][n]i32 = many_climbed (matrices_anywhere instance) n near lists seed count passes
entry plane_many_given [p] [n] [k] [b] (instance: plane_instance [n]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] = many_given (plane_anywhere instance.plane) lists sizes left tours
entry matrices_many_given [p] [n] [w] [k] [b] (instance: matrices_instance [n] [w]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] = many_given (matrices_anywhere instance) lists sizes left tours
entry plane_many_cross [p] [n] [k] [b] [r] (instance: plane_instance [n]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] = many_crossed (plane_anywhere instance.plane) batch plan
entry matrices_many_cross [p] [n] [w] [k] [b] [r] (instance: matrices_instance [n] [w]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] = many_crossed (matrices_anywhere instance) batch plan
entry many_going [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : [b]bool = go_on batch
entry many_bests [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : ([n]i32, [b]i64) = bests batch

-- The matrices of instances, one behind another, by where the row of each city begins, less the number of the first city.
entry matrices_load [n] [w] (firsts: [n]i64) (distances: [w]i32) : matrices_instance [n] [w] = load_matrices firsts distances

-- Chains of annealing on given tours; their lengths are 0 until they have gone on.
entry chains_given [p] [n] (tours: [p][n]i32) : population [p] [n] = given_population tours

-- What chains have found so far: the best tours' lengths, the moves made, and a tour.
entry chains_lengths [p] [n] (chains: population [p] [n]) : [p]i64 = chains.lengths
entry chains_steps [p] [n] (chains: population [p] [n]) : [p]i64 = chains.steps
entry chains_tour [p] [n] (chains: population [p] [n]) (place: i64) : [n]i32 = tour_at chains.bests place

-- Chains go on by a plan, by an iteration at each temperature. Lists without neighbours let all pairs of cities be drawn.
entry matrix_anneal [p] [n] [k] [t] (instance: matrix_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (plan: annealing_plan) (temperatures: [t]f64) : population [p] [n] = any_annealing.anneal (matrix_anywhere instance.matrix) lists chains plan temperatures
entry grid_anneal [p] [n] [k] [t] (instance: grid_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (plan: annealing_plan) (temperatures: [t]f64) : population [p] [n] = any_annealing.anneal (grid_anywhere instance) lists chains plan temperatures
entry plane_anneal [p] [n] [k] [t] (instance: plane_instance [n]) (lists: [n][k]i32) (chains: population [p] [n]) (plan: annealing_plan) (temperatures: [t]f64) : population [p] [n] = any_annealing.anneal (plane_anywhere instance.plane) lists chains plan temperatures

-- Colonies of ants that know a tour each, of the given length, with equal trails to k neighbours of each city.
entry colonies_given [p] [n] (k: i64) (tours: [p][n]i32) (lengths: [p]i64) (trail: f64) : colonies [p] [n] [k] = given_colonies k tours lengths trail

-- What colonies have found so far: the best tours' lengths, how often they were improved, and a tour.
entry colonies_lengths [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.lengths
entry colonies_steps [p] [n] [k] (colonies: colonies [p] [n] [k]) : [p]i64 = colonies.steps
entry colonies_tour [p] [n] [k] (colonies: colonies [p] [n] [k]) (place: i64) : [n]i32 = tour_at colonies.bests place

-- Colonies go on by a stretch of iterations. Lists of neighbours are in order of their distances; `etas` is what a neighbour's
-- distance has to say.
entry matrix_forage [p] [n] [k] [w] (instance: matrix_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (rules: rules [w]) (stretch: stretch) : colonies [p] [n] [k] = any_ants.forage (matrix_anywhere instance.matrix) lists etas colonies rules stretch
entry grid_forage [p] [n] [k] [w] (instance: grid_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (rules: rules [w]) (stretch: stretch) : colonies [p] [n] [k] = any_ants.forage (grid_anywhere instance) lists etas colonies rules stretch
entry plane_forage [p] [n] [k] [w] (instance: plane_instance [n]) (lists: [n][k]i32) (etas: [n][k]f64) (colonies: colonies [p] [n] [k]) (rules: rules [w]) (stretch: stretch) : colonies [p] [n] [k] = any_ants.forage (plane_anywhere instance.plane) lists etas colonies rules stretch

-- Cities of the plane in order along a curve, with their places along it; and the nearest cities of some, where all stand in
-- this order.
entry plane_along [n] (xs: [n]f64) (ys: [n]f64) : ([n]i32, [n]i64) = along_curve xs ys
entry boxes_around [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) : ?[m].boxed [n] [m] = build_boxes xs ys zs
entry boxes_nearest [n] [m] [q] (boxed: boxed [n] [m]) (k: i64) (cities: [q]i32) : [q][k]i32 = nearest_of boxed k cities
entry boxes_quadrants [n] [m] [q] (boxed: boxed [n] [m]) (numbers: [n]i32) (k: i64) (most: i64) (cities: [q]i32) : [q][k]i32 = around_each boxed numbers k most cities
entry boxes_outside [n] [m] [q] (boxed: boxed [n] [m]) (clusters: [n]i32) (numbers: [n]i32) (norm: i32) (count: i64) (cities: [q]i32) : [q][count]i32 = outside_of_each boxed clusters numbers norm count cities

-- Fragments of a greedy tour, of n cities; they are joined by edges between cities, all ends of fragments, and those listed for
-- each by their places among them. How many there are, their ends, and the cities of the last one.
entry fragments_of (n: i64) : ?[w].fragments [n] [w] = lone_cities n
entry fragments_joined [n] [d] [w] [m] [k] (points: [n][d]f64) (fragments: fragments [n] [w]) (cities: [m]i32) (lists: [m][k]i32) : fragments [n] [w] = join_near points fragments cities lists
entry fragments_count [n] [w] (fragments: fragments [n] [w]) : i64 = fragments.count
entry fragments_ends [n] [w] (fragments: fragments [n] [w]) : []i32 = ends_of fragments
entry fragments_path [n] [w] (fragments: fragments [n] [w]) : [n]i32 = path_of fragments

-- One huge tour: links are neighbour lists with their distances, in order of these; they stay on the device, and are given
-- some cities at a time, from number `first` on. What is huge holds the tour.
entry links_blank (n: i64) (k: i64) : neighbours [n] [k] = blank_links n k
entry grid_links [n] [k] [m] (instance: grid_instance [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] = space_passes.put_links (grid_in_space instance) neighbours first lists
entry plane_links [n] [k] [m] (instance: plane_instance [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] = space_passes.put_links (in_space instance.plane) neighbours first lists
entry space_links [n] [k] [m] (instance: space_instance [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] = space_passes.put_links instance.space neighbours first lists
entry huge_given [n] (tour: [n]i32) : huge [n] = given_huge tour
entry huge_tour [n] (huge: huge [n]) : [n]i32 = tour_of huge
entry huge_done [n] (huge: huge [n]) : bool = huge.progress.done
entry huge_counts [n] (huge: huge [n]) : [3]i64 = work_of huge
entry grid_huge_length [n] (instance: grid_instance [n]) (huge: huge [n]) : i64 = space_passes.length_of (grid_in_space instance) huge
entry plane_huge_length [n] (instance: plane_instance [n]) (huge: huge [n]) : i64 = space_passes.length_of (in_space instance.plane) huge
entry space_huge_length [n] (instance: space_instance [n]) (huge: huge [n]) : i64 = space_passes.length_of instance.space huge

-- Passes over the neighbourhood of the whole tour, at most `limit` of them, and none more once they cost as much as `most`.
entry grid_huge_descend [n] [k] (instance: grid_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (seed: u64) (limit: i64) (most: i64) : huge [n] = descended (grid_in_space instance) neighbours.links seed limit most huge
entry plane_huge_descend [n] [k] (instance: plane_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (seed: u64) (limit: i64) (most: i64) : huge [n] = descended (in_space instance.plane) neighbours.links seed limit most huge
entry space_huge_descend [n] [k] (instance: space_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (seed: u64) (limit: i64) (most: i64) : huge [n] = descended instance.space neighbours.links seed limit most huge

-- Some pieces climb by a stretch of iterations, behind a descent where it begins with 0. The climber of piece 0 is the stretch's
-- first stream.
entry grid_climb_pieces [n] [k] (instance: grid_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (stretch: stretch) (temperature: f64) (moves: i32) (pieces: piece_range) : huge [n] = climbed_pieces (grid_in_space instance) neighbours huge stretch temperature moves pieces
entry plane_climb_pieces [n] [k] (instance: plane_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (stretch: stretch) (temperature: f64) (moves: i32) (pieces: piece_range) : huge [n] = climbed_pieces (in_space instance.plane) neighbours huge stretch temperature moves pieces
entry space_climb_pieces [n] [k] (instance: space_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (stretch: stretch) (temperature: f64) (moves: i32) (pieces: piece_range) : huge [n] = climbed_pieces instance.space neighbours huge stretch temperature moves pieces

-- A graph of near cities, its edges in rows, with lengths in units as fine as is wanted: each way between two of
-- them twice. Lengths are given, or computed between cities of the plane that stand in order of a curve, as `exact_tree` computes them;
-- or the rows alone, of edges without lengths.
entry near_graph_load [n] [e] (ends: [n]i32) (others: [e]i32) (lengths: [e]i64) : near_graph [n] [e] = load_near_graph ends others lengths
entry near_rows_load [n] [e] (ends: [n]i32) (others: [e]i32) : near_rows [n] [e] = load_near_rows ends others
entry near_graph_between [n] [m] [e] (boxed: boxed [n] [m]) (rounding: i32) (scale: i64) (most: f64) (rows: near_rows [n] [e]) : near_graph [n] [e] = near_graph_between boxed rounding scale most rows

-- The 1-tree of a graph under penalties: its cost without them, the edges of each city, and in how many parts the graph is.
entry one_tree [n] [e] (graph: near_graph [n] [e]) (penalties: [n]i64) : (i64, [n]i32, i64) = penalties_ascent.one_tree_of graph penalties

-- An ascent from penalties, by so many steps more, in 64ths of a unit; its best penalties; what they prove of the graph, and whether
-- its 1-tree is a tour.
entry ascent_given [n] (penalties: [n]i64) : *ascent [n] = given_ascent penalties
entry ascend [n] [e] [t] (graph: near_graph [n] [e]) (ascent: *ascent [n]) (steps: [t]i64) : *ascent [n] = penalties_ascent.ascend graph ascent steps
entry ascent_best [n] (ascent: ascent [n]) : [n]i64 = map (.best) ascent.cities
entry ascent_bound [n] (ascent: ascent [n]) : (i64, bool) = (ascent.bound, ascent.done)

-- The α of each edge under penalties, as the graph has it in its rows; and lists of neighbours, `near` nearest ones and those of
-- least α besides, k in all.
entry alphas [n] [e] (graph: near_graph [n] [e]) (penalties: [n]i64) : [e]i64 = alphas graph penalties
entry alpha_lists [n] [e] (graph: near_graph [n] [e]) (penalties: [n]i64) (near: i64) (k: i64) : [n][k]i32 = alpha_lists graph penalties near k

-- The minimum spanning tree of all pairs of cities in the plane under penalties, of boxes around cities in order of a curve and rows of a
-- graph that say where to begin: its cost, the highest cost of a city's second edge, the tree's edges.
entry exact_tree [n] [m] [e] (boxed: boxed [n] [m]) (rounding: i32) (scale: i64) (most: f64) (rows: near_rows [n] [e]) (penalties: [n]i64) : (i64, i64, [n]i32, [n]i32) = exact_tree boxed rounding scale most rows penalties
