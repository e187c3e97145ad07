-- | A tour that changes in place: cities by position and positions by city, the exchange of two edges by reversing the
-- shorter side, and a log of the reversals, so that a change can be taken back at the cost of making it.

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

-- | How many reversals a log holds.
def log_room : i32 = 100

-- | How many reversals were made; then of each the first position and how many cities.
type log = [201]i32

def empty_log () : *log = replicate 201 0

-- | How many reversals a log tells of.
#[inline]
def logged (l: log) : i32 = #[unsafe] l[0]

-- | Reverse `count` positions, from `first` on, past the end of the tour as well. **Work:** O(count).
def reverse [n] (r: *route [n]) (first: i32) (count: i32) : *route [n] =
  let n32 = i32.i64 n
  let swapped (r: *route [n]) (i: i32) (j: i32): *route [n] =
    let a = at r i
    let b = at r j
    let r = #[unsafe] r with [i64.i32 i] = b
    let r = #[unsafe] r with [i64.i32 j] = a
    let r = #[unsafe] r with [n + i64.i32 b] = i
    in #[unsafe] r with [n + i64.i32 a] = j
  let last = wrap n32 (first + count - 1)
  let (r, _, _) =
    loop (r, i, j) = (r, first, last)
    for _s < count / 2 do
      (swapped r i j, if i + 1 == n32 then 0 else i + 1, if j == 0 then n32 - 1 else j - 1)
  in r

-- | Exchange the edges (a, b) and (c, d) for (b, c) and (d, a), where b follows a as c follows d, or precedes it. The log must
-- have room. **Work:** O(s), where the shorter side has s cities.
def exchange [n] ((r, l): (*route [n], *log)) ((a, b, c, d): (i32, i32, i32, i32)) : (*route [n], *log) =
  let n32 = i32.i64 n
  let leaves (x: i32) (y: i32) =
    let p = position r x
    let q = position r y
    let low = i32.min p q
    let high = i32.max p q
    in if high - low == 1 then low else high
  let e = leaves a b
  let f = leaves c d
  let low = i32.min e f
  let high = i32.max e f
  let inner = high - low
  let (first, count) =
    if 2 * inner <= n32 then (low + 1, inner) else (wrap n32 (high + 1), n32 - inner)
  let r = reverse r first count
  let m = logged l
  let l = #[unsafe] l with [1 + 2 * i64.i32 m] = first
  let l = #[unsafe] l with [2 + 2 * i64.i32 m] = count
  in (r, #[unsafe] l with [0] = m + 1)

-- | Make the first `count` reversals of a log once more, or, `back`, take them back. **Work:** O(changed cities).
def replay [n] (r: *route [n]) (l: log) (count: i32) (back: bool) : *route [n] =
  loop r for s < count do
    let m = i64.i32 (if back then count - 1 - s else s)
    in #[unsafe] reverse r l[1 + 2 * m] l[2 + 2 * m]
