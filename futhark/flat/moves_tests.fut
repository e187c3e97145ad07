-- Moves as exchanges: 2-opt and or-opt of a tour of eight cities. More is tested from Python.

import "apply"
import "proposals"
import "rows"

-- ==
-- entry: codes
-- input { 3 1 2 1 } output { 61 3 1 2 1 }
entry codes (j: i32) (side: i32) (l: i32) (other: i32) : (i32, i32, i32, i32, i32) =
  let code = code_of j side l other
  let (j, side, l, other) = decode code
  in (code, j, side, l, other)

-- The city at position q joins that at position t: the tour then.
-- ==
-- entry: moved
-- input { 1 4 0 0 0 } output { [2, 3, 4, 1, 0, 7, 6, 5] }
-- input { 1 4 1 0 0 } output { [1, 2, 3, 0, 7, 6, 5, 4] }
-- input { 1 4 0 1 0 } output { [1, 4, 3, 2, 0, 7, 6, 5] }
-- input { 1 4 0 2 0 } output { [2, 3, 4, 1, 0, 5, 6, 7] }
-- input { 1 4 0 2 1 } output { [2, 3, 0, 1, 4, 5, 6, 7] }
entry moved (q: i32) (t: i32) (side: i32) (l: i32) (other: i32) : [8]i32 =
  let e = exchanges_of_moves [0] [1] [move_of {start = 0, size = 8} q t side l other]
  let all = map i32.i64 (iota 8)
  let (after, _) = apply (one_row 8) {tours = [all], places = [copy all], lengths = [0]} e [true]
  in copy after.tours[0]
