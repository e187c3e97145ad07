-- Orbits of permutations, and lists by the sums to their ends.

import "../core/tour"
import "orbits"
import "rows"

-- One round is enough for orbits of four; of five or six numbers each has the least of four.
-- ==
-- entry: least
-- input { 1i64 [1, 2, 3, 0, 5, 4, 6] } output { [0, 0, 0, 0, 4, 4, 6] }
-- input { 1i64 [1, 2, 3, 4, 0] } output { [0, 1, 0, 0, 0] }
-- input { 1i64 [1, 2, 3, 4, 5, 0] } output { [0, 1, 2, 0, 0, 0] }
-- input { 0i64 [1, 0] } output { [0, 1] }
-- input { 3i64 empty([0]i32) } output { empty([0]i32) }
entry least [m] (rounds: i64) (next: [m]i32) : [m]i32 = least_of_orbits rounds next

-- Random permutations: a number's label is its successor's, and is in its orbit.
-- ==
-- entry: orbits_hold
-- input { 1i64 } output { true }
-- input { 64i64 } output { true }
-- input { 65i64 } output { true }
-- input { 1000i64 } output { true }
entry orbits_hold (m: i64) : bool =
  let next = random_tour m 3 0
  let least = least_of_orbits (log4_up m) next
  let reaches x = (loop y = next[x] while y != i32.i64 x && y != least[x] do next[i64.i32 y]) == least[x]
  in all (\x -> least[i64.i32 next[x]] == least[x] && least[x] <= i32.i64 x && reaches x) (iota m)

-- Two lists, and a ring, which has no end.
-- ==
-- entry: sums
-- input { [5, 1, 2, 7, 1, 1] [2, -1, 1, -1, 5, 4] } output { [8, 1, 3, 7] [true, true, true, true, false, false] }
entry sums (weights: [6]i32) (next: [6]i32) : ([4]i32, [6]bool) =
  let (sums, ends) = sums_to_end 2 weights next
  in (take 4 sums, ends)
