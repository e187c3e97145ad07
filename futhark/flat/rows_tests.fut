-- Rows of instances of three cities and of one.

import "rows"

local def three : rows = rows_of 6 [3, 1, 2] [true, false, true]

-- The bounds of the row around each position, and its number in the second tour.
-- ==
-- entry: around
-- input { } output { [0, 0, 0, 3, 4, 4] [3, 3, 3, 1, 2, 2] [3, 3, 3, 4, 5, 5] [true, true, true, false, true, true] }
entry around : ([6]i32, [6]i32, [6]i32, [6]bool) =
  let qs = map i32.i64 (iota 6)
  let bounds = map (bounds_at three) qs
  in (map (.start) bounds, map (.size) bounds, map (row_at three 1) qs, map (goes_at three) qs)

-- A row closes behind its last city.
-- ==
-- entry: neighbours
-- input { } output { [1, 2, 0, 3, 5, 4] [2, 0, 1, 3, 5, 4] }
entry neighbours : ([6]i32, [6]i32) =
  let qs = map i32.i64 (iota 6)
  in (map (\q -> stepped three q 1) qs, map (\q -> stepped three q (-1)) qs)

-- The tour and the instance of a row, and behind how many positions it begins.
-- ==
-- entry: rows_back
-- input { } output { [0i64, 0i64, 0i64, 1i64, 1i64, 1i64] [0, 1, 2, 0, 1, 2] [0i64, 3i64, 4i64, 6i64, 9i64, 10i64] }
entry rows_back : ([6]i64, [6]i32, [6]i64) =
  let rows = map i32.i64 (iota 6)
  let (tours, instances) = unzip (map (tour_and_instance three) rows)
  in (tours, instances, map (base_of three) rows)

-- One instance needs no tables, and goes on.
-- ==
-- entry: alone
-- input { } output { [1, 2, 0] 2 true 3i64 }
entry alone : ([3]i32, i32, bool, i64) =
  let rows = one_row 3
  in (map (\q -> stepped rows q 1) [0, 1, 2], row_at rows 2 1, goes_at rows 2, most_cities rows)
