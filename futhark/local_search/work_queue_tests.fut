-- Cities that wait.

import "route"

-- The order in which cities come out; -1 stands for taking one.
-- ==
-- entry: order
-- input { 4i64 [2, 0, 2, 3] } output { [2, 0, 3] }
-- input { 4i64 [3, 3, 3] } output { [3] }
-- input { 3i64 empty([0]i32) } output { empty([0]i32) }
-- input { 1i64 [0, 0] } output { [0] }
-- input { 3i64 [0, 1, -1, 2, 0, 1, -1, 1] } output { [2, 0, 1] }
entry order [m] (n: i64) (cities: [m]i32) : []i32 =
  let q =
    loop q = empty_queue n
    for c in cities do
      if c >= 0 then push q c else (pop q).0
  let (_, out) =
    loop (q, out) = (q, [])
    while waiting q > 0 do
      let (q, c) = pop q
      in (q, out ++ [c])
  in out

-- Those that wait are seen in the order in which they come out, past the end of the ring; then none waits, and all may again.
-- ==
-- entry: seen
-- input { 3i64 [0, 1, 2] 1 } output { [1, 2] [1, 2, 0] }
-- input { 3i64 [0, 1, 2, 0] 2 } output { [2] [1, 2, 0] }
-- input { 3i64 [2] 1 } output { empty([0]i32) [1, 2, 0] }
entry seen [m] (n: i64) (cities: [m]i32) (taken: i32) : ([]i32, []i32) =
  let q = loop q = empty_queue n for c in cities do push q c
  let q = loop q for _i < taken do (pop q).0
  let all_of (q: queue [n]) = map (\i -> peek q (i32.i64 i)) (iota (i64.i32 (waiting q)))
  let before = all_of q
  let q = loop q = clear q for c in [1, 2, 0] do push q c
  in (before, all_of q)
