-- | The 2-opt neighbourhood of a tour on a CPU along cyclic diagonals j = i + d: a move costs one distance, loops vectorise.

import "../core/metric"
import "../core/tour"

-- | The best move of position p with q = p + 2, …, p + n/2 (modulo n), the smallest q among equals, as one number: the gain,
-- then q counted downwards; none is not above 0.
def proposal_key (n: i64) (gain: i32) (q: i32) : i64 = (i64.i32 gain << 32) + (n - i64.i32 q)

-- | The move that position p proposes.
#[inline]
def proposed_move (n: i64) (p: i64) (key: i64) : move i32 =
  let gain = i32.i64 (key >> 32)
  let (p, q) = (i32.i64 p, i32.i64 (n - (key & 0xffffffff)))
  in if gain > 0 then {gain, i = i32.min p q, j = i32.max p q} else none

module mk_diagonals (M: metric) = {
  -- | A tour continued past its end to m <= 2 n positions, so that no walk has to wrap, and the edges that leave them.
  def continued [n] (data: M.data [n]) (tour: [n]M.point) (m: i64) : ([m]M.point, [m]i32) =
    let wrap = cyclic_64.wrap n
    let line = #[unsafe] map (\p -> tour[wrap p]) (iota m)
    in (line, #[unsafe] map (\p -> M.dist data line[wrap p] line[wrap p + 1]) (iota m))

  -- | The distances across diagonal d from the positions b, …, b + width.
  def across [n] [m] (data: M.data [n]) (line: [m]M.point) (width: i64) (b: i64) (d: i64) : [width + 1]i32 =
    #[unsafe] map (\p -> M.dist data line[b + p] line[b + p + d]) (iota (width + 1))

  -- | The gain of the move of positions b + p and b + p + d.
  def gain [m] [w] (succ: [m]i32) (b: i64) (d: i64) (across: [w]i32) (p: i64) : i32 =
    #[unsafe] succ[b + p] + succ[b + p + d] - across[p] - across[p + 1]

  -- | The best move, of equals the first: the largest gain of each diagonal, then the first move that has it. **Work:**
  -- O(n^2) distances. **Span:** O(n). **Memory:** O(n).
  def best [n] (data: M.data [n]) (tour: [n]M.point) : move i32 =
    let half = n / 2
    let (line, succ) = continued data tour (n + half + 1)
    let gains (d: i64) = map (gain succ 0 d (across data line n 0 d)) (iota n)
    let tops = map (\e -> i32.maximum (gains (e + 2))) (iota (i64.max 0 (half - 1)))
    let most = reduce i32.max 0 tops
    -- A pair of positions as one number, in lexicographic order.
    let order (d: i64) (p: i64) =
      let q = cyclic_64.wrap n (p + d)
      in i64.min p q * n + i64.max p q
    let first =
      loop first = i64.highest
      for e < half - 1 do
        if most == 0 || #[unsafe] tops[e] < most
        then first
        else let d = e + 2
             in reduce i64.min first (map2 (\g p -> if g == most then order d p else i64.highest) (gains d) (iota n))
    in if most == 0
       then {gain = 0, i = 0, j = 0}
       else {gain = most, i = i32.i64 (first / n), j = i32.i64 (first % n)}

  -- | The moves that all positions propose. **Work:** O(n^2). **Span:** O(n).
  def proposals [n] (data: M.data [n]) (tour: [n]M.point) : [n](move i32) =
    let half = n / 2
    let (line, succ) = continued data tour (n + half + 1)
    let keys =
      loop keys = replicate n 0i64
      for e < half - 1 do
        let d = e + 2
        let across = across data line n 0 d
        let key p = (i64.i32 (gain succ 0 d across p) << 32) + (n - cyclic_64.wrap n (p + d))
        in map2 (\k p -> i64.max k (key p)) keys (iota n)
    in map2 (proposed_move n) (iota n) keys
}
