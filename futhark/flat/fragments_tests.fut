-- Fragments: those of a line join, and follow each other. More is tested from Python.

import "../core/rng"
import "fragments"
import "rows"

-- Four cities of a line, at 0, 1, 3 and 4; each knows the next ones.
def lists : [4][2]i32 = [[1, 2], [0, 2], [3, 1], [2, 1]]
def at : [4]i64 = [0, 1, 3, 4]

def rank (_: i64) (u: i64) (j: i64) : i64 =
  let v = i64.i32 lists[u, j]
  in (i64.abs (at[u] - at[v]) << 10) | (i64.min u v << 5) | j

-- Two fragments of two cities; one of four where more are allowed, whose ends know each other.
-- ==
-- entry: joined
-- input { 2 } output { [1, 0, 3, 2] [-1, -1, -1, -1] }
-- input { 4 } output { [1, 0, 3, 2] [-1, 2, 1, -1] }
-- input { 1 } output { [-1, -1, -1, -1] [-1, -1, -1, -1] }
entry joined (longest: i32) : ([4]i32, [4]i32) =
  let {first, second, far = _, size = _} = join_all 4 4 lists rank longest
  in (copy first, copy second)

-- The tour of one fragment begins at city 0; so do those of lone cities, and visit all of them.
-- ==
-- entry: whole
-- input { 4 } output { [0, 3, 2, 1] [0, 3, 2, 1] }
entry whole (longest: i32) : ([4]i32, [4]i32) =
  let spots = ([0, 1, 3, 4], [0, 0, 0, 0])
  let (tour, places) = follow (one_row 4) spots [rng.stream 0 0] (join_all 4 (1 * 4) lists rank longest)
  in (copy (tour :> [4]i32), copy (places :> [4]i32))
