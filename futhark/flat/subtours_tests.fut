-- Subtours: a 2-opt move leaves one, half of a double bridge two.

import "exchange"
import "rows"

-- Behind positions 1 and 5 of eight cities: reversed, and closed into two rings.
def two : exchanges [2] [4] =
  { row = [0, 0]
  , off = [0, 2]
  , size = [2, 2]
  , gain = [0, 0]
  , cut = [1, 4, 1, 4]
  , own = [0, 0, 1, 1]
  , link = [(2, 3), (0, 1), (7, 6), (5, 4)]
  }

-- Subtours by their first segments, how many there are, and their cities.
-- ==
-- entry: rings
-- input { } output { [0, 0, 2, 3] [1, 2] [8, 0, 3, 5] [0, 3] }
entry rings : ([4]i32, [2]i32, [4]i32, [2]i32) =
  let subtour = subtours 2 two
  let sizes = subtour_sizes (one_row 8) two subtour
  in (subtour, count_subtours two subtour, sizes, map subtour_of (largest_subtours two subtour sizes))

-- The later one of two subtours of equal size ranks higher.
-- ==
-- entry: ranks
-- input { [4, 4, 5] } output { true true }
entry ranks (sizes: [3]i32) : (bool, bool) =
  (rank_of sizes 0 < rank_of sizes 1, rank_of sizes 1 < rank_of sizes 2)
