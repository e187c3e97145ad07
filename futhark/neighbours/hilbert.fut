-- | Hilbert's space-filling curve through the cells of a square.

-- | Return the place of a cell along the curve through a grid of 2^bits cells a side. **Work:** O(bits).
def hilbert (bits: i32) (x: u32) (y: u32) : u64 =
  let last = (1u32 << u32.i32 bits) - 1
  let (_, _, place) =
    loop (x, y, place) = (x, y, 0u64)
    for b < bits do
      let half = 1u32 << u32.i32 (bits - 1 - b)
      let (right, up) = (u64.bool (x & half != 0), u64.bool (y & half != 0))
      let place = place + u64.u32 half * u64.u32 half * ((3 * right) ^ up)
      let turns = up == 0 && right == 1
      let (x, y) = if turns then (last - x, last - y) else (x, y)
      in if up == 0 then (y, x, place) else (x, y, place)
  in place
