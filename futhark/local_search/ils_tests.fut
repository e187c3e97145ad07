-- The random threshold, and what a plan stands for. What climbers do is tested from Python, on every backend.

import "../core/rng"
import "ils"

-- The largest and the smallest word, one half, one quarter, and what lies between.
-- ==
-- entry: exponentials
-- input { [18446744073709551615u64, 9223372036854775808u64, 4611686018427387904u64, 0u64] }
-- output { [0.0, 0.6931471803987539, 1.3862943607975079, 44.361419545520245] }
-- input { [13835058055282163712u64] } output { [0.2870063168838702] }
entry exponentials (words: []u64) : []f64 = map exponential words

-- The mean of many, and how many exceed 1 and 2: 1 and powers of 1 / e, in hundredths.
-- ==
-- entry: moments
-- input { 100000i64 } output { 100i64 37i64 14i64 }
entry moments (count: i64) : (i64, i64, i64) =
  let xs = map (\s -> exponential (rng.word (rng.stream 1 0) s)) (iota count)
  let mean ys = i64.f64 (f64.round (100 * f64.sum ys / f64.i64 count))
  in (mean xs, mean (map (\x -> f64.bool (x > 1)) xs), mean (map (\x -> f64.bool (x > 2)) xs))

-- ==
-- entry: cold
-- input { 1000i64 } output { true }
entry cold (count: i64) : bool = all (\s -> tolerance (rng.stream 1 0) s 0 == 0) (iota count)

-- Each step of each iteration, and of a descent, has random words of its own to draw by.
-- ==
-- entry: draws_differ
-- input { 30i64 } output { true }
entry draws_differ (count: i64) : bool =
  let word t = rng.word (draws_of (rng.stream 1 0) (t / count - 1) (t % count)) 0
  let words = map word (iota (count * count))
  in all (\a -> i64.sum (map (\b -> i64.bool (a == b)) words) == 1) words

-- Chains cut the tour further apart than moves one by one do; those of directed ways lie between.
-- ==
-- entry: positions_apart
-- input { [0, 1, 2, 3] } output { [50, 50, 200, 120] }
entry positions_apart (moves: []i32) : []i32 =
  map (\m -> (plan_of 1000 (descent_plan with moves = m)).kicks.apart) moves
