-- | A generation of tours: each takes over edges from the next one in a random order; and the tours that the first one has.

import "../core/instances"
import "../core/metric"
import "../core/positions"
import "../core/rng"
import "../core/schedule"
import "../core/tour"
import "../local_search/population"
import "eax"
import "edge_exchange"

def are_passes (passes: i32) = passes >= 0 && passes <= 256

def is_generation (generation: i64) (children: i32) (spread: i64) =
  generation >= 0 && children >= 0 && spread >= 1 && spread <= 32

-- | Generation number `generation` of a seed: so many children a pair; and how many threads are started for a pair.
type generation_plan = {seed: u64, generation: i64, children: i32, spread: i64}

-- | What many instances at once take from it.
module type crossing = {
  type~ data [n]

  -- | A tour that goes on to a near city that is left (`near_tour` below).
  val near_tour [n] [k] : data [n] -> (lists: [n][k]i32) -> rng.key -> (passes: u64) -> (first: i32) -> [n]i32

  -- | The best child of a tour with another one (`eax`).
  val child [n] [k] : data [n] -> (lists: [n][k]i32) -> rng.key -> (children: i32) -> placed [n] -> placed [n] -> (exchange, i64)
}

module mk_generation (M: metric) (S: schedule) = {
  module X = mk_eax M
  type~ data [n] = M.data [n]

  def child [n] [k] (data: data [n]) (lists: [n][k]i32) (key: rng.key) (children: i32) (a: placed [n]) (b: placed [n]) : (exchange, i64) =
    X.cross data lists key children false a b (difference a b)

  -- The next generation: in an order that follows from the seed and the generation's number, each tour is replaced by its
  -- best child with the tour behind it. One pair a thread.
  --
  -- Pairs take their own ways, and threads of a GPU that go together wait for each other: `spread` threads are started
  -- for a pair, of which the first one works. **Work:** O(p n), and that of the children.
  local
  def next [p] [n] [k]
           (data: M.data [n])
           (lists: [n][k]i32)
           (population: population [p] [n])
           ({seed, generation, children, spread}: generation_plan) : population [p] [n] =
    let spread = assert (is_generation generation children spread) spread
    let order = map i64.i32 (random_tour p seed generation)
    let key = rng.word (rng.stream seed generation) 0
    let places = map positions population.bests
    -- The two tours of pair i.
    let parents (i: i64) = #[unsafe] (order[i], order[if i + 1 == p then 0 else i + 1])
    let placed (c: i64) = #[unsafe] (population.bests[c], places[c])
    let (lefts, cities, counts) =
      unzip3 (map (\i -> let (a, b) = parents i in difference (placed a) (placed b)) (iota p))
    let cross_pair t =
      #[unsafe]
      let i = t / spread
      let (a, b) = parents i
      in X.cross data
                 lists
                 (rng.stream key a)
                 (if t % spread == 0 then children else 0)
                 true
                 (placed a)
                 (placed b)
                 (lefts[i], cities[i], counts[i])
    let (exchanges, gains) = unzip (S.over cross_pair (iota (p * spread)))
    let tours =
      map2 (\i a -> #[unsafe] apply_exchange population.bests[a] exchanges[i * spread]) (iota p) order
    let lengths =
      map2 (\i a -> #[unsafe] population.lengths[a] - gains[i * spread]) (iota p) order
    let steps =
      map2 (\i a -> #[unsafe] population.steps[a] + i64.bool (gains[i * spread] > 0)) (iota p) order
    in {tours, bests = copy tours, lengths, steps}

  -- | The next generation, where the lists are lists.
  --
  -- The host waits for that: what a GPU does behind a check that has failed on it reads what was never written.
  def cross [p] [n] [k]
            (data: M.data [n])
            (lists: [n][k]i32)
            (population: population [p] [n])
            (plan: generation_plan) : population [p] [n] =
    if are_lists lists then next data lists population plan else assert false population

  -- | A tour that goes on to a near city that is left: to the nearest by the lists, but each of a list is passed over with
  -- probability passes / 256, if another is left and it is not at distance 0; to the nearest of all where the list has none that
  -- is left. With passes = 0 it is the nearest-neighbour tour. **Work:** O(n k), and O(n) a city whose list has none.
  def near_tour [n] [k] (data: M.data [n]) (lists: [n][k]i32) (key: rng.key) (passes: u64) (first: i32) : [n]i32 =
    #[unsafe]
    -- The cities that are left are the last ones of the tour so far; `place` tells where each city is.
    let n32 = i32.i64 n
    let tour: *[n]i32 = map i32.i64 (iota n)
    let place: *[n]i32 = map i32.i64 (iota n)
    let dist (a: i32) (b: i32) = M.dist data (M.point data a) (M.point data b)
    let take (tour: *[n]i32) (place: *[n]i32) (at: i32) (c: i32): (*[n]i32, *[n]i32) =
      let from = place[i64.i32 c]
      let d = tour[i64.i32 at]
      let tour = tour with [i64.i32 at] = c
      let tour = tour with [i64.i32 from] = d
      let place = place with [i64.i32 d] = from
      let place = place with [i64.i32 c] = at
      in (tour, place)
    let (tour, place) = take tour place 0 first
    let (tour, _) =
      loop (tour, place) for done < n32 - 1 do
        let c = tour[i64.i32 done]
        let (next, passed, _) =
          loop (next, passed, j) = (-1, -1, 0)
          while next < 0 && j < i32.i64 k do
            let d = lists[i64.i32 c, i64.i32 j]
            let step = i64.i32 done * k + i64.i32 j
            let pass = rng.word key (step + 1) >> 56 < passes && dist c d > 0
            in if place[i64.i32 d] <= done
               then (-1, passed, j + 1)
               else if pass then (-1, if passed < 0 then d else passed, j + 1) else (d, passed, j + 1)
        let next =
          if next >= 0 || passed >= 0
          then (if next >= 0 then next else passed)
          else (loop (best, length) = (-1, i32.highest)
                for t < n32 - 1 - done do
                  let d = tour[i64.i32 (done + 1 + t)]
                  let l = dist c d
                  in if l < length || (l == length && d < best) then (d, l) else (best, length)).0
        in take tour place (done + 1) next
    in tour

  -- Climbers first, …, first + count - 1 of a seed, each on a near tour of its own from a random city; `spread` threads
  -- are started for each.
  local
  def near_tours [n] [k]
                 (data: M.data [n])
                 (lists: [n][k]i32)
                 (seed: u64)
                 (first: i64)
                 (count: i64)
                 (passes: i32)
                 (spread: i64) : population [count] [n] =
    let first = assert (are_climbers first count && are_passes passes) first
    let tour_of (t: i64) =
      let key = rng.stream seed (first + t / spread)
      in near_tour data lists key (u64.i32 passes) (rng.below key 0 (i32.i64 n))
    let starts = S.over tour_of (iota (count * spread))
    in population_on (map (\c -> #[unsafe] starts[c * spread]) (iota count))

  -- | These climbers, where the lists are lists; the host waits for that here, too.
  def start [n] [k]
            (data: M.data [n])
            (lists: [n][k]i32)
            (seed: u64)
            (first: i64)
            (count: i64)
            (passes: i32)
            (spread: i64) : population [count] [n] =
    if are_lists lists
    then near_tours data lists seed first count passes spread
    else assert false (population_on (replicate count (replicate n 0)))
}
