-- Generations: mates, and a square whose crossing edges come apart. More is tested from Python.

import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "exchange"
import "generation"
import "merging"
import "rows"

module G = mk_generation matrix (mk_merging matrix)

-- Two tours are each other's mates, and one is its own. Streams and mates follow from the seed and the generation's number.
-- ==
-- entry: mates
-- input { 1i64 } output { [0] }
-- input { 2i64 } output { [1, 0] }
entry mates (p: i64) : [p]i32 = random_mates (streams p 1 2)

-- Everyone is somebody's mate, and nobody their own.
-- ==
-- entry: mates_hold
-- input { 3i64 } output { true }
-- input { 100i64 } output { true }
entry mates_hold (p: i64) : bool =
  let mates = random_mates (streams p 1 2)
  in and (map2 (\a b -> i64.i32 b != a) (iota p) mates)
     && all (== 1) (hist (+) 0i32 p (map i64.i32 mates) (replicate p 1))

-- ==
-- entry: best
-- input { [3i64, 8i64, 5i64] [true, false, true] } output { [5i64, 0i64] }
entry best (gain: [3]i64) (chosen: [3]bool) : [2]i64 =
  let e: exchanges [3] [0] =
    {row = [0, 0, 0], off = [0, 0, 0], size = [0, 0, 0], gain, cut = [], own = [], link = []}
  in best_gains 2 e chosen

-- The worse of two tours of a square becomes the better one.
-- ==
-- entry: square
-- input { } output { [4i64, 4i64] [true, false] }
entry square : ([2]i64, [2]bool) =
  let data = taxicab ([0, 0, 1, 1], [0, 1, 1, 0])
  let tours = [[0, 2, 1, 3], [0, 1, 2, 3]]
  let population = {tours, places = map positions tours, lengths = [6, 4]}
  let (after, changed) = G.generation (one_row 4) data (replicate 4 []) population {seed = 0, generation = 0, most = 4, cap = 4, rounds = 2, unions = 0, thrift = 0}
  in (after.lengths, changed)
