-- | A tour that changes in place, as cities by position and positions by city; a log of its reversals; cities that wait.

import "../core/tour"

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

-- | Cities that wait, each at most once, first in, first out: the first one's place and their number; a ring of places; and for each city whether it waits.
type queue [n] = [2 + n + n]i32

def empty_queue (n: i64) : *queue [n] = replicate (2 + n + n) 0

-- | The number of cities that wait.
#[inline]
def waiting [n] (q: queue [n]) : i32 = #[unsafe] q[1]

-- | Let a city wait, if it does not yet. **Work:** O(1).
def push [n] (q: *queue [n]) (c: i32) : *queue [n] =
  let count = waiting q
  let place = 2 + cyclic_64.wrap n (i64.i32 (q[0] + count))
  let there = #[unsafe] q[2 + n + i64.i32 c]
  let old = #[unsafe] q[place]
  let q = #[unsafe] q with [place] = if there == 1 then old else c
  let q = #[unsafe] q with [2 + n + i64.i32 c] = 1
  in q with [1] = count + 1 - there

-- | Take the first that waits; there must be one. **Work:** O(1).
def pop [n] (q: *queue [n]) : (*queue [n], i32) =
  let head = q[0]
  let c = #[unsafe] q[2 + i64.i32 head]
  let q = #[unsafe] q with [2 + n + i64.i32 c] = 0
  let q = q with [0] = cyclic.next (i32.i64 n) head
  let q = q with [1] = waiting q - 1
  in (q, c)

-- | Make an empty queue begin at its first place again, where memory is warm.
def rewind [n] (q: *queue [n]) : *queue [n] = q with [0] = 0

-- | The one that `i` others come out before, i less than how many wait. **Work:** O(1).
#[inline]
def peek [n] (q: queue [n]) (i: i32) : i32 =
  #[unsafe] q[2 + cyclic_64.wrap n (i64.i32 q[0] + i64.i32 i)]

-- | Let none wait. **Work:** O(w) for w that do.
def clear [n] (q: *queue [n]) : *queue [n] =
  loop q while waiting q > 0 do (pop q).0
