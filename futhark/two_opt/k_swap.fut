-- | The k-swap climber of CPUs: up to k moves a pass (Robinson, Vrbsky, Hong, Eddy 2018, section 3.4).

import "../core/metric"
import "../core/positions"
import "../core/tour"
import "restarts"

-- | The best move of position p with q = p + 2, …, p + n/2 (modulo n), the smallest q among equals; 0 for none.
type proposal 'w = {gain: w, q: i32}

-- | A proposal as a move: positions in order.
def proposed 'w (p: i32) (proposal: proposal w) : move w =
  {gain = proposal.gain, i = i32.min p proposal.q, j = i32.max p proposal.q}

-- | Tell whether two moves touch a common stretch of the tour: then the lesser is invalid once the other has been made.
def overlap 'w (a: move w) (b: move w) : bool = a.i <= b.j && b.i <= a.j

module mk_k_swap_climber (M: metric) : climber with data [n] = M.data [n] = {
  module L = mk_length M
  type~ data [n] = M.data [n]

  -- The proposals of all edges along cyclic diagonals, as numbers: the gain, then q downwards.
  def proposals [n] (data: data [n]) (tour: [n]M.point) : [n](proposal i32) =
    let half = n / 2
    let wrap = cyclic_64.wrap n
    let m = n + half + 1
    let tour = #[unsafe] map (\p -> tour[wrap p]) (iota m)
    let succ = #[unsafe] map (\p -> M.dist data tour[wrap p] tour[wrap p + 1]) (iota m)
    let keys =
      loop keys = replicate n 0i64
      for e < half - 1 do
        let d = e + 2
        let across = #[unsafe] map (\p -> M.dist data tour[p] tour[p + d]) (iota (n + 1))
        let key (p: i64) =
          let gain = #[unsafe] succ[p] + succ[p + d] - across[p] - across[p + 1]
          in (i64.i32 gain << 32) + (n - wrap (p + d))
        in map2 (\k p -> i64.max k (key p)) keys (iota n)
    in map (\k ->
              let gain = i32.i64 (k >> 32)
              in if gain > 0
                 then {gain, q = i32.i64 (n - (k & 0xffffffff))}
                 else {gain = 0, q = 0})
           keys

  -- **Work:** O(n^2) a pass, and O(n) a move. **Span:** O(n + k log n) a pass.
  def climb [n] (data: data [n]) (k: i32) (limit: i32) (start: [n]i32) : state [n] =
    let (tour, steps, passes, done) =
      loop (tour, steps, passes, done) = (map (M.point data) start, 0, 0, false)
      while !done && passes < limit do
        let moves = map2 proposed (map i32.i64 (iota n)) (proposals data tour)
        let (tour, _, made, _) =
          loop (tour, moves, made, more) = (tour, moves, 0, true)
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
