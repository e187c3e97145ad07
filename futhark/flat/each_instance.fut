-- | Many instances for threads, each of which has one instance at a time; the tours are those of `many.fut`.

import "../core/schedule"
import "apply"
import "many"
import "rows"

-- What each instance by itself comes to: its tours, which are padded in between, and which of them changed.
local
def each [p] (n: i64) (rows: rows) (make: (i: i64) -> (first: i64) -> (m: i64) -> (population [p] [m] [p], [p]bool)) : (population [p] [n] [p * instances rows], [p * instances rows]bool) =
  #[unsafe]
  let most = most_cities rows
  let one (i: i64) =
    let {start, size} = bounds_of rows (i32.i64 i)
    let (made, changed) = make i (i64.i32 start) (i64.i32 size)
    let padded [m] (row: [m]i32): [most]i32 = tabulate most (\q -> if q < m then row[q] + start else 0)
    in (map padded made.tours, map padded made.places, made.lengths, changed)
  let (tours, places, lengths, changed) = unzip4 (cores.over one (iota (instances rows)))
  let back (all: [instances rows][p][most]i32): [p][n]i32 =
    let at (a: i64) (q: i64) =
      let i = instance_at rows (i32.i64 q)
      in all[i64.i32 i, a, q - i64.i32 (bounds_of rows i).start]
    in tabulate_2d p n at
  in ( {tours = back tours, places = back places, lengths = flatten (transpose lengths)}
     , flatten (transpose changed)
     )

-- The values of cities first, …, first + m - 1.
local
def some [n] 't (values: [n]t) (first: i64) (m: i64) : [m]t = #[unsafe] values[first:first + m] :> [m]t

-- The numbers of cities, less the first one's.
local def less [m] (first: i64) (cities: [m]i32) : [m]i32 = map (\c -> c - i32.i64 first) cities

-- | Make the next generation of those that go on, one instance a thread. **Work, Span:** those of `make`.
def each_crossed [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) (make: (first: i64) -> (m: i64) -> [m][k]i32 -> population [p] [m] [p] -> (population [p] [m] [p], [p]bool)) : many [p] [n] [k] [b] [r] =
  #[unsafe]
  let rows = rows_of_batch batch
  let cross (i: i64) (first: i64) (m: i64) =
    let own (tours: [p][n]i32): [p][m]i32 = map (\tour -> less first (some tour first m)) tours
    let lengths = tabulate p (\a -> batch.lengths[a * b + i])
    let now = {tours = own batch.tours, places = own batch.places, lengths}
    in if goes rows (i32.i64 i)
       then make first m (map (less first) (some batch.lists first m)) now
       else (now, replicate p false)
  let (tours, changed) = each n rows cross
  in moved_on batch (tours :> population [p] [n] [r], changed :> [r]bool)
