-- What goes on between climbers.

import "population"

def some () : population [3] [2] =
  {tours = [[0, 1], [1, 0], [0, 1]], bests = [[1, 0], [1, 0], [0, 1]], lengths = [7, 5, 5], steps = [1, 2, 3]}

-- ==
-- entry: followed
-- input { [1, 0] [0, 2] } output { [[1, 0], [1, 0], [0, 1]] [[1, 0], [1, 0], [1, 0]] [5i64, 5i64, 7i64] [1i64, 2i64, 3i64] }
-- input { empty([0]i32) empty([0]i32) }
-- output { [[0, 1], [1, 0], [0, 1]] [[1, 0], [1, 0], [0, 1]] [7i64, 5i64, 5i64] [1i64, 2i64, 3i64] }
entry followed [q] (from: [q]i32) (to: [q]i32) : ([][]i32, [][]i32, []i64, []i64) =
  let {tours, bests, lengths, steps} = follow (some ()) from to
  in (tours, bests, lengths, steps)

-- The first among equals.
-- ==
-- entry: first_shortest
-- input { 0 } output { 1i64 }
entry first_shortest (_: i32) : i64 = shortest (some ())

-- ==
-- entry: distinct
-- input { [2, 0] } output { true }
-- input { [2, 2] } output { false }
-- input { empty([0]i32) } output { true }
entry distinct [q] (places: [q]i32) : bool = are_distinct 3 places
