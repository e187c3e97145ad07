-- | Counter-based random numbers: a value is a function of (seed, stream, step), and of nothing else.
--
-- The mixer is the finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
-- OOPSLA 2014). `pytsp/problem/tours.py` states the same arithmetic in NumPy; the two agree bit for bit.

module type rng = {
  -- | One stream of random numbers.
  type key

  -- | The stream number `stream` of `seed`. **Work:** O(1).
  val stream : (seed: u64) -> (stream: i64) -> key

  -- | The random word number `step` of a stream. **Work:** O(1).
  val word : key -> (step: i64) -> u64

  -- | A whole number in [0, bound), from the random word number `step`, for 0 < bound <= 2^31. Each value has a
  -- probability within 2^-32 of 1/bound. **Work:** O(1).
  val below : key -> (step: i64) -> (bound: i32) -> i32
}

module rng : rng = {
  type key = u64

  def golden : u64 = 0x9e3779b97f4a7c15

  def mix (x: u64) : u64 =
    let x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
    let x = (x ^ (x >> 27)) * 0x94d049bb133111eb
    in x ^ (x >> 31)

  def stream (seed: u64) (stream: i64) : key =
    mix (mix (seed + golden) + u64.i64 stream * golden)

  def word (k: key) (step: i64) : u64 = mix (k + (u64.i64 step + 1) * golden)

  def below (k: key) (step: i64) (bound: i32) : i32 =
    i32.u64 (((word k step >> 32) * u64.i32 bound) >> 32)
}
