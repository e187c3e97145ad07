-- Many instances: two of three and of two cities, by two tours each. More is tested from Python.

import "apply"
import "many"
import "rows"

def two_instances (left: [2]i32) (quiet: [2]i32) : many [2] [5] [1] [2] [4] =
  let tours = [[0, 1, 2, 3, 4], [2, 1, 0, 4, 3]]
  in {sizes = [3, 2], left, quiet, lists = replicate 5 [0], tours, places = tours, lengths = [7, 5, 6, 5]}

-- An instance ends after its generations, or where none of its tours has changed in some.
-- ==
-- entry: going
-- input { [0, 4] [0, 2] } output { [false, true] }
-- input { [1, 4] [2, 3] } output { [true, false] }
entry going (left: [2]i32) (quiet: [2]i32) : [2]bool = go_on (two_instances left quiet)

-- The shortest tours by own numbers, the first among equals.
-- ==
-- entry: shortest
-- input { } output { [2, 1, 0, 0, 1] [6i64, 5i64] }
entry shortest : ([5]i32, [2]i64) = bests (two_instances [1, 1] [0, 0])

-- What a generation counts of the instances that go on.
-- ==
-- entry: counts
-- input { [1, 4] [1, 3] [false, true, false, true] } output { [0, 4] [2, 3] }
-- input { [1, 4] [1, 2] [true, false, false, false] } output { [0, 3] [0, 3] }
entry counts (left: [2]i32) (quiet: [2]i32) (changed: [4]bool) : ([2]i32, [2]i32) =
  let now = two_instances left quiet
  let after = moved_on now (tours_of now, changed)
  in (after.left, after.quiet)

-- Tours have their cities in the rows of these.
-- ==
-- entry: in_rows
-- input { [0, 2, 1, 4, 3] } output { true }
-- input { [0, 3, 1, 2, 4] } output { false }
-- input { [0, 0, 1, 3, 4] } output { false }
-- input { [0, 1, 7, 3, 4] } output { false }
entry in_rows (tour: [5]i32) : bool = are_in_rows (rows_of 5 [3, 2] [true, true]) [tour]
