-- Ends of fragments: those of a line join along it. More is tested from Python.

import "../core/rng"
import "curve"
import "fragments"
import "rows"

-- Six cities of a line, each alone, in two tours.
def at : [6]i32 = [40, 0, 10, 31, 55, 30]

def lone (t: i64) : fragments [t] =
  {first = replicate t (-1), second = replicate t (-1), far = map i32.i64 (iota t)}

def rank (_: i64) (u: i64) (v: i64) : i64 =
  (i64.i32 (i32.abs (at[u] - at[v])) << 10) | (i64.min u v << 5)

def ends (keys: [2]rng.key) = ends_along (one_row 6) (copy at, replicate 6 0i32) keys (lone (2 * 6))

-- The ends of each tour stand in order along its curve, and those of lone cities are their own other ends.
-- ==
-- entry: in_order
-- input { 0u64 } output { true true }
entry in_order (seed: u64) : (bool, bool) =
  let keys = [rng.stream seed 0, rng.stream seed 1]
  let ends = ends keys
  let ascends (a: i64) =
    let places = map (\(x, _) -> place_along keys[a] at[i64.i32 x % 6] 0) (filter (\(x, _) -> i64.i32 x / 6 == a) ends)
    in length places == 6 && and (map2 (<=) (init places) (tail places))
  in (ascends 0 && ascends 1, and (map2 (\(_, other) i -> i64.i32 other == i) ends (indices ends)))

-- Of the tour that joins all edges of the line come about; of the other none do.
-- ==
-- entry: joined
-- input { 0u64 } output { 2i64 6i64 [-1, -1, -1, -1, -1, -1] }
entry joined (seed: u64) : (i64, i64, [6]i32) =
  let ends = ends [rng.stream seed 0, rng.stream seed 1]
  let (first, second, left) = join_along 6 (one_row 6) (== 0) rank 8 (lone 12) ends
  let of (a: i64) = length (filter (\(x, _) -> i64.i32 x / 6 == a) left)
  let is_on_the_line (x: i64) = first[x] >= 0 && (second[x] >= 0 || at[x] == 0 || at[x] == 55)
  in (if and (map is_on_the_line (iota 6)) then of 0 else -1, of 1, take 6 (drop 6 first) :> [6]i32)
