-- | The program of the cuda and opencl backends for edge assembly crossover, all tours at once.
--
-- One copy of the code serves all forms of distances: each takes the compiler of a GPU many seconds.

import "../core/any_instance"
import "../core/anywhere"
import "../core/instances"
import "../core/positions"
import "../core/space"
import "../core/tour"
import "../flat/climbers"
import "../flat/crossing"
import "../flat/curve"
import "../flat/many"
import "../flat/rows"
import "../flat/starts"
import "../local_search/population"

module any_crossing = mk_crossing anywhere
module any_starts = mk_starts anywhere
local module flat = import "../flat/apply"

-- One copy of each step serves one instance and many.

#[noinline]
def rows_started [n] [k] (rows: rows) (data: anywhere.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) = any_crossing.start rows data lists spots count plan

#[noinline]
def rows_crossed [p] [n] [r] [k] (rows: rows) (data: anywhere.data [n]) (lists: [n][k]i32) (tours: flat.population [p] [n] [r]) (plan: generation_plan) = any_crossing.cross rows data lists tours plan

def bulk_started [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (spots: spots [n]) (count: i64) (plan: bulk_plan) : population [count] [n] =
  climbers_on (rows_started (one_row n) data lists spots count plan :> flat.population [count] [n] [count]) (replicate count 0)

#[noinline]
def bulk_searched [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: bulk_plan) : population [p] [n] =
  climbers_on (any_crossing.search (one_row n) data lists climbers.bests plan) climbers.steps

def next_generation [p] [n] [k] (data: anywhere.data [n]) (lists: [n][k]i32) (climbers: population [p] [n]) (plan: generation_plan) : population [p] [n] =
  -- Of as many rows as a batch has by its type: another type would be another copy.
  let rows = one_row n
  let r = p * instances rows
  let (tours, changed) = rows_crossed rows data lists (measured_of climbers :> flat.population [p] [n] [r]) plan
  in after climbers (tours :> flat.population [p] [n] [p], changed :> [p]bool)

#[noinline]
def many_given [p] [n] [k] [b] (data: anywhere.data [n]) (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) (tours: [p][n]i32) : many [p] [n] [k] [b] [p * b] =
  let rows = rows_of n sizes (replicate b true)
  let fits = are_sizes n sizes && are_lists_of rows lists && are_climbers 0 p && are_in_rows rows tours
  let tours = assert fits tours
  in begun lists sizes left (any_starts.measured rows data tours (map positions tours) :> flat.population [p] [n] [p * b])

#[noinline]
def many_crossed [p] [n] [k] [b] [r] (data: anywhere.data [n]) (batch: many [p] [n] [k] [b] [r]) (plan: generation_plan) : many [p] [n] [k] [b] [r] =
  moved_on batch (rows_crossed (rows_of_batch batch) data batch.lists (tours_of batch) plan)
