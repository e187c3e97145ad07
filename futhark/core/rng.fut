-- | Counter-based random numbers, functions of (seed, stream, step) only. The mixer is SplitMix64's finalizer (Steele,
-- Lea, Flood, OOPSLA 2014), as in `pytsp/problem/tours.py`.

module type rng = {
  -- | One stream of random numbers.
  type key

  -- | The stream number `stream` of `seed`. **Work:** O(1).
  val stream : (seed: u64) -> (stream: i64) -> key

  -- | The random word number `step` of a stream. **Work:** O(1).
  val word : key -> (step: i64) -> u64

  -- | A number in [0, bound) from word `step`, 0 < bound <= 2^31, each within 2^-32 of 1/bound. **Work:** O(1).
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
