-- | Cities that wait, each at most once, first in, first out.

import "../core/tour"

-- | The first one's place and the number of those that wait; a ring of places; and for each city whether it waits.
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
