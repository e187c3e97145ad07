-- | Populations by plans from outside: starts in bulk, local search in rounds, and generations.
--
-- Each exists for devices, all tours at once, and for threads, each of which has one tour at a time. Both make the same tours.

import "../core/instances"
import "../core/metric"
import "../core/positions"
import "../core/rng"
import "../core/schedule"
import "apply"
import "curve"
import "generation"
import "improve"
import "merging"
import "rows"
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
  , joins: i32
  , wide: i32
  , least: i32
  , rounds: i32
  }

def is_bulk ({seed = _, first = _, curved = _, noise, joins, wide, least, rounds}: bulk_plan) : bool =
  noise >= 0 && noise <= 4096 && joins >= 0 && wide >= 0 && least >= 0 && rounds >= 0

-- | Tell whether lists lead to cities of the same instance. **Work:** O(n k).
def are_lists_of [n] [k] (rows: rows) (lists: [n][k]i32) : bool =
  let is_of (c: i64) (d: i32) = d >= 0 && i64.i32 d < n && instance_at rows (i32.i64 c) == instance_at rows d
  in and (map2 (\c -> all (is_of c)) (iota n) lists)

def are_spots [n] ((xs, ys): spots [n]) : bool =
  let is_spot (x: i32) = x >= 0 && x <= most_spot
  in all is_spot xs && all is_spot ys

module mk_crossing (M: metric) = {
  local module merging = mk_merging M
  local module G = mk_generation M merging
  local module I = mk_improve M merging
  local module S = mk_starts M

  local
  def search_of ({seed = _, first = _, curved = _, noise = _, joins = _, wide, least, rounds}: bulk_plan) : search =
    {wide, least, rounds}

  -- The tours of these streams, after their local search.
  local
  def started [p] [n] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (keys: [p]rng.key) (plan: bulk_plan) : population [p] [n] [p * instances rows] =
    let tours =
      if plan.curved
      then S.curves rows data spots keys
      else S.greedy rows data lists spots keys {noise = plan.noise, joins = plan.joins}
    in I.search rows data lists (search_of plan) tours

  -- What a tour by itself comes to, for each of p tours of one instance.
  local
  def alone [p] [n] [r] (make: (a: i64) -> population [1] [n] [r]) : population [p] [n] [p] =
    let one (a: i64) = #[unsafe] let made = make a in (made.tours[0], made.places[0], made.lengths[0])
    let (tours, places, lengths) = unzip3 (cores.over one (iota p))
    in {tours, places, lengths}

  -- The streams of climbers, where all that is given has sense.
  --
  -- The host waits for that: what a GPU does behind a check that has failed on it reads what was never written.
  local
  def streams_of [n] [k] (rows: rows) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : [count]rng.key =
    let fits = fits_32_bits n && k <= widest && are_climbers plan.first count && is_bulk plan && are_lists_of rows lists && are_spots spots
    in assert fits (tabulate count (\c -> rng.stream plan.seed (plan.first + c)))

  -- | Start `count` tours, all at once.
  def start [n] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] [count * instances rows] =
    started rows data lists spots (streams_of rows lists spots count plan) plan

  -- | Start the same tours of one instance, one a thread.
  def start_alone [n] [k] (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] [count] =
    let keys = streams_of (one_row n) lists spots count plan
    in alone (\a -> #[unsafe] started (one_row n) data lists spots [keys[a]] plan)

  -- | Bring tours through the local search of a plan, all at once.
  def search [p] [n] [r] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (plan: bulk_plan) : population [p] [n] [r] =
    let tours = assert (is_bulk plan && are_lists_of rows lists) tours
    in I.search rows data lists (search_of plan) (S.measured rows data tours (map positions tours) :> population [p] [n] [r])

  -- | Bring tours of one instance there, one a thread.
  def search_alone [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (plan: bulk_plan) : population [p] [n] [p] =
    let tours = assert (is_bulk plan && are_lists_of (one_row n) lists) tours
    let places = map positions tours
    in alone (\a -> #[unsafe] I.search (one_row n) data lists (search_of plan) (S.measured (one_row n) data [tours[a]] [places[a]]))

  -- The plan of a generation, where all that is given has sense.
  local
  def checked [n] [k] (rows: rows) (lists: [n][k]i32) ({seed, generation, most, cap, rounds, unions, thrift}: generation_plan) : plan =
    let fits = is_generation {seed, generation, most, cap, rounds, unions, thrift} && are_lists_of rows lists
    in assert fits {most, cap, rounds, unions, thrift}

  -- | Make the next generation, all pairs at once; tell which rows changed.
  def cross [p] [n] [r] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n] [r]) (plan: generation_plan) : (population [p] [n] [r], [r]bool) =
    G.generation rows data lists population plan.seed plan.generation (checked rows lists plan)

  -- | Make the same generation of one instance, one pair a thread.
  def cross_alone [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n] [p]) (plan: generation_plan) : (population [p] [n] [p], [p]bool) =
    G.by_pair data lists population plan.seed plan.generation (checked (one_row n) lists plan)
}
