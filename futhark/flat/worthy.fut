-- | Choice of children by the diversity that they cost, as Nagata and Kobayashi's: the entropy of the edges of all
-- tours, a whole number, so that all backends agree.

import "exchange"
import "rows"

-- | The number of tours, and of those with each edge, at its larger city in the smaller one's list, or vice versa.
type counts [n] [k] = {tours: i64, count: [n * k]i32}

-- The place of an edge in the counts, -1 where no list has it. **Work:** O(k).
local
def place_of [n] [k] (lists: [n][k]i32) (u: i32) (v: i32) : i64 =
  let find (u: i32) (v: i32): i64 =
    #[unsafe]
    let u = i64.i32 u
    let j = loop j = 0i64 while j < k && lists[u, j] != v do j + 1
    in if j < k then u * k + j else -1
  let (low, high) = (i32.min u v, i32.max u v)
  let at = find low high
  in if at >= 0 then at else find high low

-- | Count the edges of tours. **Work:** O(p n k). **Span:** O(k + log p).
#[noinline]
def edge_counts [p] [n] [k] (rows: rows) (lists: [n][k]i32) (tours: [p][n]i32) : counts [n] [k] =
  #[unsafe]
  let place (x: i64) =
    let (a, q) = (x / n, x % n)
    in place_of lists tours[a, q] tours[a, i64.i32 (stepped rows (i32.i64 q) 1)]
  let places = kept_apart (map place (iota (p * n)))
  in {tours = p, count = sums (n * k) places (replicate (p * n) 1i32)}

-- | The bits of a fraction in which entropy is measured.
def fraction : i64 = 20

-- | Return the logarithm of x >= 1 to base 2 in `fraction` bits, at most two units of the last one too low. **Work:** O(fraction).
def log2 (x: i64) : i64 =
  let whole = 63 - i64.i32 (i64.clz x)
  let (log, _) =
    loop (log, m) = (whole << fraction, u64.i64 x << u64.i64 (31 - whole))
    for bit < fraction do
      let square = m * m >> 31
      let doubles = square >> 32 > 0
      -- A bit at its place: of a sum that is doubled LLVM makes a funnel shift, which not every OpenCL has.
      in (log + (i64.bool doubles << (fraction - 1 - bit)), if doubles then square >> 1 else square)
  in log

-- | Return the share of an edge in the entropy where f of p tours have it: -f/p log2 (f/p), in `fraction` bits. **Work:** O(1).
def entropy (p: i64) (f: i64) : i64 =
  let f = i64.min p f
  in if f <= 0 then 0 else f * (log2 p - log2 f) / p

-- | Return twice the entropy of exchanges; unlisted edges count once. **Work:** O(c + m k). **Span:** O(k + log m).
#[noinline]
def entropy_lost [p] [n] [k] [c] [m] (rows: rows) (lists: [n][k]i32) (tours: [p][n]i32) ({tours = all, count}: counts [n] [k]) (e: exchanges [c] [m]) : [c]i64 =
  #[unsafe]
  let having (u: i32) (v: i32): i64 =
    let at = place_of lists u v
    in if at < 0 then 1 else i64.i32 count[at]
  let lost (r: i64): i64 =
    let a = tour_of rows (get e.row e.own[r])
    let city (end: i32) = get tours[a] (position_of rows e end)
    let (u, v) = (city (2 * i32.i64 r), city (2 * i32.i64 r + 1))
    let f = having u v
    let gone = entropy all f - entropy all (f - 1)
    let come (x: i32) (end: i32) =
      let g = having x (city end)
      in entropy all (g + 1) - entropy all g
    in 2 * gone - come u e.link[r].0 - come v e.link[r].1
  in wide_sums c (map i64.i32 e.own) (map lost (iota m))

-- | Choose exchanges that save at least `thrift` hundredths of their row's average for the entropy that they cost, and
-- those that cost none. **Work:** O(r + c). **Span:** O(log c).
def worthy [c] [m] (r: i64) (thrift: i32) (e: exchanges [c] [m]) (lost: [c]i64) : [c]bool =
  let at = map i64.i32 e.row
  let gains = wide_sums r at e.gain
  let losses = wide_sums r at (map (i64.max 0) lost)
  -- Products of up to 2^80; each is rounded alike on all backends.
  let is_worth (row: i32) (gain: i64) (lost: i64) =
    let mine = 100 * f64.i64 gain * f64.i64 (get losses row)
    in lost <= 0 || mine >= f64.i32 thrift * f64.i64 (get gains row) * f64.i64 lost
  in map3 is_worth e.row e.gain lost
