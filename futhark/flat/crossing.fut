-- | Populations by plans: starts, local search, generations; all tours at once, or the same tours one a thread.

import "../core/instances"
import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/tour"
import "apply"
import "curve"
import "generation"
import "improve"
import "many"
import "merging"
import "plans"
import "rows"
import "starts"

local module local_search = import "../local_search/population"

type climbers [p] [n] = local_search.population [p] [n]

module mk_crossing (M: sliced) = {
  local module merging = mk_merging M
  local module G = mk_generation M merging
  local module I = mk_improve M merging
  local module S = mk_starts M

  -- Climbers on measured tours, with their numbers of steps. **Work:** O(p).
  local
  def climbers_on [p] [n] ({tours, places = _, lengths}: population [p] [n] [p]) (steps: [p]i64) : climbers [p] [n] =
    {tours, bests = tours, lengths, steps}

  -- The tours of these streams, after their local search.
  local
  def started [p] [n] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (keys: [p]rng.key) (plan: bulk_plan) : population [p] [n] [p * instances rows] =
    let tours =
      if plan.curved
      then S.curves rows data spots keys
      else S.greedy rows data lists spots keys plan
    in I.search rows data lists plan tours

  -- What a tour by itself comes to, for each of p tours of one instance.
  local
  def alone [p] [n] [r] (make: (a: i64) -> population [1] [n] [r]) : population [p] [n] [p] =
    let one (a: i64) = #[unsafe] let made = make a in (made.tours[0], made.places[0], made.lengths[0])
    let (tours, places, lengths) = unzip3 (cores.over one (iota p))
    in {tours, places, lengths}

  -- The streams of climbers. The host waits: behind a check that failed a GPU reads unwritten memory.
  local
  def streams_of [n] [k] (rows: rows) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : [count]rng.key =
    let fits = fits_32_bits n && is_joining k plan && are_climbers plan.first count && are_lists_of rows lists && are_spots spots
    in assert fits (tabulate count (\c -> rng.stream plan.seed (plan.first + c)))

  -- | Start `count` climbers, all tours at once.
  #[noinline]
  def start [n] [k] (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : climbers [count] [n] =
    let tours = started (one_row n) data lists spots (streams_of (one_row n) lists spots count plan) plan
    in climbers_on (tours :> population [count] [n] [count]) (replicate count 0)

  -- | Start the same climbers, one tour a thread.
  #[noinline]
  def start_alone [n] [k] (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : climbers [count] [n] =
    let keys = streams_of (one_row n) lists spots count plan
    in climbers_on (alone (\a -> #[unsafe] started (one_row n) data lists spots [keys[a]] plan)) (replicate count 0)

  -- Tours after the local search of a plan, by the type of `started`: one copy serves both.
  local
  def searched [p] [n] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (places: [p][n]i32) (plan: bulk_plan) : population [p] [n] [p * instances rows] =
    I.search rows data lists plan (S.measured rows data tours places)

  local
  def searchable [p] [n] [k] (lists: [n][k]i32) (climbers: climbers [p] [n]) (plan: bulk_plan) : [p][n]i32 =
    assert (is_bulk plan && are_lists_of (one_row n) lists) climbers.bests

  -- | Bring the best tours of climbers through the local search of a plan, all at once.
  #[noinline]
  def search [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: climbers [p] [n]) (plan: bulk_plan) : climbers [p] [n] =
    let tours = searchable lists climbers plan
    in climbers_on (searched (one_row n) data lists tours (map positions tours) plan :> population [p] [n] [p]) climbers.steps

  -- | Bring them there, one a thread.
  #[noinline]
  def search_alone [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: climbers [p] [n]) (plan: bulk_plan) : climbers [p] [n] =
    let tours = searchable lists climbers plan
    let places = map positions tours
    in climbers_on (alone (\a -> #[unsafe] searched (one_row n) data lists [tours[a]] [places[a]] plan)) climbers.steps

  -- The plan of a generation, where all that is given has sense.
  local
  def checked [n] [k] (rows: rows) (lists: [n][k]i32) (plan: generation_plan) : generation_plan =
    assert (is_generation plan && are_lists_of rows lists) plan

  -- The best tours of climbers with their positions. **Work:** O(p n).
  local
  def measured_of [p] [n] (climbers: climbers [p] [n]) : population [p] [n] [p] =
    {tours = climbers.bests, places = map positions climbers.bests, lengths = climbers.lengths}

  -- Climbers after a generation; those that changed have made a step. **Work:** O(p).
  local
  def after [p] [n] (before: climbers [p] [n]) ((made, changed): (population [p] [n] [p], [p]bool)) : climbers [p] [n] =
    climbers_on made (map2 (\steps f -> steps + i64.bool f) before.steps changed)

  -- | Make the next generation of rows, all pairs at once; tell which rows changed. One copy serves one instance and many.
  #[noinline]
  def cross_rows [p] [n] [r] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n] [r]) (plan: generation_plan) : (population [p] [n] [r], [r]bool) =
    G.generation rows data lists population (checked rows lists plan)

  -- | Make the next generation of climbers, all pairs at once.
  def cross [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: climbers [p] [n]) (plan: generation_plan) : climbers [p] [n] =
    -- Of as many rows as a batch has by its type: another type would be another copy.
    let rows = one_row n
    let r = p * instances rows
    let (tours, changed) = cross_rows rows data lists (measured_of climbers :> population [p] [n] [r]) plan
    in after climbers (tours :> population [p] [n] [p], changed :> [p]bool)

  -- | Make the same generation, one pair a thread.
  #[noinline]
  def cross_alone [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (climbers: climbers [p] [n]) (plan: generation_plan) : climbers [p] [n] =
    after climbers (G.by_pair data lists (measured_of climbers) (checked (one_row n) lists plan))

  -- | Begin populations of many instances on given tours, by the cities and the generations of each instance.
  #[noinline]
  def begin_many [p] [n] [k] [b] (data: M.data [n]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] =
    let rows = rows_of n sizes (replicate b true)
    let fits = are_sizes n sizes && are_lists_of rows lists && are_climbers 0 p && are_in_rows rows tours
    let tours = assert fits tours
    in begun lists sizes left (S.measured rows data tours (map positions tours) :> population [p] [n] [p * b])

  -- | Make the next generation of the instances that go on.
  #[noinline]
  def cross_many [p] [n] [k] [b] [r] (data: M.data [n]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] =
    moved_on batch (cross_rows (rows_of_batch batch) data batch.lists (tours_of batch) plan)

  -- | Make the same generation, one instance a thread.
  #[noinline]
  def cross_many_alone [p] [n] [k] [b] [r] (data: M.data [n]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] =
    each_crossed batch (\first m lists tours -> cross_rows (one_row m) (M.slice data first m) lists tours plan)
}
