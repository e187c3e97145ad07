-- Fragments: those of a line join. More is tested from Python.

import "fragments"

-- Four cities of a line, at 0, 1, 3 and 4; each knows two.
def lists : [4][2]i32 = [[1, 2], [0, 2], [3, 1], [2, 1]]

-- A rank beyond `most` is that of no edge.
def rank (most: i64) (_: i64) (u: i64) (v: i64) : i64 =
  let at: [4]i64 = [0, 1, 3, 4]
  let length = i64.abs (at[u] - at[v])
  in if length > most then none else (length << 10) | (i64.min u v << 5)

-- With short edges two fragments of two cities, and with longer ones one of all four, whose ends know each other.
-- ==
-- entry: joined
-- input { 2i64 } output { [1, 0, 3, 2] [-1, 2, 1, -1] 3i32 }
-- input { 1i64 } output { [1, 0, 3, 2] [-1, -1, -1, -1] 1i32 }
entry joined (most: i64) : ([4]i32, [4]i32, i32) =
  let {first, second, far} = join_all 4 4 lists (rank most)
  in (copy first, copy second, far[0])
