-- Closing of fragments: rows begin at their first cities and visit all of theirs. More is tested from Python.

import "../core/rng"
import "fragments"
import "rows"

-- Four cities of a line: two fragments of two in each of eight tours.
-- ==
-- entry: whole
-- input { 0u64 } output { true }
-- input { 1u64 } output { true }
entry whole (seed: u64) : bool =
  let at: [4]i32 = [0, 1, 4, 3]
  let mate (x: i64): i32 = i32.i64 (x / 4 * 4 + [1, 0, 3, 2][x % 4])
  let paired = tabulate (8 * 4) mate
  let rank (_: i64) (u: i64) (v: i64): i64 = (i64.i32 (i32.abs (at[u] - at[v])) << 10) | (i64.min u v << 5)
  let keys = map (rng.stream seed) (iota 8)
  let fragments = {first = paired, second = replicate (8 * 4) (-1i32), far = paired}
  let (tours, places) = follow (one_row 4) (map (* 1000) at, replicate 4 0) keys rank 8 fragments
  let is_whole (tour: [4]i32) (place: [4]i32) =
    let steps = map2 (\u v -> i32.abs (at[i64.i32 u] - at[i64.i32 v])) tour (rotate 1 tour)
    let has_pairs = and (map (\c -> (place[c] - place[i64.i32 (mate c)]) % 2 != 0) (iota 4))
    in tour[0] == 0 && and (map2 (\q c -> place[i64.i32 c] == q) (map i32.i64 (iota 4)) tour) && has_pairs && i32.sum steps <= 8
  in and (map2 is_whole (unflatten tours) (unflatten places))
