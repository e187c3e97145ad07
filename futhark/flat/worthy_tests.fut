-- Entropy: logarithms, counts of edges, and children that wait. More is tested from Python.

import "exchange"
import "rows"
import "worthy"

-- In units of 2^-20.
-- ==
-- entry: logarithms
-- input { [1i64, 2i64, 3i64, 1000i64] } output { [0i64, 1048576i64, 1661953i64, 10449882i64] }
entry logarithms [m] (xs: [m]i64) : [m]i64 = map log2 xs

-- An edge that half of the tours have counts most nearly; what none or all have is certain.
-- ==
-- entry: entropies
-- input { [0i64, 1i64, 2i64, 4i64, 5i64] } output { [0i64, 524288i64, 524288i64, 0i64, 0i64] }
entry entropies [m] (fs: [m]i64) : [m]i64 = map (entropy 4) fs

-- Two tours of four cities: edges 0 to 1 and 2 to 3 are in both; nobody lists 1 to 3, and city 2 alone lists 0.
-- ==
-- entry: counted
-- input { } output { [2, 1, 1, 2] }
entry counted : []i32 = (edge_counts (one_row 4) [[1], [2], [0], [2]] [[0, 1, 2, 3], [1, 0, 2, 3]]).count

-- Children save 4 and 4 for 1 and 3 units of entropy, 4 for one on average; the third costs none.
-- ==
-- entry: chosen
-- input { 50 } output { [true, true, true] }
-- input { 100 } output { [true, false, true] }
-- input { 160 } output { [true, false, true] }
-- input { 180 } output { [false, false, true] }
entry chosen (thrift: i32) : [3]bool =
  let e: exchanges [3] [0] =
    {row = [0, 0, 0], off = [0, 0, 0], size = [0, 0, 0], gain = [4, 4, 1], cut = [], own = [], link = []}
  in worthy 1 thrift e [1, 3, -1]
