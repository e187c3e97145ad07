-- | The descent of one tour over the complete 2-opt neighbourhood (Rocki and Suda 2013), by one move a pass or many.

import "../core/instances"
import "../core/tour"
import "diagonals"
import "disjoint"
import "restarts"

-- | A tour, what it has become shorter by, moves and passes, and whether the last pass found none; the best move or the
-- proposals of a pass under way.
type descent [n] =
  {tour: [n]i32, gained: i64, moves: i64, passes: i64, done: bool, best: move i32, keys: [n]i64}

-- | The last diagonal of a tour of n cities, and one: the moves of position p are those with p + 2, …, p + n/2.
def diagonals_end (n: i64) : i64 = n / 2 + 1

def are_diagonals (n: i64) (from: i64) (to: i64) = from >= 2 && from <= to && to <= i64.max 2 (diagonals_end n)

-- | The best move of the last pass, and the number of passes; behind one without a move they are idle. It is an array
-- of one, which a GPU hands from kernel to kernel.
type finding = [1](i32, i32, i32, i32)

-- | Nothing is known of a tour, or that it is done.
def unsearched (done: bool) : finding = [(i32.bool (!done), none.i, none.j, 0)]

-- | The best move and the number of passes, read by thread t: computed for all, it would be a kernel of its own.
def seen_by (t: i64) (found: finding) : (move i32, i32) =
  let (gain, i, j, passes) = #[unsafe] found[i64.min t 0]
  in ({gain, i, j}, passes)

-- | The descent from a tour.
def given_descent [n] (tour: [n]i32) : descent [n] =
  let tour = assert (fits_32_bits n && is_tour tour) tour
  in {tour, gained = 0, moves = 0, passes = 0, done = false, best = none, keys = replicate n 0}

-- | By how much a tour has become shorter, its moves, its passes, and 1 where it is done.
def counts_of [n] (state: descent [n]) : [4]i64 =
  [state.gained, state.moves, state.passes, i64.bool state.done]

-- | An evaluation of the neighbourhood, by diagonals: the moves of positions p and q = p + d (modulo n), from <= d < to.
module type scanner = {
  type~ data [n]

  -- | A tour, and what the evaluation needs of it in its order.
  type line [n]

  val lay [n] : data [n] -> (tour: [n]i32) -> line [n]

  -- | Make the best move, or none. **Work:** O(n).
  val make_move [n] : data [n] -> line [n] -> finding -> line [n]

  val tour [n] : line [n] -> [n]i32

  -- | **Work:** O(n).
  val length [n] : data [n] -> line [n] -> i64

  -- | The best move, or `none`. **Work:** O(n (to - from)), or O(1) where the last pass found none.
  val best [n] : data [n] -> line [n] -> (last: finding) -> (from: i64) -> (to: i64) -> finding

  -- | The proposals of all positions. **Work:** O(n (to - from)).
  val keys [n] : data [n] -> line [n] -> (from: i64) -> (to: i64) -> [n]i64
}

-- | Make the moves that a whole pass has found, at most `k`. **Work:** O(n), or with k > 1 O(n log n) a round.
def turn [n] (k: i32) (state: descent [n]) : descent [n] =
  let k = assert (are_limits k 0) k
  let from (src: [n]i32) = map (\p -> #[unsafe] state.tour[i64.i32 p]) src
  let after (tour: [n]i32) (gained: i64) (made: i64): descent [n] =
    { tour
    , gained = state.gained + gained
    , moves = state.moves + made
    , passes = state.passes + 1
    , done = made == 0
    , best = none
    , keys = replicate n 0
    }
  in if k == 1
     then let {gain, i, j} = state.best
          in after (from (map (\p -> reversal i j (i32.i64 p)) (iota n))) (i64.i32 gain) (i64.bool (gain > 0))
     else let (ends, gains) = disjoint k (map2 (proposed_move n) (iota n) state.keys)
          -- One reduction: see `gpu_metric.extremes`.
          let (gained, made) =
            map2 (\gain end -> (i64.i32 gain, i64.bool (end >= 0))) gains ends
            |> reduce_comm (\(a, b) (c, d) -> (a + c, b + d)) (0, 0)
          in after (from (reversals ends)) gained made

module mk_descent (S: scanner) = {
  -- | Diagonals `from`, …, `to` - 1 of a pass: the best move if k = 1, else proposals. **Work:** O(n (to - from)).
  def scan [n] (data: S.data [n]) (state: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] =
    let k = assert (are_limits k 0 && are_diagonals n from to) k
    let line = S.lay data state.tour
    in if k == 1
       then state with best = better state.best (seen_by 0 (S.best data line (unsearched false) from to)).0
       else state with keys = map2 i64.max state.keys (S.keys data line from to)

  -- | At most `limit` whole passes of one move, two kernels each, without waiting for the host; a tour that is done
  -- makes idle passes. **Work:** O(n^2) a pass. **Memory:** O(n).
  def descend [n] (data: S.data [n]) (state: descent [n]) (limit: i32) : descent [n] =
    let limit = assert (are_limits 1 limit) limit
    let start = S.lay data state.tour
    let (line, found) =
      loop (line, found) = (start, unsearched state.done)
      for _i < limit do
        let found = S.best data line found 2 (diagonals_end n)
        in (S.make_move data line found, found)
    let (best, passes) = seen_by 0 found
    let done = limit > 0 && best.gain <= 0 || state.done
    in state with tour = S.tour line
             with gained = state.gained + S.length data start - S.length data line
             with moves = state.moves + i64.i32 passes - i64.bool (done && !state.done)
             with passes = state.passes + i64.i32 passes
             with done = done
}
