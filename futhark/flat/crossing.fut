-- | Climbers of a population by plans from outside: starts in bulk, local search in rounds, and generations.
--
-- Each exists for devices, all tours at once, and for threads, each of which has one tour at a time. Both make the same tours.

import "../core/instances"
import "../core/metric"
import "../core/positions"
import "../core/rng"
import "../core/schedule"
import "../local_search/population"
import "curve"
import "generation"
import "improve"
import "merging"
import "starts"

-- | Generation number `generation` of a seed, by the plan of `generation.fut`.
type generation_plan = {seed: u64, generation: i64, most: i32, cap: i32, rounds: i32, unions: i32, thrift: i32}

-- | Tell whether a plan has sense: cycles of up to 2^20 edges, 1,000 rounds of each kind, and 10,000 hundredths.
def is_generation ({seed = _, generation, most, cap, rounds, unions, thrift}: generation_plan) : bool =
  let is_count (highest: i32) (x: i32) = x >= 0 && x <= highest
  in generation >= 0
     && is_count (1 << 20) most
     && cap >= 0
     && is_count 1000 rounds
     && is_count 1000 unions
     && is_count 10000 thrift

-- | Climbers first, …, first + count - 1 of a seed: along curves or by fragments (`starts.fut`), and then by a local search
-- (`improve.fut`).
type bulk_plan =
  { seed: u64
  , first: i64
  , curved: bool
  , noise: i32
  , longest: i32
  , wide: i32
  , least: i32
  , rounds: i32
  }

def is_bulk ({seed = _, first = _, curved = _, noise, longest, wide, least, rounds}: bulk_plan) : bool =
  noise >= 0 && noise <= 4096 && longest >= 1 && wide >= 0 && least >= 0 && rounds >= 0

def are_spots [n] ((xs, ys): spots [n]) : bool =
  let is_spot (x: i32) = x >= 0 && x <= most_spot
  in all is_spot xs && all is_spot ys

module mk_crossing (M: metric) = {
  local module merging = mk_merging M
  local module G = mk_generation M merging
  local module I = mk_improve M merging
  local module S = mk_starts M
  local module F = import "apply"

  -- Climbers on measured tours, after so many steps.
  local
  def climbers_on [p] [n] ({tours, places = _, lengths}: F.population [p] [n]) (steps: [p]i64) : population [p] [n] =
    {tours, bests = tours, lengths, steps}

  -- The tours of climbers with their positions.
  local
  def tours_of [p] [n] ({tours = _, bests, lengths, steps = _}: population [p] [n]) : F.population [p] [n] =
    {tours = bests, places = map positions bests, lengths}

  -- Climbers after a generation.
  local
  def after [p] [n] (before: population [p] [n]) ((made, changed): (F.population [p] [n], [p]bool)) : population [p] [n] =
    climbers_on made (map2 (\steps f -> steps + i64.bool f) before.steps changed)

  local
  def search_of ({seed = _, first = _, curved = _, noise = _, longest = _, wide, least, rounds}: bulk_plan) : search =
    {wide, least, rounds}

  -- The tours of these streams, after their local search.
  local
  def started [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (keys: [p]rng.key) (plan: bulk_plan) : F.population [p] [n] =
    let tours =
      if plan.curved
      then S.curves data spots keys
      else S.greedy data lists spots keys {noise = plan.noise, longest = plan.longest}
    in I.search data lists (search_of plan) tours

  -- What a tour by itself comes to, for each of p tours.
  local
  def alone [p] [n] (make: (a: i64) -> F.population [1] [n]) : F.population [p] [n] =
    let one (a: i64) = #[unsafe] let made = make a in (made.tours[0], made.places[0], made.lengths[0])
    let (tours, places, lengths) = unzip3 (cores.over one (iota p))
    in {tours, places, lengths}

  -- The streams of climbers, where all that is given has sense.
  --
  -- The host waits for that: what a GPU does behind a check that has failed on it reads what was never written.
  local
  def streams_of [n] [k] (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : [count]rng.key =
    let fits = fits_32_bits n && k <= widest && are_climbers plan.first count && is_bulk plan && are_lists lists && are_spots spots
    in assert fits (tabulate count (\c -> rng.stream plan.seed (plan.first + c)))

  -- | Start climbers, all at once.
  def start [n] [k] (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] =
    let keys = streams_of lists spots count plan
    in climbers_on (started data lists spots keys plan) (replicate count 0)

  -- | Start the same climbers, one a thread.
  def start_alone [n] [k] (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] =
    let keys = streams_of lists spots count plan
    in climbers_on (alone (\a -> #[unsafe] started data lists spots [keys[a]] plan)) (replicate count 0)

  -- | Bring climbers on given tours through the local search of a plan, all at once.
  def search [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: bulk_plan) : population [p] [n] =
    let {tours, places, lengths = _} = tours_of (assert (is_bulk plan && are_lists lists) climbers)
    in climbers_on (I.search data lists (search_of plan) (S.measured data tours places)) climbers.steps

  -- | Bring the same climbers there, one a thread.
  def search_alone [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: bulk_plan) : population [p] [n] =
    let {tours, places, lengths = _} = tours_of (assert (is_bulk plan && are_lists lists) climbers)
    let one (a: i64) = #[unsafe] I.search data lists (search_of plan) (S.measured data [tours[a]] [places[a]])
    in climbers_on (alone one) climbers.steps

  -- The plan of a generation, where all that is given has sense.
  local
  def checked [n] [k] (lists: [n][k]i32) ({seed, generation, most, cap, rounds, unions, thrift}: generation_plan) : plan =
    let fits = is_generation {seed, generation, most, cap, rounds, unions, thrift} && are_lists lists
    in assert fits {most, cap, rounds, unions, thrift}

  -- | Make the next generation, all pairs at once.
  def cross [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: generation_plan) : population [p] [n] =
    after climbers (G.generation data lists (tours_of climbers) plan.seed plan.generation (checked lists plan))

  -- | Make the same generation, one pair a thread.
  def cross_alone [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: generation_plan) : population [p] [n] =
    after climbers (G.by_pair data lists (tours_of climbers) plan.seed plan.generation (checked lists plan))
}
