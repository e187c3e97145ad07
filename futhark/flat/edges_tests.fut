-- Edges of a city in an exchange: links at the borders of segments, else edges of the tour.

import "exchange"
import "rows"

-- Behind positions 1 and 4 of eight cities: closed into the rings 2, 3, 4 and 5, 6, 7, 0, 1.
def rings : exchanges [1] [2] =
  {row = [0], off = [0], size = [2], gain = [0], cut = [1, 4], own = [0, 0], link = [(3, 2), (1, 0)]}

-- The claim of the edge of a position in segment r, and the position of the other city.
-- ==
-- entry: edge
-- input { 0 2 0 } output { 4i64 3 }
-- input { 0 2 1 } output { 1i64 4 }
-- input { 0 4 0 } output { 1i64 2 }
-- input { 1 0 1 } output { 5i64 7 }
-- input { 1 1 0 } output { 0i64 5 }
entry edge (r: i32) (q: i32) (side: i32) : (i64, i32) =
  let {claim, seg = _, pos = _, near = _, far = _, to} = edge_at (one_row 8) rings r q side
  in (claim, to)
