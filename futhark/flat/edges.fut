-- | Edges of the tours that exchanges leave: parts of segments, and links.

import "exchange"
import "rows"
import "segments"

-- | An edge of a city in exchanges of m cuts. `claim` numbers it: a link by its lower end, else 2 m and the segment
-- `seg`, which is -1 for a link and has its cut behind position `pos`. `near` is the end at the city, `far` the other
-- one: of all ends for a link, else 0 or 1. `to` is the other city's position.
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
