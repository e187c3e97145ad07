-- Unions: which children are taken, and the exchange that they make.

import "exchange"
import "rows"
import "unite"

-- 2-opt moves of two tours of eight cities: behind 0 and 2, 2 and 4, 4 and 6 of the first tour, 2 and 4 of the second.
def moves (gain: [4]i64) : exchanges [4] [8] =
  { row = [0, 0, 0, 1]
  , off = [0, 2, 4, 6]
  , size = [2, 2, 2, 2]
  , gain
  , cut = [0, 2, 2, 4, 4, 6, 2, 4]
  , own = [0, 0, 1, 1, 2, 2, 3, 3]
  , link = [(2, 3), (0, 1), (6, 7), (4, 5), (10, 11), (8, 9), (14, 15), (12, 13)]
  }

-- The larger gain wins a shared cut, then the first; what loses a cut is left out, also where the winner is.
-- ==
-- entry: taken
-- input { [1i64, 9i64, 1i64, 1i64] } output { [false, true, false, true] }
-- input { [5i64, 5i64, 5i64, 5i64] } output { [true, false, false, true] }
-- input { [3i64, 2i64, 1i64, -5i64] } output { [true, false, false, true] }
entry taken (gain: [4]i64) : [4]bool = undisputed (one_row 8) 2 (moves gain) (replicate 4 true)

-- Two moves of the first tour as one exchange, and none of the second.
-- ==
-- entry: union
-- input { } output { [0, 4] [4, 0] [2i64, 0i64] [0, 2, 4, 6] [2, 3, 0, 1, 6, 7, 4, 5] }
entry union : ([]i32, []i32, []i64, []i32, []i32) =
  let e = unite (one_row 8) 2 (moves [1, 1, 1, 1]) [true, false, true, false]
  in (e.off, e.size, e.gain, e.cut, flatten (map (\(x, y) -> [x, y]) e.link))
