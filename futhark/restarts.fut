-- | Random restarts: climbers that go from random tours to their local optima
-- (O'Neil, Tamir, Burtscher 2011; Utne, Hansen 2023).

import "tour"

-- | A range of climbers: where each stands, its length, the moves it has made, and whether it stands on its local
-- optimum.
type batch [c] [n] = {tours: [c][n]i32, lengths: [c]i64, steps: [c]i32, done: [c]bool}

-- | The place in the batch of the shortest tour, the first among equals. **Work:** O(c).
def best [c] [n] (batch: batch [c] [n]) : i64 =
  let shorter (l, c) (m, d) = if l < m || (l == m && c < d) then (l, c) else (m, d)
  in (reduce_comm shorter (i64.highest, i64.highest) (zip batch.lengths (iota c))).1

-- | A climber's way from a tour to its local optimum.
module type climber = {
  type data [n]

  -- | Climb from a tour by at most `limit` moves: the tour reached, its length, the number of moves, and whether it is a
  -- local optimum.
  val climb [n] : data [n] -> (limit: i32) -> (start: [n]i32) -> ([n]i32, i64, i32, bool)
}

-- | How climbers are laid out on the machine: a `map`, with the attribute that says so.
module type layout = {
  val over 'a 'b [c] : (a -> b) -> [c]a -> [c]b
}

-- | As the compiler chooses.
module anyhow : layout = {
  def over f xs = map f xs
}

module mk_restarts (C: climber) (L: layout) = {
  -- | The climbers first, …, first + count - 1 of a seed, after at most `limit` moves each.
  def start [n] (data: C.data [n]) (seed: u64) (first: i64) (count: i64) (limit: i32) : batch [count] [n] =
    let starts = opaque (map (\c -> random_tour n seed (first + c)) (iota count))
    let (tours, lengths, steps, done) = unzip4 (L.over (C.climb data limit) starts)
    in {tours, lengths, steps, done}

  -- | The same climbers after at most `limit` moves more.
  def continue [c] [n] (data: C.data [n]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
    let (tours, lengths, steps, done) =
      unzip4 (L.over (\(tour, done) -> C.climb data (if done then 0 else limit) tour)
                     (zip batch.tours batch.done))
    in { tours
       , lengths
       , steps = map2 (+) batch.steps steps
       , done = map2 (||) batch.done done
       }
}
