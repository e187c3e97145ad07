-- AB-cycles: edges that differ, cycles of tours of four and eight cities, and their exchanges. More is tested from Python.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "cycles"
import "exchange"
import "rows"

module G = mk_cycle_gains matrix

def two_tours [n] (a: [n]i32) (b: [n]i32) : pairs [2] [2] [n] =
  let (tours, places) = ([a, b], map positions [a, b])
  in {rows = one_row n, tours, places, others = tours, other_places = places, mates = [1, 0], keys = map (rng.stream 0) [0, 1]}

-- The edges of both tours that the other one lacks.
-- ==
-- entry: lost
-- input { [0, 1, 2, 3] [0, 2, 1, 3] } output { [0, 2, 4, 6] }
-- input { [0, 1, 2, 3] [3, 2, 1, 0] } output { empty([0]i32) }
-- input { [0, 1, 2] [1, 0, 2] } output { empty([0]i32) }
-- input { [0] [0] } output { empty([0]i32) }
entry lost [n] (a: [n]i32) (b: [n]i32) : []i32 = (difference (two_tours a b)).edges

-- The halves of a double bridge are two cycles for either tour; none where one edge is the most.
-- ==
-- entry: halves
-- input { 2 } output { [0, 1, 0, 1, 4, 5, 4, 5] }
-- input { 1 } output { [-1, -1, -1, -1, -1, -1, -1, -1] }
entry halves (most: i32) : []i32 =
  let pairs = two_tours [0, 1, 2, 3, 4, 5, 6, 7] [0, 1, 6, 7, 4, 5, 2, 3]
  in (ab_cycles most pairs (difference pairs)).cycle

-- Two crossing edges of a square go, two sides come.
-- ==
-- entry: square
-- input { } output { [0] [2i64] [0, 2] [2, 3, 0, 1] [0, 0, -1, -1] }
entry square : ([]i32, []i64, []i32, []i32, []i32) =
  let data = taxicab ([0, 0, 1, 1], [0, 1, 1, 0])
  let pairs = two_tours [0, 2, 1, 3] [0, 1, 2, 3]
  let d = difference pairs
  let cycles = ab_cycles 4 pairs d
  let (e, own) = exchanges_of pairs.rows d cycles (G.gains data pairs d cycles) 0
  in (e.row, e.gain, e.cut, flatten (map (\(x, y) -> [x, y]) e.link), own)
