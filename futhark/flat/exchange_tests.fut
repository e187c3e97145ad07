-- Exchanges: cuts around their exchange, ends, segments, walks, and which are chosen.

import "exchange"
import "rows"

-- Two exchanges of tours of eight cities: a 2-opt move behind positions 1 and 5, and a double bridge behind 0, 2, 4, 6.
def two : exchanges [2] [6] =
  { row = [0, 3]
  , off = [0, 2]
  , size = [2, 4]
  , gain = [7, 5]
  , cut = [1, 5, 0, 2, 4, 6]
  , own = [0, 0, 1, 1, 1, 1]
  , link = [(2, 3), (0, 1), (7, 8), (9, 10), (11, 4), (5, 6)]
  }

-- ==
-- entry: around
-- input { } output { [1, 0, 3, 4, 5, 2] [1, 0, 5, 2, 3, 4] [4, 4, 2, 2, 2, 2] }
entry around : ([6]i32, [6]i32, [6]i32) =
  let cuts = map i32.i64 (iota 6)
  in (map (next_cut two) cuts, map (previous_cut two) cuts, map (segment_size (one_row 8) two) cuts)

-- The ends that four ends are joined to, and the positions of these.
-- ==
-- entry: ends
-- input { } output { [2, 3, 0, 1] [5, 6, 1, 2] }
entry ends : ([4]i32, [4]i32) =
  let others = map (linked two) [0, 1, 2, 3]
  in (others, map (position_of (one_row 8) two) others)

-- The segments of all positions, and how many cuts lie before each. A segment goes on behind the last position.
-- ==
-- entry: segments
-- input { 0 } output { [1, 1, 0, 0, 0, 0, 1, 1] [0, 0, 1, 1, 1, 1, 2, 2] }
-- input { 1 } output { [5, 2, 2, 3, 3, 4, 4, 5] [0, 1, 1, 2, 2, 3, 3, 4] }
entry segments (o: i32) : ([8]i32, [8]i32) =
  let positions = map i32.i64 (iota 8)
  in (map (segment_of two o) positions, map (cuts_before two o) positions)

-- A 2-opt move walks one segment upwards and the other downwards.
-- ==
-- entry: walk
-- input { } output { [3, 2, 1, 0] }
entry walk : [4]i32 = take 4 (walks two)

-- The second exchange by itself, and behind both.
-- ==
-- entry: chosen
-- input { } output { [3, 0, 3] [0, 4, 6] [0, 2, 4, 6, 1, 5, 0, 2, 4, 6] [3, 4, 5, 6, 7, 0, 1, 2] }
entry chosen : ([]i32, []i32, []i32, []i32) =
  let one = select two [false, true]
  let e = both one two
  in (e.row, e.off, e.cut, flatten (map (\(x, y) -> [x, y]) one.link))

-- ==
-- entry: none
-- input { } output { 0i64 2i64 }
entry none : (i64, i64) =
  let e = select two [false, false]
  in (length e.cut, length (both e two).row)
