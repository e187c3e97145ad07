-- Unions around cycles: which cycles may join, and the halves of a double bridge. More is tested from Python.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "cycles"
import "exchange"
import "rows"
import "unions"

module G = mk_cycle_gains matrix

-- The tour 0, …, 7 and its double bridge, each edge of which costs 1 and all others 5: both halves are cycles of the tour, and
-- each by itself leaves two subtours of four cities.
def double_bridge : pairs [2] [2] [8] =
  let tours = [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 6, 7, 4, 5, 2, 3]]
  let places = map positions tours
  in {rows = one_row 8, tours, places, others = tours, other_places = places, mates = [1, 1], keys = map (rng.stream 0) [0, 1]}

def costs : [8][8]i32 =
  let b = [0, 1, 6, 7, 4, 5, 2, 3]
  let is_edge u v = or (map2 (\c d -> (c == u && d == v) || (c == v && d == u)) b (rotate 1 b))
  in tabulate_2d 8 8 (\u v -> if is_edge (i32.i64 u) (i32.i64 v) then 1 else 5)

def halves (most: i32) (rounds: i32) : ([][2]i32, []i64, []i32) =
  let d = difference double_bridge
  let found = ab_cycles 4 double_bridge d
  let (cycles, own) = exchanges_of (one_row 8) d found (G.gains costs double_bridge d found) i64.lowest
  let pool = {cycles, d, own}
  let unions = unions (one_row 8) most rounds pool cycles
  in (map (\(o, g) -> [o, g]) (members (one_row 8) most pool (centers_of (one_row 8) (cycles, subtours 2 cycles))), copy unions.gain, copy unions.cut)

-- Each half joins the other one, and both unions are the double bridge; not with fewer than four cuts, nor without a round.
-- ==
-- entry: joined
-- input { 4 1 } output { [[0, 1], [1, 0]] [16i64, 16i64] [1, 3, 5, 7, 1, 3, 5, 7] }
-- input { 4 0 } output { [[0, 1], [1, 0]] empty([0]i64) empty([0]i32) }
-- input { 3 1 } output { empty([0][2]i32) empty([0]i64) empty([0]i32) }
entry joined (most: i32) (rounds: i32) : ([][2]i32, []i64, []i32) = halves most rounds

-- Fewest subtours count, then the gain, then the first. Exchange 0 leaves three subtours by itself, and exchange 1 one.
-- ==
-- entry: best
-- input { [2, 1, 1, 1] [9i64, 5i64, 7i64, 7i64] } output { [false, false, true, false] }
-- input { [2, 2, 3, 1] [9i64, 9i64, 99i64, 7i64] } output { [true, false, false, false] }
-- input { [3, 3, 3, 1] [9i64, 9i64, 9i64, 7i64] } output { [false, false, false, false] }
entry best (left: [4]i32) (gain: [4]i64) : [4]bool =
  let owners = if left[3] == 1 && left[1] == 1 then [0, 0, 0, 0] else [0, 0, 0, 1]
  in best_unions [3, 1] owners left gain
