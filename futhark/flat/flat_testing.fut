-- | The steps of the flattened crossover as a program for tests: exchanges go in and out as arrays, distances are a matrix.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "apply"
import "curve"
import "cycles"
import "exchange"
import "generation"
import "improve"
import "merging"
import "plans"
import "rows"
import "starts"
import "unions"
import "unite"
import "worthy"

module matrix_gains = mk_cycle_gains matrix
module matrix_merging = mk_merging matrix
module matrix_generation = mk_generation matrix matrix_merging
module matrix_improve = mk_improve matrix matrix_merging
module matrix_length = mk_length matrix
module matrix_starts = mk_starts matrix

-- A plan without anything.
def no_plan : bulk_plan = {seed = 0, first = 0, curved = false, noise = 0, joins = 0, wide = 0, least = 0, rounds = 0}

-- Exchanges as arrays: the tour, size and gain of each, the position of each cut, and what its ends are joined to, counted
-- from the first cut of its exchange on.
type arrays [c] [m] = ([c]i32, [c]i32, [c]i64, [m]i32, [m][2]i32)

def exchanges_from [c] [m] ((pair, size, gain, cut, link): arrays [c] [m]) : exchanges [c] [m] =
  let ends = ends_of size
  let off = starts_of size ends
  let own = map (row_of ends) (iota m)
  in {row = pair, off, size, gain, cut, own, link = map2 (\o l -> (l[0] + 2 * off[i64.i32 o], l[1] + 2 * off[i64.i32 o])) own link}

def arrays_from [c] [m] (e: exchanges [c] [m]) : arrays [c] [m] =
  (e.row, e.size, e.gain, e.cut, map2 (\o (x, y) -> [x - 2 * e.off[i64.i32 o], y - 2 * e.off[i64.i32 o]]) e.own e.link)

def pairs_from [p] [n] (tours: [p][n]i32) (mates: [p]i32) (seed: u64) (numbers: [p]i64) : pairs [p] [p] [n] =
  let places = map positions tours
  in {rows = one_row n, tours, places, others = tours, other_places = places, mates, keys = map (rng.stream seed) numbers}

entry flat_cycles [p] [n] (distances: [n][n]i32) (tours: [p][n]i32) (mates: [p]i32) (seed: u64) (numbers: [p]i64) (most: i32) (least: i64) : ([]i32, []i32, []i64, []i32, [][2]i32, []i32, []i32) =
  let pairs = pairs_from tours mates seed numbers
  let d = difference pairs
  let c = ab_cycles most pairs d
  let (e, own) = exchanges_of pairs.rows d c (matrix_gains.gains distances pairs d c) least
  let (pair, size, gain, cut, link) = arrays_from e
  in (pair, size, gain, cut, link, d.edges, own)

entry flat_subtours [c] [m] (n: i64) (most: i64) (pair: [c]i32) (size: [c]i32) (gain: [c]i64) (cut: [m]i32) (link: [m][2]i32) : ([m]i32, [c]i32, [m]i32, [c]i32) =
  let e = exchanges_from (pair, size, gain, cut, link)
  let subtour = subtours most e
  let sizes = subtour_sizes (one_row n) e subtour
  in (subtour, count_subtours e subtour, sizes, map subtour_of (largest_subtours e subtour sizes))

entry flat_select [c] [m] (pair: [c]i32) (size: [c]i32) (gain: [c]i64) (cut: [m]i32) (link: [m][2]i32) (chosen: [c]i32) : ([]i32, []i32, []i64, []i32, [][2]i32) =
  let e = exchanges_from (pair, size, gain, cut, link)
  in arrays_from (both (select e (map (== 1) chosen)) (select e (map (== 0) chosen)))

entry flat_merge [p] [n] [k] [c] [m] (distances: [n][n]i32) (lists: [n][k]i32) (tours: [p][n]i32) (pair: [c]i32) (size: [c]i32) (gain: [c]i64) (cut: [m]i32) (link: [m][2]i32) (most: i64) (cap: i32) (rounds: i32) : ([]i32, []i32, []i64, []i32, [][2]i32, []i32) =
  let e = exchanges_from (pair, size, gain, cut, link)
  let (e, left) = matrix_merging.merge (one_row n) distances lists tours (map positions tours) {most, cap, rounds} e
  let (pair, size, gain, cut, link) = arrays_from e
  in (pair, size, gain, cut, link, left)

entry flat_unite [c] [m] (p: i64) (n: i64) (pair: [c]i32) (size: [c]i32) (gain: [c]i64) (cut: [m]i32) (link: [m][2]i32) (chosen: [c]i32) : ([]i32, []i32, []i64, []i32, [][2]i32) =
  arrays_from (unite (one_row n) p (exchanges_from (pair, size, gain, cut, link)) (map (== 1) chosen))

def population_from [p] [n] (distances: [n][n]i32) (tours: [p][n]i32) : population [p] [n] [p] =
  {tours, places = map positions tours, lengths = map (matrix_length.tour_length distances) tours}

