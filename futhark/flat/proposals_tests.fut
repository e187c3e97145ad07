-- Proposals: what the cities of a crossing tour of a square and a row beside it propose. More is tested from Python.

import "../core/metric"
import "../core/testing"
import "../core/tour"
import "proposals"
import "rows"

module P = mk_proposals matrix

-- Eight cities of a ladder, of which 1 and 2 have changed places: several moves mend that. Cities that are done propose nothing.
-- ==
-- entry: ladder
-- input { true } output { 2i64 }
-- input { false } output { 0i64 }
entry ladder (goes: bool) : i64 =
  let data = taxicab ([0, 1, 2, 3, 3, 2, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1])
  let tour = [0, 2, 1, 3, 4, 5, 6, 7]
  let lists = [[1, 7], [0, 2], [1, 3], [2, 4], [3, 5], [4, 6], [5, 7], [6, 0]]
  let proposals = P.proposals (one_row 8) data lists {tours = [tour], places = [positions tour], lengths = [10]} 2 [goes]
  in i64.maximum (map (.gain) proposals)
