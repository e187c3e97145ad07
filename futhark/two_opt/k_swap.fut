-- | The k-swap climber of CPUs: up to k moves a pass (Robinson, Vrbsky, Hong, Eddy 2018, section 3.4).

import "../core/metric"
import "../core/tour"
import "diagonals"
import "restarts"

-- | Tell whether two moves touch a common stretch of the tour: then the lesser is invalid once the other has been made.
def overlap 'w (a: move w) (b: move w) : bool = a.i <= b.j && b.i <= a.j

module mk_k_swap_climber (M: metric) : climber with data [n] = M.data [n] = {
  module D = mk_diagonals M
  module L = mk_length M
  type~ data [n] = M.data [n]

  -- **Work:** O(n^2) a pass, and O(n) a move. **Span:** O(n + k log n) a pass.
  def climb [n] (data: data [n]) (k: i32) (limit: i32) (start: [n]i32) : state [n] =
    let (tour, steps, passes, done) =
      loop (tour, steps, passes, done) = (map (M.point data) start, 0, 0, false)
      while !done && passes < limit do
        let (tour, _, made, _) =
          loop (tour, moves, made, more) = (tour, D.proposals data tour, 0, true)
          while more && made < k do
            let move = reduce_comm better none moves
            let more = move.gain > 0
            let (i, j) = if more then (move.i, move.j) else (0, 0)
            in ( map (\p -> #[unsafe] tour[i64.i32 (reversal i j (i32.i64 p))]) (iota n)
               , map (\m -> if overlap m move then none else m) moves
               , made + i32.bool more
               , more
               )
        in (tour, steps + made, passes + 1, made == 0)
    in {tour = map M.city tour, length = L.line_length data tour, steps, passes, done}
}
