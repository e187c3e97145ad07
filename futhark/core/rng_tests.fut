-- | Tests of `rng`.

import "rng"

-- The values that pytsp/problem/tours.py gives as well (tests/problem/test_tours.py holds the same literals).
-- ==
-- entry: words
-- input { 0u64 0i64 } output { [6235967106033911276u64, 4964577235801436555u64, 5009519748041543987u64] }
entry words (seed: u64) (stream: i64) : [3]u64 =
  map (rng.word (rng.stream seed stream)) (iota 3)

-- ==
-- entry: below_is_below
-- input { 1i32 } output { true }
-- input { 2i32 } output { true }
-- input { 1000i32 } output { true }
-- input { 2147483647i32 } output { true }
entry below_is_below (bound: i32) : bool =
  let k = rng.stream 7 3
  in all (\s -> let x = rng.below k s bound in x >= 0 && x < bound) (iota 1000)
