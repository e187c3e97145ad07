-- Curves: Hilbert's, directions, and places of spots. More is tested from Python.

import "../core/rng"
import "../neighbours/along_curve"
import "curve"
import "rows"

-- The quarters of the grid in their order; the first cell is at one corner, and the last one at the next.
-- ==
-- entry: quarters
-- input { } output { [0u32, 4194304u32, 8388608u32, 16777215u32] }
entry quarters : [4]u32 = map2 (\x y -> u32.u64 (hilbert 12 x y) & 0xffffff) [0, 0, 2048, 4095] [0, 2048, 2048, 0]

-- Neighbours along the curve are neighbours on the grid.
-- ==
-- entry: steps_hold
-- input { } output { true }
entry steps_hold : bool =
  let side = 64i64
  let order = scatter (replicate (side * side) (0i64, 0i64)) (tabulate (side * side) (\c -> i64.u64 (hilbert 12 (u32.i64 (c / side)) (u32.i64 (c % side))))) (tabulate (side * side) (\c -> (c / side, c % side)))
  let near (a, b) (c, d) = i64.abs (a - c) + i64.abs (b - d) == 1
  in and (map2 near (init order) (tail order))

-- Around the square, from one corner on.
-- ==
-- entry: around
-- input { [0i64, 256i64, 512i64, 1024i64, 2047i64] } output { [[256i64, -256i64], [256i64, 0i64], [256i64, 256i64], [-256i64, 256i64], [255i64, -256i64]] }
entry around [m] (d: [m]i64) : [m][2]i64 = map (\d -> let (x, y) = direction d in [x, y]) d

-- Corners lie on the curve, in other places for each stream; a tour goes along it, and equal spots keep their order.
-- ==
-- entry: along
-- input { } output { true true [0, 1] }
entry along : (bool, bool, [2]i32) =
  let keys = map (rng.stream 0) (iota 50)
  let places = map (\key -> place_along key most_spot 0) keys
  let (first, second) = (places[0], places[1])
  in (all (< 1 << 24) places, first != second, sort_along (one_row 2) ([5, 5], [7, 7]) (take 1 keys) [2] [0, 0] [0, 1])
