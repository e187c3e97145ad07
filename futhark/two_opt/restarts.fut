-- | Random restarts: climbers from random tours to local optima (O'Neil, Tamir, Burtscher 2011; Utne, Hansen 2023).

import "../core/instances"
import "../core/schedule"
import "../core/tour"

-- | A climber's tour and its length, moves, passes over the neighbourhood, and whether the last one found none.
type state [n] = {tour: [n]i32, length: i64, steps: i32, passes: i32, done: bool}

-- | Many climbers, the same in columns.
type batch [c] [n] = {tours: [c][n]i32, lengths: [c]i64, steps: [c]i32, passes: [c]i32, done: [c]bool}

def are_limits (k: i32) (limit: i32) = k >= 1 && limit >= 0

-- | Climbers on given tours, whose lengths are known once they have climbed.
def batch_on [c] [n] (tours: [c][n]i32) : batch [c] [n] =
  { tours
  , lengths = replicate c 0
  , steps = replicate c 0
  , passes = replicate c 0
  , done = replicate c false
  }

-- | The climbers first, …, first + count - 1 of a seed, on their random tours.
def random_batch (n: i64) (seed: u64) (first: i64) (count: i64) : batch [count] [n] =
  assert (fits_32_bits n && are_climbers first count) (batch_on (map (\c -> random_tour n seed (first + c)) (iota count)))

-- | A climber's way from a tour to its local optimum.
module type climber = {
  type~ data [n]

  -- | Climb from a tour, by at most `limit` passes over the neighbourhood and at most `k` moves a pass.
  val climb [n] : data [n] -> (k: i32) -> (limit: i32) -> (start: [n]i32) -> state [n]
}

module mk_batches (S: schedule) = {
  -- | The climbers of a batch, each after at most `limit` passes more by `climb`.
  def on [c] [n] (climb: (limit: i32) -> (start: [n]i32) -> state [n]) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    let on (tour, done) =
      let state = climb (if done then 0 else limit) tour
      in (state.tour, state.length, state.steps, state.passes, state.done)
    let (tours, lengths, steps, passes, done) = unzip5 (S.over on (zip batch.tours batch.done))
    in { tours
       , lengths
       , steps = map2 (+) batch.steps steps
       , passes = map2 (+) batch.passes passes
       , done = map2 (||) batch.done done
       }
}

module mk_restarts (C: climber) (S: schedule) = {
  module B = mk_batches S

  -- | The climbers of a batch, after at most `limit` passes more.
  def climb [c] [n] (data: C.data [n]) (k: i32) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    B.on (C.climb data k) limit batch
}