entry flat_apply [p] [n] [m] (distances: [n][n]i32) (tours: [p][n]i32) (pair: [p]i32) (size: [p]i32) (gain: [p]i64) (cut: [m]i32) (link: [m][2]i32) (good: [p]i32) : ([p][n]i32, [p][n]i32, [p]i64, [p]i32) =
  let (population, made) = apply (one_row n) (population_from distances tours) (exchanges_from (pair, size, gain, cut, link)) (map (== 1) good)
  in (population.tours, population.places, population.lengths, map i32.bool made)

entry flat_cross [p] [n] [k] (distances: [n][n]i32) (lists: [n][k]i32) (counted: i64) (count: [n][k]i32) (tours: [p][n]i32) (mates: [p]i32) (seed: u64) (numbers: [p]i64) (most: i32) (cap: i32) (rounds: i32) (unions: i32) (thrift: i32) : ([p][n]i32, [p][n]i32, [p]i64, [p]i32) =
  let counts = {tours = counted, count = flatten count}
  let plan = {seed, generation = 0, most, cap, rounds, unions, thrift}
  let lengths = (population_from distances tours).lengths
  let (population, made) = matrix_generation.cross distances lists counts (pairs_from tours mates seed numbers) lengths plan
  in (population.tours, population.places, population.lengths, map i32.bool made)

entry flat_take_over [p] [n] [k] [c] [m] (distances: [n][n]i32) (lists: [n][k]i32) (tours: [p][n]i32) (pair: [c]i32) (size: [c]i32) (gain: [c]i64) (cut: [m]i32) (link: [m][2]i32) (chosen: [c]i32) : ([p][n]i32, [p]i64) =
  let e = exchanges_from (pair, size, gain, cut, link)
  let (population, _) = matrix_generation.take_over (one_row n) distances lists (population_from distances tours) e (map (== 1) chosen)
  in (population.tours, population.lengths)

entry flat_generation [p] [n] [k] (distances: [n][n]i32) (lists: [n][k]i32) (tours: [p][n]i32) (seed: u64) (generation: i64) (most: i32) (cap: i32) (rounds: i32) (unions: i32) (thrift: i32) : ([p][n]i32, [p]i64, [p]i32) =
  let plan = {seed, generation, most, cap, rounds, unions, thrift}
  let (population, _) = matrix_generation.generation (one_row n) distances lists (population_from distances tours) plan
  in (population.tours, population.lengths, random_mates (streams p seed generation))

entry flat_unions [p] [n] (distances: [n][n]i32) (tours: [p][n]i32) (mates: [p]i32) (seed: u64) (numbers: [p]i64) (most: i32) (limit: i32) (rounds: i32) : ([]i32, []i32, []i64, []i32, [][2]i32) =
  let pairs = pairs_from tours mates seed numbers
  let d = difference pairs
  let c = ab_cycles most pairs d
  let (cycles, own) = exchanges_of pairs.rows d c (matrix_gains.gains distances pairs d c) i64.lowest
  in arrays_from (unions (one_row n) limit rounds {cycles, d, own} (select cycles (map (> 0) cycles.gain)))

entry flat_counts [p] [n] [k] (lists: [n][k]i32) (tours: [p][n]i32) : [n][k]i32 =
  unflatten (edge_counts (one_row n) lists tours).count

entry flat_worthy [p] [n] [k] [c] [m] (lists: [n][k]i32) (tours: [p][n]i32) (pair: [c]i32) (size: [c]i32) (gain: [c]i64) (cut: [m]i32) (link: [m][2]i32) (thrift: i32) : ([c]i64, [c]i32) =
  let e = exchanges_from (pair, size, gain, cut, link)
  let lost = entropy_lost (one_row n) lists tours (edge_counts (one_row n) lists tours) e
  in (lost, map i32.bool (worthy p thrift e lost))

entry flat_places [p] [n] (xs: [n]i32) (ys: [n]i32) (seed: u64) (numbers: [p]i64) : [p][n]u32 =
  map (\key -> map2 (place_along key) xs ys) (map (rng.stream seed) numbers)

entry flat_curves [p] [n] (distances: [n][n]i32) (xs: [n]i32) (ys: [n]i32) (seed: u64) (numbers: [p]i64) : ([p][n]i32, [p][n]i32, [p]i64) =
  let {tours, places, lengths} = matrix_starts.curves (one_row n) distances (xs, ys) (map (rng.stream seed) numbers)
  in (tours, places, lengths :> [p]i64)

entry flat_greedy [p] [n] [k] (distances: [n][n]i32) (lists: [n][k]i32) (xs: [n]i32) (ys: [n]i32) (seed: u64) (numbers: [p]i64) (noise: i32) (joins: i32) : ([p][n]i32, [p][n]i32, [p]i64) =
  let keys = map (rng.stream seed) numbers
  let {tours, places, lengths} = matrix_starts.greedy (one_row n) distances lists (xs, ys) keys (no_plan with noise = noise with joins = joins)
  in (tours, places, lengths :> [p]i64)

entry flat_search [p] [n] [k] (distances: [n][n]i32) (lists: [n][k]i32) (tours: [p][n]i32) (wide: i32) (least: i32) (rounds: i32) : ([p][n]i32, [p][n]i32, [p]i64) =
  let {tours, places, lengths} = matrix_improve.search (one_row n) distances lists (no_plan with wide = wide with least = least with rounds = rounds) (population_from distances tours)
  in (tours, places, lengths)
