-- | Tours: random ones, the law of being one, positions and their cycle, and the 2-opt move as an index function.

import "rng"

-- | The random tour of a climber of `seed` (Fisher, Yates): position p draws number p. **Work, Span:** O(n).
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

-- | The position of each city. **Work:** O(n).
def positions [n] (tour: [n]i32) : *[n]i32 =
  scatter (replicate n 0) (map i64.i32 tour) (map i32.i64 (iota n))

-- | The positions of a closed tour of n cities.
module mk_cyclic (I: integral) = {
  -- | The position behind one.
  #[inline]
  def next (n: I.t) (p: I.t) : I.t = if p I.+ I.i32 1 I.== n then I.i32 0 else p I.+ I.i32 1

  -- | A position that is at most n too large, as one of the tour's.
  #[inline]
  def wrap (n: I.t) (p: I.t) : I.t = if p I.>= n then p I.- n else p
}

module cyclic = mk_cyclic i32
module cyclic_64 = mk_cyclic i64

-- | A 2-opt move: reversing positions i+1, …, j shortens the tour by `gain`; a gain of 0 stands for no move.
type move 'w = {gain: w, i: i32, j: i32}

-- | No move, which every other one is better than; it reverses nothing.
def none : move i32 = {gain = 0, i = i32.highest, j = i32.highest}

-- | The larger gain, then the smaller i, then the smaller j.
def better (a: move i32) (b: move i32) : move i32 =
  if a.gain > b.gain || (a.gain == b.gain && (a.i < b.i || (a.i == b.i && a.j <= b.j)))
  then a
  else b

-- | The position from which a position takes its city when positions i+1, …, j are reversed.
def reversal (i: i32) (j: i32) (p: i32) : i32 =
  if p > i && p <= j then i + 1 + j - p else p

-- | One of some tours.
def tour_at [c] [n] (tours: [c][n]i32) (place: i64) : [n]i32 =
  assert (place >= 0 && place < c) (copy tours[place])
