-- | Tests of the enumerations of moves on a CPU: all against plain loops and each other.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "cpu_climbs"
import "pairs"

module of_matrix = mk_climber matrix
module of_grid = mk_climber grid

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

-- All find the move that the loops find, on matrices: with many ties, with few, with none but zeros.
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
              in of_matrix.best_by data (listed_pair (pairs_of n by_flat)) points == best
                 && of_matrix.best_by data (zipped_pair (pairs_of n by_zipped)) points == best
                 && of_matrix.best_by data (computed_pair n) points == best
                 && of_matrix.D.best data points == best)
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
              in of_grid.best_by data (listed_pair (pairs_of n by_flat)) points == best
                 && of_grid.best_by data (zipped_pair (pairs_of n by_zipped)) points == best
                 && of_grid.best_by data (computed_pair n) points == best
                 && of_grid.D.best data points == best)
           (iota 8)

-- A tour with no move, one move to be made of two, and a tie that the smaller i decides.
-- ==
-- entry: best_of_square
-- input { [0i32, 1i32, 2i32, 3i32] } output { [0i32, 0i32, 0i32] }
-- input { [0i32, 2i32, 1i32, 3i32] } output { [8i32, 0i32, 2i32] }
-- input { [0i32, 1i32, 3i32, 2i32] } output { [8i32, 1i32, 3i32] }
entry best_of_square (tour: [4]i32) : [3]i32 =
  let data = ([0, 0, 10, 10], [0, 10, 10, 0])
  let move = of_grid.D.best data (map (grid.point data) tour)
  in [move.gain, move.i, move.j]
