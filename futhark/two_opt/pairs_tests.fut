-- | Tests of `pairs`: numbers of moves, and that all enumerations give each number its pair.

import "../core/rng"
import "../flat/two_opt"
import "pairs"

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
  let fits_32_bits = n <= 65536
  let (i, j) = if fits_32_bits then nth_move_32 (i32.i64 n) (u32.i64 k) else (i32.i64 move.0, i32.i64 move.1)
  in is_move n move && number n move == k && (i64.i32 i, i64.i32 j) == move

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
-- input { 65535i64 } output { true }
-- input { 65536i64 } output { true }
-- input { 65537i64 } output { true }
-- input { 1000000i64 } output { true }
-- input { 2147483647i64 } output { true }
entry nth_move_of_rows (n: i64) : bool =
  let rows = i64.min (n - 3) 1000000
  let k = rng.stream 1 0
  let ends i = [number n (i, i + 2), number n (i, i + 2) + 1, number n (i + 1, i + 3) - 1]
  in all (\i -> all (holds n) (ends i) && all (holds n) (ends (n - 4 - i))) (1..<rows)
     && all (holds n) [0, n - 4, n - 3, moves n - 1]
     && all (\s -> holds n (i64.u64 (rng.word k s % u64.i64 (moves n)))) (iota 100000)

-- Utne and Hansen's closed form (2023, section 6.5 and appendix A) numbers the pairs i < j - 1 of n positions, (0, n-1) among them,
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

-- The enumerations list the moves in the order of their numbers.
-- ==
-- entry: enumerations_are_in_order
-- input { 1i64 60i64 } output { true }
-- input { 513i64 514i64 } output { true }
entry enumerations_are_in_order (least: i64) (most: i64) : bool =
  loop ok = true
  for n in least..<most + 1 do
    let (listed, words) = (pairs_of n by_flat, pairs_of n by_zipped)
    in ok
       && length listed.firsts == moves n
       && length words.words == moves n
       && all (\k ->
                 let (i, j) = nth_move n k
                 let pair = (i32.i64 i, i32.i64 j)
                 in listed_pair listed k == pair
                    && zipped_pair words k == pair
                    && computed_pair n k == pair)
              (iota (moves n))
