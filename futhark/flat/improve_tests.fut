-- Local search: a ladder is mended, and short tours stay. More is tested from Python.

import "../core/metric"
import "../core/testing"
import "../core/tour"
import "improve"
import "merging"
import "rows"

module I = mk_improve matrix (mk_merging matrix)

def mended [n] (cities: ([n]i32, [n]i32)) (tour: [n]i32) (lists: [n][2]i32) : i64 =
  let population = {tours = [tour], places = [positions tour], lengths = [10]}
  in (I.search (one_row n) (taxicab cities) lists {seed = 0, first = 0, curved = false, noise = 0, joins = 0, wide = 2, least = 1, rounds = 9} population).lengths[0]

-- ==
-- entry: ladder
-- input { } output { 8i64 }
entry ladder : i64 =
  mended ([0, 1, 2, 3, 3, 2, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1])
         [0, 2, 1, 3, 4, 5, 6, 7]
         [[1, 7], [0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [5, 7], [6, 0]]

-- ==
-- entry: short
-- input { } output { 10i64 }
entry short : i64 = mended ([0, 0, 1, 1], [0, 1, 1, 0]) [0, 2, 1, 3] [[1, 3], [0, 2], [1, 3], [0, 2]]
