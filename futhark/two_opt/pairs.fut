-- | The n (n - 3) / 2 moves of 2-opt by their numbers in lexicographic order: positions i < j whose edges share no
-- city, listed in arrays or computed.

import "../core/instances"
import "../flat/two_opt"

-- The numbers of the enumerations, as Python has them.
def by_flat : i32 = 0
def by_zipped : i32 = 1
def by_closed_form : i32 = 2
def by_diagonals : i32 = 3

-- | The pairs of an enumeration: positions in two arrays, or both in a word; arrays without a need are empty.
type pairs [m] [w] = {by: i32, firsts: [m]i32, seconds: [m]i32, words: [w]u32}

-- | Nothing is kept.
def no_pairs (by: i32) : pairs [0] [0] = {by, firsts = [], seconds = [], words = []}

-- | The data that the enumeration of this number keeps for tours of n cities: positions in two arrays, 8 bytes a move; both in
-- a word, up to 65,536 cities (Utne and Hansen 2023, section 6.3.1); or nothing.
def pairs_of (n: i64) (by: i32) : ?[m][w].pairs [m] [w] =
  let by = assert (fits_32_bits n && by >= by_flat && by <= by_diagonals && (by != by_zipped || n <= 65536)) by
  in if by == by_flat
     then let [m] (firsts: [m]i32, seconds: [m]i32) = positions_of_moves n
          let words: [0]u32 = []
          in {by, firsts, seconds, words}
     else if by == by_zipped
     then let [m] (firsts: [m]i32, seconds: [m]i32) = positions_of_moves n
          in no_pairs by with words = map2 (\i j -> u32.i32 i << 16 | u32.i32 j) firsts seconds
     else no_pairs by

-- | Tell whether these are the data that an enumeration keeps for tours of n cities.
def are_pairs [m] [w] (n: i64) (pairs: pairs [m] [w]) =
  (pairs.by != by_flat || m == moves n) && (pairs.by != by_zipped || w == moves n)

-- | The pair of a number in two arrays.
def listed_pair [m] [w] (pairs: pairs [m] [w]) (k: i64) : (i32, i32) = #[unsafe] (pairs.firsts[k], pairs.seconds[k])

-- | The pair of a number in a word.
def zipped_pair [m] [w] (pairs: pairs [m] [w]) (k: i64) : (i32, i32) =
  let word = #[unsafe] pairs.words[k]
  in (i32.u32 (word >> 16), i32.u32 (word & 0xffff))

-- | Move number k, exact for every n up to 2^31: rows from the end begin at u (u + 1) / 2, and the root only guesses u.
def nth_move (n: i64) (k: i64) : (i64, i64) =
  let first = n - 3
  let r = moves n - 1 - k
  let guess = i64.f64 ((f64.sqrt (8 * f64.i64 r + 1) - 1) / 2)
  let u = if guess * (guess + 1) / 2 > r then guess - 1 else guess
  let u = if (u + 1) * (u + 2) / 2 <= r then u + 1 else u
  in if k < first
     then (0, k + 2)
     else (n - 3 - u, n - 1 - (r - u * (u + 1) / 2))

-- | `nth_move` in 32 bits, for at most 65,536 cities: a root in single precision is wrong by less than one there.
def nth_move_32 (n: i32) (k: u32) : (i32, i32) =
  let r = u32.i64 (moves (i64.i32 n) - 1) - k
  let guess = u32.f32 ((f32.sqrt (8 * f32.u32 r + 1) - 1) / 2)
  let u = if guess * (guess + 1) / 2 > r then guess - 1 else guess
  let u = if (u + 1) * (u + 2) / 2 <= r then u + 1 else u
  in if k < u32.i32 (n - 3)
     then (0, i32.u32 k + 2)
     else (n - 3 - i32.u32 u, n - 1 - i32.u32 (r - u * (u + 1) / 2))

-- | The pair of a number, computed (Utne and Hansen 2023, section 6.5).
def computed_pair (n: i64) (k: i64) : (i32, i32) =
  if n <= 65536
  then nth_move_32 (i32.i64 n) (u32.i64 k)
  else let (i, j) = nth_move n k in (i32.i64 i, i32.i64 j)
