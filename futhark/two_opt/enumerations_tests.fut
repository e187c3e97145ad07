-- | Tests of `two_opt`: the three enumerations against plain loops and each other, and move numbers.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "enumerations"

module flat_matrix = flat matrix
module closed_form_matrix = closed_form matrix
module diagonals_matrix = diagonals matrix
module flat_grid = flat grid
module closed_form_grid = closed_form grid
module diagonals_grid = diagonals grid

-- Symmetric distances below `bound`.
def random_matrix (n: i64) (bound: i32) (seed: u64) : [n][n]i32 =
  let k = rng.stream seed 0
  in tabulate_2d n n (\a b -> if a == b then 0 else rng.below k (i64.min a b * n + i64.max a b) bound)

-- Cities on a square grid of side `bound`.
def random_grid (n: i64) (bound: i32) (seed: u64) : ([n]i32, [n]i32) =
  let k = rng.stream seed 1
  in (tabulate n (\c -> rng.below k c bound), tabulate n (\c -> rng.below k (c + n) bound))

-- The best move by two loops over positions.
module naive (M: metric) = {
  def best [n] (data: M.data [n]) (tour: [n]i32) : move i32 =
    let at p = M.point data tour[p % n]
    let d p q = M.dist data (at p) (at q)
    in loop best = {gain = 0, i = 0, j = 0}
       for i < n do
         loop best
         for j < n do
           let is_move = j >= i + 2 && j - i <= n - 2
           let gain = if is_move then d i (i + 1) + d j (j + 1) - d i j - d (i + 1) (j + 1) else 0
           in if gain > best.gain then {gain, i = i32.i64 i, j = i32.i64 j} else best
}

module naive_matrix = naive matrix
module naive_grid = naive grid

-- All three find the move that the loops find, on matrices: with many ties, with few, with none but zeros.
-- ==
-- entry: matrix_agrees
-- input { 1i64 24i64 1i32 } output { true }
-- input { 1i64 24i64 2i32 } output { true }
-- input { 1i64 24i64 5i32 } output { true }
-- input { 1i64 24i64 1000000i32 } output { true }
-- input { 1i64 24i64 1073741823i32 } output { true }
-- input { 99i64 101i64 30i32 } output { true }
entry matrix_agrees (least: i64) (most: i64) (bound: i32) : bool =
  loop ok = true
  for n in least..<most + 1 do
    ok
    && all (\s ->
              let data = random_matrix n bound (u64.i64 s)
              let tour = random_tour n 11 s
              let points = map (matrix.point data) tour
              let best = naive_matrix.best data tour
              in flat_matrix.best data (flat_matrix.plan n) points == best
                 && closed_form_matrix.best data (closed_form_matrix.plan n) points == best
                 && diagonals_matrix.best data (diagonals_matrix.plan n) points == best)
           (iota 8)

-- The same on points, of which many are equal where the grid is small.
-- ==
-- entry: grid_agrees
-- input { 1i64 24i64 1i32 } output { true }
-- input { 1i64 24i64 2i32 } output { true }
-- input { 1i64 24i64 4i32 } output { true }
-- input { 1i64 24i64 32527i32 } output { true }
-- input { 99i64 101i64 10i32 } output { true }
entry grid_agrees (least: i64) (most: i64) (bound: i32) : bool =
  loop ok = true
  for n in least..<most + 1 do
    ok
    && all (\s ->
              let data = random_grid n bound (u64.i64 s)
              let tour = random_tour n 12 s
              let points = map (grid.point data) tour
              let best = naive_grid.best data tour
              in flat_grid.best data (flat_grid.plan n) points == best
                 && closed_form_grid.best data (closed_form_grid.plan n) points == best
                 && diagonals_grid.best data (diagonals_grid.plan n) points == best)
           (iota 8)

-- A tour with no move, one move to be made of two, and a tie that the smaller i decides.
-- ==
-- entry: best_of_square
-- input { [0i32, 1i32, 2i32, 3i32] } output { [0i32, 0i32, 0i32] }
-- input { [0i32, 2i32, 1i32, 3i32] } output { [8i32, 0i32, 2i32] }
-- input { [0i32, 1i32, 3i32, 2i32] } output { [8i32, 1i32, 3i32] }
entry best_of_square (tour: [4]i32) : [3]i32 =
  let data = ([0, 0, 10, 10], [0, 10, 10, 0])
  let move = diagonals_grid.best data (diagonals_grid.plan 4) (map (grid.point data) tour)
  in [move.gain, move.i, move.j]

