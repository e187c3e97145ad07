-- | A tour that changes in place, as cities by position and positions by city, and a log of its reversals.

-- | The cities in order of their positions, then the positions of the cities.
type route [n] = [n + n]i32

-- | The route of a tour. **Work:** O(n).
def route_of [n] (tour: [n]i32) : *route [n] =
  loop r: *route [n] = replicate (n + n) 0
  for p < n do
    let c = #[unsafe] tour[p]
    let r = #[unsafe] r with [p] = c
    in #[unsafe] r with [n + i64.i32 c] = i32.i64 p

-- | The city at a position. **Work:** O(1).
#[inline]
def at [n] (r: route [n]) (p: i32) : i32 = #[unsafe] r[i64.i32 p]

-- | The position of a city. **Work:** O(1).
#[inline]
def position [n] (r: route [n]) (c: i32) : i32 = #[unsafe] r[n + i64.i32 c]

-- | A position that lies at most `n` before or after the tour's, as one of the tour's.
#[inline]
def wrap (n: i32) (p: i32) : i32 = if p >= n then p - n else if p < 0 then p + n else p

-- | The same without a branch, for a block's threads, which wait for each other at each.
#[inline]
def wrap_together (n: i32) (p: i32) : i32 =
  -- Seen without a sign what is negative is large.
  let lesser a b = i32.u32 (u32.min (u32.i32 a) (u32.i32 b))
  let q = lesser p (p + n)
  in lesser q (q - n)

-- | The reversals for which a log has room if moves are not chained.
def log_capacity : i32 = 100

-- | The number of reversals made; then for each of up to m its first position and number of cities.
type log [m] = [1 + m + m]i32

def empty_log (m: i64) : *log [m] = replicate (1 + m + m) 0

-- | The number of reversals in a log.
#[inline]
def logged [m] (l: log [m]) : i32 = #[unsafe] l[0]
