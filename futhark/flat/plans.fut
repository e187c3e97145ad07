-- | Plans from outside, of starts in bulk and of generations, and the checks that all that is given has sense.

import "curve"
import "rows"

-- | Generation number `generation` of a seed: the most edges of an AB-cycle, cities of a subtour that is merged, and rounds
-- of merging; rounds of unions; and the hundredths of the average gain for entropy below which a child waits.
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

-- | Climbers first, …, first + count - 1 of a seed: along curves, or by fragments with edges that a hash lengthens by up to
-- `noise` 256ths, and rounds of `joins` along the curve (`starts.fut`). Then local search (`improve.fut`): the places of lists
-- that cities look at, the fewest proposals with which a tour goes on, and the most rounds.
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

-- | The widest neighbour lists by which fragments join.
def widest : i64 = 32

def is_joining (k: i64) (plan: bulk_plan) : bool = k <= widest && is_bulk plan

-- | Tell whether lists lead to cities of the same instance. **Work:** O(n k).
def are_lists_of [n] [k] (rows: rows) (lists: [n][k]i32) : bool =
  let is_of (c: i64) (d: i32) = d >= 0 && i64.i32 d < n && instance_at rows (i32.i64 c) == instance_at rows d
  in and (map2 (\c -> all (is_of c)) (iota n) lists)

def are_spots [n] ((xs, ys): spots [n]) : bool =
  let is_spot (x: i32) = x >= 0 && x <= most_spot
  in all is_spot xs && all is_spot ys