-- ==
-- entry: number_of_moves
-- input { [0i64, 1i64, 2i64, 3i64, 4i64, 5i64, 6i64, 1000000i64] }
-- output { [0i64, 0i64, 0i64, 0i64, 2i64, 5i64, 9i64, 499998500000i64] }
entry number_of_moves (ns: []i64) : []i64 = map moves ns

-- The number of a move, from its row: what `nth_move` inverts.
def number (n: i64) ((i, j): (i64, i64)) : i64 =
  if i == 0 then j - 2 else n - 3 + (i - 1) * (n - 3) - (i - 1) * (i - 2) / 2 + j - i - 2

def is_move (n: i64) ((i, j): (i64, i64)) : bool = i >= 0 && j >= i + 2 && j < n && j - i <= n - 2

def holds (n: i64) (k: i64) : bool =
  let move = nth_move n k
  in is_move n move && number n move == k

-- Every move of every small tour, in order.
-- ==
-- entry: nth_move_counts_all
-- input { 4i64 120i64 } output { true }
-- input { 2049i64 2053i64 } output { true }
entry nth_move_counts_all (least: i64) (most: i64) : bool =
  loop ok = true
  for n in least..<most + 1 do
    ok && all (holds n) (iota (moves n))

-- The first, second and last move of every row, where roots are hardest, and moves between at random.
-- ==
-- entry: nth_move_of_rows
-- input { 10003i64 } output { true }
-- input { 1000000i64 } output { true }
-- input { 2147483647i64 } output { true }
entry nth_move_of_rows (n: i64) : bool =
  let rows = i64.min (n - 3) 1000000
  let k = rng.stream 1 0
  let ends i = [number n (i, i + 2), number n (i, i + 2) + 1, number n (i + 1, i + 3) - 1]
  in all (\i -> all (holds n) (ends i) && all (holds n) (ends (n - 4 - i))) (1..<rows)
     && all (holds n) [0, n - 4, n - 3, moves n - 1]
     && all (\s -> holds n (i64.u64 (rng.word k s % u64.i64 (moves n)))) (iota 100000)

-- Utne and Hansen's closed form (2023, section 5.2.3) numbers the pairs i < j - 1 of n positions, (0, n-1) among them,
-- and takes the upper whole number of a root by adding 0.9999 and cutting off.
module utne_hansen (R: real) = {
  def pair (n: i64) (k: i64) : (i64, i64) =
    let total = (n - 2) * (n - 1) / 2
    let root = (R.sqrt (R.i64 (1 + 8 * (total - k))) R.- R.i64 1) R./ R.i64 2
    let row = R.to_i64 (root R.+ R.f64 0.9999)
    let i = n - 2 - row
    in (i, i + 2 + k - (total - row * (row + 1) / 2))

  -- Whether it is right for every k: row i begins at its first pair, and ends at its last.
  def is_right (n: i64) : bool =
    let starts i = i * (n - 2) - i * (i - 1) / 2
    in all (\i -> pair n (starts i) == (i, i + 2) && pair n (starts (i + 1) - 1) == (i, n - 1))
           (iota (n - 2))

  -- The smallest number of cities for which it is wrong.
  def first_wrong (most: i64) : i64 =
    loop n = 4 while n < most && is_right n do n + 1
}

module utne_hansen_f32 = utne_hansen f32
module utne_hansen_f64 = utne_hansen f64

-- Their formula is wrong from these sizes on. In single precision the first pair of 2050 cities has the root 2048, and
-- 2048.9999 is rounded to 2049: it gives (-1, 2050). In double precision the last pair of row 0 of 10,003 cities has a root
-- that exceeds 10,000 by less than 0.0001: it gives (1, 2).
-- ==
-- entry: float_formula_is_wrong
-- input { 20000i64 } output { [2050i64, 10003i64] }
entry float_formula_is_wrong (most: i64) : [2]i64 =
  [utne_hansen_f32.first_wrong most, utne_hansen_f64.first_wrong most]
