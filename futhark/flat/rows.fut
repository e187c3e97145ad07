-- | Rows of any lengths that stand behind each other in one array; above all the cities of one instance in a tour of several,
-- each a tour of its own: row a b + i is that of instance i in tour a of b instances. Of one instance no table is read.

-- | Several values as one variable, for functions that are passed to `map` and capture many. The compiler makes one more
-- function for each variable and each field of a record that these capture, and fifty take it seconds. Values whose type
-- hides sizes (`rows`, `data`) must not be packed: then c and multicore compute wrongly.
type packed 't = #packed t

-- | Return a value as one variable. **Work:** O(1).
#[inline]
def pack 't (value: t) : packed t = #packed value

-- | Return the value again. **Work:** O(1).
#[inline]
def unpack 't (packed: packed t) : t = match packed case #packed value -> value

-- | The most elements that 32 bits number in the flattened crossover: each has two ends, and a sign stays free.
def most_elements : i64 = 1 << 30

def can_be_numbered (m: i64) = m >= 0 && m < most_elements

-- | Return the number of elements, or fail where 32 bits do not number their ends. **Work:** O(1).
def numbered (m: i64) : i64 = assert (can_be_numbered m) m

-- | Keep a map apart from a scan, histogram or scatter behind it: fused, it would run on few threads.
def kept_apart 't (x: t) : t = opaque x

-- | Return an element by its number in 32 bits, unchecked. **Work:** O(1).
#[inline]
def get [m] 't (xs: [m]t) (i: i32) : t = #[unsafe] xs[i64.i32 i]

-- | Count what is true up to each element, and list its places, ascending. **Work:** O(m). **Span:** O(log m).
#[noinline]
def count_true [m] (is: [m]bool) : ?[c].([m]i32, [c]i32) =
  let upto = scan (+) 0 (map i32.bool is)
  let c = if m == 0 then 0 else i64.i32 (#[unsafe] upto[m - 1])
  let slots = map2 (\f u -> if f then i64.i32 u - 1 else -1) is upto
  in (upto, scatter (replicate c 0i32) slots (map i32.i64 (iota m)))

-- | List the places of what is true, ascending. **Work:** O(m). **Span:** O(log m).
def where_true [m] (is: [m]bool) : []i32 = (count_true is).1

-- One copy of each histogram, in whatever place its result is used: a GPU's compiler takes long for each.
local
#[noinline]
def added [m] (c: i64) (to: [m]i64) (xs: [m]i32) : []i32 = hist (+) 0 c to xs

local
#[noinline]
def added_wide [m] (c: i64) (to: [m]i64) (xs: [m]i64) : []i64 = hist (+) 0 c to xs

local
#[noinline]
def largest [m] (c: i64) (to: [m]i64) (xs: [m]i64) : []i64 = hist i64.max i64.lowest c to xs

local
#[noinline]
def least [m] (c: i64) (to: [m]i64) (xs: [m]i32) : []i32 = hist i32.min i32.highest c to xs

-- | Return what goes to each of c places, added up; what goes to none has -1. **Work:** O(c + m).
def sums [m] (c: i64) (to: [m]i64) (xs: [m]i32) : [c]i32 = added c to xs :> [c]i32

-- | Return what goes to each of c places, added up; what goes to none has -1. **Work:** O(c + m).
def wide_sums [m] (c: i64) (to: [m]i64) (xs: [m]i64) : [c]i64 = added_wide c to xs :> [c]i64

-- | Return the largest of what goes to each of c places, `i64.lowest` where nothing does. **Work:** O(c + m).
def largest_of [m] (c: i64) (to: [m]i64) (xs: [m]i64) : [c]i64 = largest c to xs :> [c]i64

-- | Return the least of what goes to each of c places, `i32.highest` where nothing does. **Work:** O(c + m).
def least_of [m] (c: i64) (to: [m]i64) (xs: [m]i32) : [c]i32 = least c to xs :> [c]i32

-- | Return behind how many elements each row ends. **Work:** O(c). **Span:** O(log c).
#[noinline]
def ends_of [c] (sizes: [c]i32) : [c]i64 = scan (+) 0 (map i64.i32 sizes)

-- | Return how many elements rows with these ends have. **Work:** O(1).
def total_of [c] (ends: [c]i64) : i64 = if c == 0 then 0 else #[unsafe] ends[c - 1]

-- | Return a sum up to the element before one, of sums up to each. **Work:** O(1).
#[inline]
def before [m] 't (zero: t) (upto: [m]t) (x: i64) : t = if x == 0 then zero else #[unsafe] upto[x - 1]

-- | Return behind how many elements each row begins. **Work:** O(c). **Span:** O(1).
def starts_of [c] (sizes: [c]i32) (ends: [c]i64) : [c]i32 =
  map2 (\size end -> i32.i64 end - size) sizes ends

-- | Return the first row that ends behind element x, by a search in the kernel that asks. **Work:** O(log c).
def row_of [c] (ends: [c]i64) (x: i64) : i32 =
  let (row, _) =
    #[unsafe]
    loop (low, high) = (0i64, c)
    while low < high do
      let middle = (low + high) / 2
      in if ends[middle] <= x then (middle + 1, high) else (low, middle)
  in i32.i64 row

-- | Return the least r with 4^r >= m. **Work:** O(log m).
def log4_up (m: i64) : i64 = (loop (r, power) = (0i64, 1i64) while power < m do (r + 1, 4 * power)).0

-- The keys of four values, 32 bits each: how many have each value.
local type tally = (u64, u64)

-- Return how many have a value. **Work:** O(1).
local
def tallied ((low, high): tally) (digit: u32) : i64 =
  i64.u64 (((if digit < 2 then low else high) >> (32 * u64.u32 (digit & 1))) & 0xffffffff)

-- | Sort rows by keys of `bits` bits, equals as they are. **Work:** O(bits m). **Span:** O(bits log m).
def sort_rows [c] [m] (bits: i32) (starts: [c]i32) (sizes: [c]i32) (row: [m]i32) (keys: [m]u32) (values: [m]i32) : [m]i32 =
  let add ((a, b): tally) ((c, d): tally): tally = (a + c, b + d)
  let (_, _, values) =
    #[unsafe]
    loop (row, keys, values) for pass < (bits + 1) / 2 do
      let digit (k: u32) = (k >> u32.i32 (2 * pass)) & 3
      let one (k: u32): tally =
        let bit = 1u64 << (32 * u64.u32 (digit k & 1))
        in if digit k < 2 then (bit, 0) else (0, bit)
      let counts = scan add (0, 0) (map one keys)
      let upto (x: i64): tally = if x < 0 then (0, 0) else counts[x]
      let to (x: i64) (r: i32) (k: u32): i64 =
        let start = i64.i32 (get starts r)
        let (low, high) = upto (start - 1)
        let (low_end, high_end) = upto (start + i64.i32 (get sizes r) - 1)
        let less = loop sum = 0 for d < i32.u32 (digit k) do sum + tallied (low_end - low, high_end - high) (u32.i32 d)
        let (low_here, high_here) = counts[x]
        in start + less + tallied (low_here - low, high_here - high) (digit k) - 1
      let places = map3 to (iota m) row keys
      -- Rows stay where they are.
      in (row, scatter (replicate m 0u32) places keys, scatter (replicate m 0i32) places values)
  in values

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
