-- | Random restarts: climbers that go from random tours to their local optima by best-improvement 2-opt
-- (O'Neil, Tamir, Burtscher 2011; Utne, Hansen 2023).

import "metric"
import "tour"
import "two_opt"

-- | A range of climbers: where each stands, its length, the moves it has made, and whether it stands on its local
-- optimum.
type batch [c] [n] = {tours: [c][n]i32, lengths: [c]i64, steps: [c]i32, done: [c]bool}

-- | The place in the batch of the shortest tour, the first among equals. **Work:** O(c).
def best [c] [n] (batch: batch [c] [n]) : i64 =
  let shorter (l, c) (m, d) = if l < m || (l == m && c < d) then (l, c) else (m, d)
  in (reduce_comm shorter (i64.highest, i64.highest) (zip batch.lengths (iota c))).1

module mk_restarts (M: metric) (N: two_opt with data [n] = M.data [n] with point = M.point) = {
  -- | The length of a tour.
  def length [n] (data: M.data [n]) (tour: [n]M.point) : i64 =
    let next p = if p + 1 == n then 0 else p + 1
    in i64.sum (map (\p -> #[unsafe] i64.i32 (M.dist data tour[p] tour[next p])) (iota n))

  -- | The best move of a tour: its gain, i and j.
  def best_move [n] (data: M.data [n]) (tour: [n]i32) : [3]i32 =
    let move = N.best data (N.plan n) (map (M.point data) tour)
    in [move.gain, move.i, move.j]

  -- | Climb from a tour by at most `limit` moves: the tour reached, its length, the number of moves, and whether it is
  -- a local optimum.
  --
  -- **Work:** O(n^2) a move.
  def climb [n] (data: M.data [n]) (limit: i32) (start: [n]i32) : ([n]i32, i64, i32, bool) =
    let plan = N.plan n
    let (tour, steps, done) =
      loop (tour, steps, done) = (map (M.point data) start, 0, false)
      while !done && steps < limit do
        let move = N.best data plan tour
        let tour =
          map (\p -> #[unsafe] tour[i64.i32 (reversal move.i move.j (i32.i64 p))]) (iota n)
        let done = move.gain == 0
        in (tour, steps + i32.bool (!done), done)
    in (map M.city tour, length data tour, steps, done)

  -- | The climbers first, …, first + count - 1 of a seed, after at most `limit` moves each.
  def start [n] (data: M.data [n]) (seed: u64) (first: i64) (count: i64) (limit: i32) : batch [count] [n] =
    let (tours, lengths, steps, done) =
      unzip4 (map (\c -> climb data limit (random_tour n seed (first + c))) (iota count))
    in {tours, lengths, steps, done}

  -- | The same climbers after at most `limit` moves more.
  def continue [c] [n] (data: M.data [n]) (batch: batch [c] [n]) (limit: i32) : batch [c] [n] =
    let (tours, lengths, steps, done) =
      unzip4 (map2 (\tour done -> climb data (if done then 0 else limit) tour) batch.tours batch.done)
    in { tours
       , lengths
       , steps = map2 (+) batch.steps steps
       , done = map2 (||) batch.done done
       }
}
