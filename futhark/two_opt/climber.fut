-- | The climber of the CPU backends: best-improvement 2-opt, one move after the other.

import "../core/metric"
import "../core/positions"
import "../core/tour"
import "enumerations"
import "pairs"
import "restarts"

module mk_climber (M: metric) (N: two_opt with data [n] = M.data [n] with point = M.point)
  : {
      include climber with data [n] = M.data [n]

      -- | The best move of a tour: its gain, i and j.
      val best_move [n] : M.data [n] -> (tour: [n]i32) -> [3]i32

      -- | `climb` with pairs that are known, one move a pass.
      val climb_by [n] [m] [w] : M.data [n] -> pairs [m] [w] -> (limit: i32) -> (start: [n]i32) -> state [n]
    } = {
  module L = mk_length M
  type~ data [n] = M.data [n]

  def best_move [n] (data: M.data [n]) (tour: [n]i32) : [3]i32 =
    let move = N.best data (N.pairs n) (map (M.point data) tour)
    in [move.gain, move.i, move.j]

  -- **Work:** O(n^2) a pass.
  def climb_by [n] [m] [w] (data: M.data [n]) (pairs: pairs [m] [w]) (limit: i32) (start: [n]i32) : state [n] =
    let (tour, passes, done) =
      loop (tour, passes, done) = (map (M.point data) start, 0, false)
      while !done && passes < limit do
        let move = N.best data pairs tour
        let tour =
          map (\p -> #[unsafe] tour[i64.i32 (reversal move.i move.j (i32.i64 p))]) (iota n)
        in (tour, passes + 1, move.gain == 0)
    in { tour = map M.city tour
       , length = L.line_length data tour
       , steps = passes - i32.bool done
       , passes
       , done
       }

  -- One move a pass, whatever k is.
  def climb [n] (data: M.data [n]) (_: i32) (limit: i32) (start: [n]i32) : state [n] =
    climb_by data (N.pairs n) limit start
}
