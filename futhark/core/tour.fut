-- | Tours: random ones, the law of being one, and the 2-opt move as an index function.

import "rng"

-- | The uniformly random tour of climber number `climber` of `seed`: Fisher and Yates' shuffle, from the end, whose
-- draw for position p is the climber's random number p.
--
-- **Work:** O(n). **Span:** O(n).
def random_tour (n: i64) (seed: u64) (climber: i64) : *[n]i32 =
  let key = rng.stream seed climber
  in loop tour = map i32.i64 (iota n)
     for k < n - 1 do
       let p = n - 1 - k
       let q = i64.i32 (rng.below key p (i32.i64 p + 1))
       let a = #[unsafe] tour[p]
       let b = #[unsafe] tour[q]
       let tour = #[unsafe] tour with [p] = b
       in #[unsafe] tour with [q] = a

-- | Tell whether each of the cities 0, …, n-1 occurs once. **Work:** O(n). **Span:** O(log n).
def is_tour [n] (tour: [n]i32) : bool =
  let seen = scatter (replicate n false) (map i64.i32 tour) (replicate n true)
  in and seen

-- | A 2-opt move: the edges that leave positions i and j are exchanged for (i, j) and (i+1, j+1), which reverses
-- positions i+1, …, j; the tour becomes shorter by `gain`. A gain of 0 stands for no move.
type move 'w = {gain: w, i: i32, j: i32}

-- | Which position a position takes its city from when positions i+1, …, j are reversed.
def reversal (i: i32) (j: i32) (p: i32) : i32 =
  if p > i && p <= j then i + 1 + j - p else p

-- | One of some tours.
def tour_at [c] [n] (tours: [c][n]i32) (place: i64) : [n]i32 =
  assert (place >= 0 && place < c) (copy tours[place])
