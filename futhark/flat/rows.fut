-- | Rows: the cities of one instance in a tour of several, each a tour of its own; row a b + i is that of instance i in
-- tour a of b instances. Of one instance no table is read.

import "segments"

-- | The first position of a row in its tour, and the number of its cities.
type bounds = {start: i32, size: i32}

-- | Cuts of tours into rows.
module type rows_of_tours = {
  type~ rows

  -- | Return the rows of tours of one instance. **Work:** O(1).
  val one_row : (n: i64) -> rows

  -- | Return the rows of instances of the given sizes, n cities in all, of which some go on. **Work:** O(n log b). **Span:** O(log n).
  val rows_of [b] : (n: i64) -> (sizes: [b]i32) -> (go: [b]bool) -> rows

  -- | Return how many instances there are. **Work:** O(1).
  val instances : rows -> i64

  -- | Return how many cities all instances have. **Work:** O(1).
  val cities : rows -> i64

  -- | Return the most cities of a row. **Work:** O(b). **Span:** O(log b).
  val most_cities : rows -> i64

  -- | Return the instance of a position. **Work:** O(1).
  val instance_at : rows -> (q: i32) -> i32

  -- | Tell whether an instance goes on. **Work:** O(1).
  val goes : rows -> (i: i32) -> bool

  -- | Return the bounds of an instance's rows. **Work:** O(1).
  val bounds_of : rows -> (i: i32) -> bounds
}

open (
  {
    -- The bounds of each instance and whether it goes on, and the instance of each city and position. (In one array: each
    -- array is one more for every function that captures rows.)
    type~ rows = {n: i32, count: i64, each: [](bounds, bool), instance: []i32}

    def one_row (n: i64) : rows = {n = i32.i64 n, count = 1, each = [], instance = []}

    def rows_of [b] (n: i64) (sizes: [b]i32) (go: [b]bool) : rows =
      let ends = ends_of sizes
      let each = map3 (\start size goes -> ({start, size}, goes)) (starts_of sizes ends) sizes go
      in {n = i32.i64 n, count = b, each, instance = tabulate n (row_of ends)}

    def instances (rows: rows) : i64 = rows.count
    def cities (rows: rows) : i64 = i64.i32 rows.n

    def most_cities (rows: rows) : i64 =
      i64.i32 (if rows.count == 1 then rows.n else i32.maximum (map (\(bounds, _) -> bounds.size) rows.each))

    #[inline]
    def instance_at (rows: rows) (q: i32) : i32 = if rows.count == 1 then 0 else get rows.instance q

    #[inline]
    def goes (rows: rows) (i: i32) : bool = length rows.each == 0 || (get rows.each i).1

    #[inline]
    def bounds_of (rows: rows) (i: i32) : bounds = if rows.count == 1 then {start = 0, size = rows.n} else (get rows.each i).0
  }:
  rows_of_tours)

-- | Tell whether the instance of a position goes on. **Work:** O(1).
#[inline]
def goes_at (rows: rows) (q: i32) : bool = goes rows (instance_at rows q)

-- | Return the bounds of the row around a position. **Work:** O(1).
#[inline]
def bounds_at (rows: rows) (q: i32) : bounds = bounds_of rows (instance_at rows q)

-- | Return a position that lies at most a row's size before or behind it as one of the row's. **Work:** O(1).
#[inline]
def within ({start, size}: bounds) (q: i32) : i32 =
  if q >= start + size then q - size else if q < start then q + size else q

-- | Return the position `steps` behind another one of its row. **Work:** O(1).
#[inline]
def stepped (rows: rows) (q: i32) (steps: i32) : i32 = within (bounds_at rows q) (q + steps)

-- | Return how many steps lead from one position of a row to another one. **Work:** O(1).
#[inline]
def steps_between ({start = _, size}: bounds) (from: i32) (to: i32) : i32 =
  if to < from then to - from + size else to - from

-- | Return the row of a position of tour a. **Work:** O(1).
#[inline]
def row_at (rows: rows) (a: i64) (q: i32) : i32 =
  i32.i64 (a * instances rows) + instance_at rows q

-- | Return the tour and the instance of a row. **Work:** O(1).
#[inline]
def tour_and_instance (rows: rows) (row: i32) : (i64, i32) =
  let b = i32.i64 (instances rows)
  in if b == 1 then (i64.i32 row, 0) else (i64.i32 (row / b), row % b)

-- | Return the tour of a row. **Work:** O(1).
#[inline]
def tour_of (rows: rows) (row: i32) : i64 = (tour_and_instance rows row).0

-- | Return the bounds of a row. **Work:** O(1).
#[inline]
def bounds_of_row (rows: rows) (row: i32) : bounds = bounds_of rows (tour_and_instance rows row).1

-- | Return behind how many positions of all tours a row begins. **Work:** O(1).
#[inline]
def base_of (rows: rows) (row: i32) : i64 =
  let (a, i) = tour_and_instance rows row
  in a * cities rows + i64.i32 (bounds_of rows i).start
