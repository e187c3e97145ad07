-- | Tests of `space`.

import "metric"
import "rng"
import "space"

def alone (formula: i32) (radius: f64) (a: (f64, f64, f64)) (b: (f64, f64, f64)) : i32 =
  let data = beyond_planes [a.0, b.0] [a.1, b.1] [a.2, b.2] [0, 0] [0, 1] {formula, radius, longer = 0}
  in space.dist data (space.point data 0) (space.point data 1)

-- TSPLIB's formulas: nint, rounded up, pseudo-Euclidean, the sum, and the largest of the rounded differences.
-- ==
-- entry: distances
-- input { 0i32 3.0f64 4.0f64 0.0f64 } output { 5i32 }
-- input { 0i32 0.3f64 -0.4f64 0.0f64 } output { 1i32 }
-- input { 0i32 0.3f64 -0.3f64 0.0f64 } output { 0i32 }
-- input { 0i32 1.0f64 2.0f64 -2.0f64 } output { 3i32 }
-- input { 1i32 3.0f64 4.0f64 0.0f64 } output { 5i32 }
-- input { 1i32 3.0f64 4.1f64 0.0f64 } output { 6i32 }
-- input { 2i32 10.0f64 0.0f64 0.0f64 } output { 4i32 }
-- input { 2i32 9.0f64 3.0f64 0.0f64 } output { 3i32 }
-- input { 2i32 11.0f64 0.0f64 0.0f64 } output { 4i32 }
-- input { 3i32 -1.25f64 2.0f64 0.25f64 } output { 4i32 }
-- input { 4i32 -1.5f64 1.2f64 0.0f64 } output { 2i32 }
-- input { 4i32 -1.4f64 1.2f64 7.5f64 } output { 8i32 }
entry distances (formula: i32) (x: f64) (y: f64) (z: f64) : i32 = alone formula 0 (0, 0, 0) (x, y, z)

-- Arcs are twice the arc sines of half the chords.
-- ==
-- entry: arcs_are_right
-- input { 100000i64 } output { true }
entry arcs_are_right (tries: i64) : bool =
  let k = rng.stream 3 1
  let right chord =
    let arc = 2 * f64.asin (0.5 * chord)
    in f64.abs (arc_over (chord * chord) - arc) <= 2e-15 * arc
  in all (\i -> right (f64.i32 (rng.below k i i32.highest) / 2147483647 * (if i % 3 == 0 then 2 else 1e-3))) (iota tries)

-- A quarter and half of a great circle; GEO goes up to the next kilometre, from 0 too.
-- ==
-- entry: arcs
-- input { 5i32 } output { [1571i32, 3142i32, 0i32] }
-- input { 6i32 } output { [1571i32, 3142i32, 1i32] }
entry arcs (formula: i32) : [3]i32 =
  [ alone formula 1000 (1, 0, 0) (0, 1, 0)
  , alone formula 1000 (1, 0, 0) (-1, 0, 0)
  , alone formula 1000 (1, 0, 0) (1, 0, 0)
  ]

-- The further city is as far from each as that says, from both sides, wherever it is.
-- ==
-- entry: further
-- input { [0i32, 7i32, -1i32, 1000000i32] } output { [[0i32, 5i32, 0i32, 5i32], [5i32, 0i32, 7i32, 0i32], [0i32, 7i32, 0i32, 1000000i32], [5i32, 0i32, 1000000i32, 0i32]] }
entry further (aways: [4]i32) : [4][4]i32 =
  let data = beyond_planes [0, 3, 9, 3] [0, 4, 9, 4] (replicate 4 0) aways [0, 1, 2, 3] {formula = by_root, radius = 0, longer = 0}
  in tabulate_2d 4 4 (\a b -> space.dist data (space.point data (i32.i64 a)) (space.point data (i32.i64 b)))

-- A pair is at no distance, also where one is the further city; all others are farther by as much.
-- ==
-- entry: tied
-- input { [0i32, 1i32, 2i32, 1i32] } output { [[0i32, 105i32, 100i32, 103i32], [105i32, 0i32, 100i32, 0i32], [100i32, 100i32, 0i32, 109i32], [103i32, 0i32, 109i32, 0i32]] }
-- input { [0i32, 1i32, 2i32, 2i32] } output { [[0i32, 105i32, 100i32, 103i32], [105i32, 0i32, 100i32, 104i32], [100i32, 100i32, 0i32, 0i32], [103i32, 104i32, 0i32, 0i32]] }
entry tied (ties: [4]i32) : [4][4]i32 =
  let by = {formula = by_root, radius = 0, longer = 100}
  let data = beyond_planes [0, 3, 9, 3] [0, 4, 9, 0] (replicate 4 0) [0, 0, -1, 9] ties by
  in tabulate_2d 4 4 (\a b -> space.dist data (space.point data (i32.i64 a)) (space.point data (i32.i64 b)))

-- A city is at no distance from itself, though GEO's distances are never 0.
-- ==
-- entry: itself
-- input { } output { 0i32 }
entry itself : i32 =
  let data = beyond_planes [1, 1] [0, 0] [0, 0] [0, 0] [0, 1] {formula = by_arc_up, radius = 1000, longer = 0}
  in space.dist data (space.point data 1) (space.point data 1)

-- The distances of some cities are those of the whole.
-- ==
-- entry: parts_keep_distances
-- input { [3, 0, 4, 1, 2] 0i64 5i64 } output { true }
-- input { [3, 0, 4, 1, 2] 2i64 3i64 } output { true }
entry parts_keep_distances (cities: [5]i32) (first: i64) (count: i64) : bool =
  let data = beyond_planes [0, 3, 9, 3, 1] [0, 4, 9, 2, 1] [5, 1, 0, 2, 8] [4, 7, -1, 0, 2] [0, 1, 0, 3, 1] {formula = by_sum, radius = 0, longer = 40}
  let part = space.slice (space.gather data cities) first count
  let alike a b =
    let (c, d) = (cities[first + a], cities[first + b])
    in space.dist data (space.point data c) (space.point data d)
       == space.dist part (space.point part (i32.i64 a)) (space.point part (i32.i64 b))
  in all id (flatten (tabulate_2d count count alike))

-- A plane's distances are those of `plane`, of some of its cities, too, and what may be below them.
-- ==
-- entry: planes_are_planes
-- input { 0.0f64 } output { true }
-- input { 1.0f64 } output { true }
entry planes_are_planes (up: f64) : bool =
  let data = ([0, 3, 9, 3, 1.5], [0, 4, 9, 2, 1], up)
  let all_of = in_space data
  let some = space.slice (space.gather all_of [4, 2, 0, 1]) 1 3
  let alike [n] (of_space: space.data [n]) (cities: [n]i32) (a: i64) (b: i64) =
    let (c, d) = (i32.i64 a, i32.i64 b)
    let (p, q) = (space.point of_space c, space.point of_space d)
    let (r, s) = (plane.point data cities[a], plane.point data cities[b])
    in space.dist of_space p q == plane.dist data r s
       && all (\m -> space.may_be_below of_space p q m == plane.may_be_below data r s m) (iota 14)
  in all id (flatten (tabulate_2d 5 5 (alike all_of (map i32.i64 (iota 5)))))
     && all id (flatten (tabulate_2d 3 3 (alike some [2, 0, 1])))
