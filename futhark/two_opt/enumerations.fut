-- | The best 2-opt move of a tour, by three enumerations of the neighbourhood that agree to the last tie.
--
-- A tour of n cities has n (n - 3) / 2 moves: the pairs of positions i < j whose edges (i, i+1) and (j, j+1) share no
-- city. The best move has the largest gain; among equals the smallest i, then the smallest j.

import "../core/metric"
import "../core/tour"

module type two_opt = {
  type data [n]
  type point

  -- | What depends on the number of cities only; made once a climber.
  type~ plan

  val plan : (n: i64) -> plan

  -- | The best move of the tour, or a gain of 0 where none shortens it.
  val best [n] : data [n] -> plan -> (tour: [n]point) -> move i32
}

-- | The number of moves of a tour of n cities.
def moves (n: i64) : i64 = if n < 4 then 0 else n * (n - 3) / 2

-- | Move number k in lexicographic order, in whole numbers: exact for every n up to 2^31.
--
-- Row 0 holds n-3 moves, and so does row 1; from there each row holds one fewer, the last one a single move. Counted
-- from the end, rows begin at the triangular numbers u (u + 1) / 2; the floating-point root only guesses u.
def nth_move (n: i64) (k: i64) : (i64, i64) =
  let first = n - 3
  let r = moves n - 1 - k
  let guess = i64.f64 ((f64.sqrt (8 * f64.i64 r + 1) - 1) / 2)
  let u = if guess * (guess + 1) / 2 > r then guess - 1 else guess
  let u = if (u + 1) * (u + 2) / 2 <= r then u + 1 else u
  in if k < first
     then (0, k + 2)
     else (n - 3 - u, n - 1 - (r - u * (u + 1) / 2))

local
module numbered (M: metric) = {
  def best [n] (data: M.data [n]) (tour: [n]M.point) (pair: i64 -> (i32, i32)) : move i32 =
    let next (p: i64) = if p + 1 == n then 0 else p + 1
    let succ = map (\p -> M.dist data tour[p] tour[next p]) (iota n)
    let gain (k: i64) =
      let (i, j) = pair k
      let (i, j) = (i64.i32 i, i64.i32 j)
      in #[unsafe]
         succ[i]
         + succ[j]
         - M.dist data tour[i] tour[j]
         - M.dist data tour[i + 1] tour[next j]
    let better (g, k) (h, l) = if g > h || (g == h && k < l) then (g, k) else (h, l)
    let (g, k) =
      reduce_comm better (0, i64.highest) (map (\k -> (gain k, k)) (iota (moves n)))
    let (i, j) = if g > 0 then pair k else (0, 0)
    in {gain = g, i, j}
}

-- | The pairs stand in two arrays, made by a scan and a segmented scan over the rows' flags (Utne and Hansen 2023,
-- section 5.2.3).
--
-- **Work:** O(n^2) distances. **Span:** O(log n). **Memory:** O(n^2).
module flat (M: metric) : two_opt with data [n] = M.data [n] with point = M.point = {
  module N = numbered M
  type data [n] = M.data [n]
  type point = M.point
  type~ plan = ?[m].([m]i32, [m]i32)

  def plan (n: i64) : plan =
    let rows = i64.max 0 (n - 2)
    let width (i: i64) = if i == 0 then n - 3 else n - 2 - i
    let starts = scan (+) 0 (map (\i -> if i == 0 then 0 else width (i - 1)) (iota rows))
    let heads =
      scatter (replicate (moves n) false) starts (replicate rows true)
    let is = scan (+) 0 (map i32.bool heads)
    let steps =
      scan (\(a, f) (b, g) -> (if g then b else a + b, f || g))
           (0, false)
           (zip (replicate (moves n) 1) heads)
    in (map (\i -> i - 1) is, map2 (\i (s, _) -> i + s) is steps)

  def best [n] (data: data [n]) ((is, js): plan) (tour: [n]point) : move i32 =
    N.best data tour (\k -> #[unsafe] (is[k], js[k]))
}

-- | The pair is computed from its number, in whole numbers.
--
-- **Work:** O(n^2) distances. **Span:** O(log n). **Memory:** O(n).
module closed_form (M: metric)
  : two_opt with data [n] = M.data [n] with point = M.point = {
  module N = numbered M
  type data [n] = M.data [n]
  type point = M.point
  type~ plan = ()

  def plan _ = ()

  def best [n] (data: data [n]) _ (tour: [n]point) : move i32 =
    N.best data tour (\k -> let (i, j) = nth_move n k in (i32.i64 i, i32.i64 j))
}

-- | The pairs are walked along the cyclic diagonals j = i + d, d = 2, …, n/2: neighbours on a diagonal share a
-- distance, so a move costs one, and every loop runs over consecutive memory, which compilers vectorise.
--
-- The first pass finds each diagonal's largest gain; the second looks for the first move in lexicographic order on those
-- diagonals that reach the best.
--
-- **Work:** O(n^2) distances. **Span:** O(n). **Memory:** O(n).
module diagonals (M: metric)
  : two_opt with data [n] = M.data [n] with point = M.point = {
  type data [n] = M.data [n]
  type point = M.point
  type~ plan = ()

  def plan _ = ()

  def best [n] (data: data [n]) _ (tour: [n]point) : move i32 =
    let half = n / 2
    let wrap (p: i64) = if p < n then p else p - n
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
