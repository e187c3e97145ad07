-- | The best 2-opt move of a tour, by enumerations that agree: the largest gain, then the smallest i, then j.

import "../core/metric"
import "../core/tour"
import "../flat/two_opt"
import "pairs"

module type two_opt = {
  type~ data [n]
  type point

  -- | Data that depend on the number of cities only, made once a run.
  val pairs : (n: i64) -> ?[m][w].pairs [m] [w]

  -- | The best move of the tour, or a gain of 0 where none shortens it.
  val best [n] [m] [w] : data [n] -> pairs [m] [w] -> (tour: [n]point) -> move i32
}

-- | One map and one reduction, by another enumeration than `flat/two_opt.fut`. **Work:** O(n^2). **Span:** O(log n).
module numbered (M: metric) (E: enumeration)
  : two_opt with data [n] = M.data [n] with point = M.point = {
  type~ data [n] = M.data [n]
  type point = M.point

  def pairs = E.pairs

  def best [n] [m] [w] (data: data [n]) (pairs: pairs [m] [w]) (tour: [n]point) : move i32 =
    let next = cyclic_64.next n
    let succ = map (\p -> M.dist data tour[p] tour[next p]) (iota n)
    let gain (k: i64) =
      let (i, j) = E.pair pairs n k
      let (i, j) = (i64.i32 i, i64.i32 j)
      in #[unsafe]
         succ[i]
         + succ[j]
         - M.dist data tour[i] tour[j]
         - M.dist data tour[i + 1] tour[next j]
    let better (g, k) (h, l) = if g > h || (g == h && k < l) then (g, k) else (h, l)
    let (g, k) =
      reduce_comm better (0, i64.highest) (map (\k -> (gain k, k)) (iota (moves n)))
    let (i, j) = if g > 0 then E.pair pairs n k else (0, 0)
    in {gain = g, i, j}
}

-- | The pairs along cyclic diagonals j = i + d, where a move costs one distance and loops vectorise: the largest gain
-- of each diagonal, then the first move that has it. **Work:** O(n^2) distances. **Span:** O(n). **Memory:** O(n).
module diagonals (M: metric)
  : two_opt with data [n] = M.data [n] with point = M.point = {
  type~ data [n] = M.data [n]
  type point = M.point

  def pairs _ = no_pairs by_diagonals

  def best [n] [m] [w] (data: data [n]) (_: pairs [m] [w]) (tour: [n]point) : move i32 =
    let half = n / 2
    let wrap = cyclic_64.wrap n
    -- Continued past its end, so that no walk has to wrap.
    let m = n + half + 1
    let tour = #[unsafe] map (\p -> tour[wrap p]) (iota m)
    let succ =
      #[unsafe] map (\p -> M.dist data tour[wrap p] tour[wrap p + 1]) (iota m)
    let across (d: i64) = #[unsafe] map (\p -> M.dist data tour[p] tour[p + d]) (iota (n + 1))
    let gain (d: i64) (across: [n + 1]i32) (p: i64): i32 = #[unsafe] succ[p] + succ[p + d] - across[p] - across[p + 1]
    let top (d: i64) =
      let across = across d
      in i32.maximum (map (gain d across) (iota n))
    let tops = map (\e -> top (e + 2)) (iota (i64.max 0 (half - 1)))
    let most = reduce i32.max 0 tops
    -- A pair of positions as one number, in lexicographic order.
    let order (d: i64) (p: i64) =
      let q = wrap (p + d)
      in i64.min p q * n + i64.max p q
    let first =
      loop first = i64.highest
      for e < half - 1 do
        if most == 0 || #[unsafe] tops[e] < most
        then first
        else let d = e + 2
             let across = across d
             in reduce i64.min
                       first
                       (map (\p -> if gain d across p == most then order d p else i64.highest)
                            (iota n))
    in if most == 0
       then {gain = 0, i = 0, j = 0}
       else {gain = most, i = i32.i64 (first / n), j = i32.i64 (first % n)}
}
