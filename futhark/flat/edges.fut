-- | Edges of the tours that exchanges leave: parts of segments, and links.

import "exchange"
import "rows"
import "segments"

-- | An edge of a city in an exchange of m cuts in all.
--
-- `claim` numbers it among all edges: a link by its lower end, below 2 m, and otherwise 2 m and the segment, of whose edges
-- one may be cut at a time. `seg` is that segment, and -1 for a link; a cut comes behind position `pos`. `near` is the end
-- at the city and `far` the other one: of a link among all ends, of a segment's edge 0 or 1. `to` is the position of the
-- other city.
type edge = {claim: i64, seg: i32, pos: i32, near: i32, far: i32, to: i32}

-- | Return the edge of the city at position q of segment r: behind it for side 0, before it for side 1. **Work:** O(1).
def edge_at [c] [m] (rows: rows) (e: exchanges [c] [m]) (r: i32) (q: i32) (side: i32) : edge =
  let step = 1 - 2 * side
  -- The end at the border of the segment on that side, and its position.
  let near = if side == 0 then 2 * next_cut e r else 2 * r + 1
  let far = linked e near
  let is_link = position_of rows e near == q
  let inner = {claim = 2 * m + i64.i32 r, seg = r, pos = stepped rows q (-side), near = side, far = 1 - side, to = stepped rows q step}
  let link = {claim = i64.i32 (i32.min near far), seg = -1, pos = 0, near, far, to = position_of rows e far}
  in if is_link then link else inner
