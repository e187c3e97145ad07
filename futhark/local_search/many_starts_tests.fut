-- Lists of instances of four cities and of two, which stand in a row.

import "../core/anywhere"
import "../core/schedule"
import "../core/testing"
import "../flat/rows"
import "../neighbours/connected"
import "ils"
import "many_starts"
import "worker"

module starts = mk_many_starts anywhere (mk_ils anywhere (mk_thread_worker anywhere)) automatic

-- The nearest of each city in its instance; where there are fewer, the last one again.
-- ==
-- entry: lists
-- input { } output { [[1, 2], [0, 2], [1, 0], [2, 1], [5, 5], [4, 4]] }
entry lists : [6][2]i32 =
  let distances = taxicab ([0, 1, 3, 6, 0, 9], [0, 0, 0, 0, 5, 5])
  in starts.lists (rows_of 6 [4, 2] [true, true]) (matrix_data {matrix = distances}) 2

-- Lists that lead one way join, too.
-- ==
-- entry: connected
-- input { [[1], [0], [1], [2], [5], [4]] } output { [true, true] }
-- input { [[1], [0], [3], [2], [5], [4]] } output { [false, true] }
-- input { [[3], [3], [3], [2], [4], [5]] } output { [true, false] }
entry connected (lists: [6][1]i32) : []bool = are_connected (rows_of 6 [4, 2] [true, true]) lists
