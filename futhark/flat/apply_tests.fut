-- Tours after exchanges: a double bridge, and exchanges that are not made.

import "apply"
import "exchange"
import "rows"

-- A double bridge of one tour of eight cities; two rings.
def bridge : exchanges [1] [4] =
  { row = [0]
  , off = [0]
  , size = [4]
  , gain = [3]
  , cut = [1, 3, 5, 7]
  , own = [0, 0, 0, 0]
  , link = [(5, 4), (7, 6), (1, 0), (3, 2)]
  }

def rings : exchanges [1] [2] =
  {row = [0], off = [0], size = [2], gain = [3], cut = [1, 5], own = [0, 0], link = [(3, 2), (1, 0)]}

-- The places of the segments of the double bridge.
-- ==
-- entry: layout
-- input { } output { [true, true, true, true] [0, 6, 4, 2] [true] }
entry layout : ([4]bool, [4]i32, [1]bool) =
  let ({up, start}, whole) = layout_of (one_row 8) 4 bridge
  in (up, start, whole)

def given : population [1] [8] [1] =
  {tours = [map i32.i64 (iota 8)], places = [map i32.i64 (iota 8)], lengths = [20]}

-- ==
-- entry: applied
-- input { true } output { [2, 3, 0, 1, 6, 7, 4, 5] [2, 3, 0, 1, 6, 7, 4, 5] 17i64 true }
-- input { false } output { [0, 1, 2, 3, 4, 5, 6, 7] [0, 1, 2, 3, 4, 5, 6, 7] 20i64 false }
entry applied (good: bool) : ([]i32, []i32, i64, bool) =
  let (after, made) = apply (one_row 8) given bridge [good]
  in (copy after.tours[0], copy after.places[0], after.lengths[0], made[0])

-- Rings are no tour.
-- ==
-- entry: refused
-- input { } output { [0, 1, 2, 3, 4, 5, 6, 7] false }
entry refused : ([]i32, bool) =
  let (after, made) = apply (one_row 8) given rings [true]
  in (copy after.tours[0], made[0])
