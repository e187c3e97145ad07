-- | Tests of `tour`.

import "tour"

-- The tours that pytsp/problem/tours.py gives as well (tests/problem/test_tours.py holds the same literals).
-- ==
-- entry: random_tours
-- input { 5i64 0u64 0i64 2i64 } output { [[3i32, 4i32, 0i32, 1i32, 2i32], [2i32, 1i32, 0i32, 4i32, 3i32]] }
-- input { 8i64 18446744073709551615u64 1099511627776i64 1i64 }
-- output { [[1i32, 4i32, 3i32, 5i32, 2i32, 7i32, 6i32, 0i32]] }
-- input { 1i64 7u64 0i64 3i64 } output { [[0i32], [0i32], [0i32]] }
entry random_tours (n: i64) (seed: u64) (first: i64) (count: i64) : [count][n]i32 =
  map (\c -> random_tour n seed (first + c)) (iota count)

-- Every random tour is one, at every small size and at a large one.
-- ==
-- entry: random_tours_are_tours
-- input { 1i64 64i64 } output { true }
-- input { 100000i64 100001i64 } output { true }
entry random_tours_are_tours (least: i64) (most: i64) : bool =
  loop ok = true
  for n in least..<most + 1 do
    ok && and (map (\c -> is_tour (random_tour n 3 c)) (iota 5))

-- ==
-- entry: is_a_tour
-- input { [0i32] } output { true }
-- input { [1i32] } output { false }
-- input { [2i32, 0i32, 1i32] } output { true }
-- input { [2i32, 0i32, 2i32] } output { false }
-- input { [0i32, 1i32, 3i32] } output { false }
-- input { [0i32, -1i32, 1i32] } output { false }
-- input { [2147483647i32, 0i32] } output { false }
-- input { empty([0]i32) } output { true }
entry is_a_tour (tour: []i32) : bool = is_tour tour

-- ==
-- entry: reversed
-- input { 1i32 4i32 } output { [0i32, 1i32, 4i32, 3i32, 2i32, 5i32] }
-- input { 0i32 2i32 } output { [0i32, 2i32, 1i32, 3i32, 4i32, 5i32] }
-- input { 0i32 5i32 } output { [0i32, 5i32, 4i32, 3i32, 2i32, 1i32] }
-- input { 0i32 0i32 } output { [0i32, 1i32, 2i32, 3i32, 4i32, 5i32] }
entry reversed (i: i32) (j: i32) : [6]i32 =
  map (\p -> reversal i j (i32.i64 p)) (iota 6)

-- A reversal is its own inverse.
-- ==
-- entry: reversal_undoes_itself
-- input { 12i32 } output { true }
entry reversal_undoes_itself (n: i32) : bool =
  let fixed i j = all (\p -> reversal i j (reversal i j p) == p) (0..<n)
  in all (\i -> all (\j -> fixed i j) (i..<n)) (0..<n)
