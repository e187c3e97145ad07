-- | Many instances at once, their populations rows of the same tours, or one instance a thread. An instance ends after its
-- generations, or after `patience` without a change; so its tours are the same alone.

import "../core/schedule"
import "../core/tour"
import "apply"
import "rows"

-- | The populations of b instances: their sizes, generations left, generations without a change, and neighbour lists.
type many [p] [n] [k] [b] [r] = {sizes: [b]i32, left: [b]i32, quiet: [b]i32, lists: [n][k]i32, tours: [p][n]i32, places: [p][n]i32, lengths: [r]i64}

-- | The generations without a change after which an instance ends.
def patience : i32 = 3

-- | Tell which instances go on. **Work:** O(b).
def go_on [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : [b]bool =
  map2 (\left quiet -> left > 0 && quiet < patience) batch.left batch.quiet

-- | Tell whether n is the sum of the sizes of the instances. **Work:** O(b).
def are_sizes [b] (n: i64) (sizes: [b]i32) : bool = all (> 0) sizes && i64.sum (map i64.i32 sizes) == n

-- | Tell whether each tour visits the cities of every row in that row. **Work:** O(p n). **Span:** O(log n).
def are_in_rows [p] [n] (rows: rows) (tours: [p][n]i32) : bool =
  let is_at (q: i64) (c: i32) = c >= 0 && i64.i32 c < n && instance_at rows c == instance_at rows (i32.i64 q)
  in all is_tour tours && and (map (\tour -> and (map2 is_at (iota n) tour)) tours)

-- | Return the rows of a batch, of which some go on. **Work:** O(n log b).
def rows_of_batch [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : rows = rows_of n batch.sizes (go_on batch)

-- | Return the tours of a batch, in rows. **Work:** O(1).
def tours_of [p] [n] [k] [b] [r] ({sizes = _, left = _, quiet = _, lists = _, tours, places, lengths}: many [p] [n] [k] [b] [r]) : population [p] [n] [r] =
  {tours, places, lengths}

-- | Return the row of each instance that is the shortest, the first among equals. **Work:** O(p b).
def shortest_rows [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : [b]i64 =
  #[unsafe]
  let best (i: i64) =
    loop best = i
    for a < p do
      if batch.lengths[a * b + i] < batch.lengths[best] then a * b + i else best
  in tabulate b best

-- | Return the shortest tour of each instance, by its own numbers of cities, and their lengths. **Work:** O(n + p b).
def bests [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) : ([n]i32, [b]i64) =
  #[unsafe]
  let rows = rows_of_batch batch
  let best = shortest_rows batch
  let city (q: i64): i32 =
    let i = instance_at rows (i32.i64 q)
    in batch.tours[best[i64.i32 i] / b, q] - (bounds_of rows i).start
  in (tabulate n city, map (\row -> batch.lengths[row]) best)

-- | Return the populations that start on these tours, each with its number of generations left. **Work:** O(b).
def begun [p] [n] [k] [b] [r] (lists: [n][k]i32) (sizes: [b]i32) (left: [b]i32) ({tours, places, lengths}: population [p] [n] [r]) : many [p] [n] [k] [b] [r] =
  {sizes, left, quiet = replicate b 0, lists, tours, places, lengths}

-- | Return a batch after a generation of those that go on, in which these rows have changed. **Work:** O(p b).
def moved_on [p] [n] [k] [b] [r] (batch: many [p] [n] [k] [b] [r]) (({tours, places, lengths}, changed): (population [p] [n] [r], [r]bool)) : many [p] [n] [k] [b] [r] =
  let changes = sums b (map (% b) (iota r)) (map i32.bool changed)
  let go = go_on batch
  in batch with left = map2 (\f left -> if f then left - 1 else left) go batch.left
           with quiet = map3 (\f quiet count -> if f && count == 0 then quiet + 1 else if f then 0 else quiet) go batch.quiet changes
           with tours = tours
           with places = places
           with lengths = lengths

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
