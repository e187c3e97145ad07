-- Crossovers: the child that a pair of tours makes, and where AB-cycles are too long. More is tested from Python.

import "../core/metric"
import "../core/positions"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "eax"
import "edge_exchange"

module X = mk_eax matrix

-- A tour's best child with another tour, and its gain.
def child [n] [k] (data: [n][n]i32) (lists: [n][k]i32) (seed: u64) (children: i32) (a: [n]i32) (b: [n]i32) : ([n]i32, i64) =
  let (e, gain) = X.cross data lists (rng.stream seed 0) children (a, positions a) (b, positions b) (difference (a, positions a) (b, positions b))
  in (apply_exchange a e, gain)

def length [n] (data: [n][n]i32) (tour: [n]i32) : i64 =
  i64.sum (map2 (\a b -> i64.i32 data[i64.i32 a, i64.i32 b]) tour (rotate 1 tour))

-- The cities at which two tours differ, in the order of the first, and which of their ways: next 1, previous 2 on the first, 4 and 8
-- on the other.
-- ==
-- entry: differences
-- input { [0, 1, 2, 3, 4, 5] [3, 2, 1, 0, 5, 4] } output { empty([0]i32) empty([0]i8) }
-- input { [0, 1, 2, 3, 4, 5] [0, 2, 1, 3, 4, 5] } output { [0, 1, 2, 3] [5i8, 6i8, 9i8, 10i8] }
-- input { [3, 2, 1, 0, 5, 4] [0, 2, 1, 3, 4, 5] } output { [3, 2, 1, 0] [9i8, 10i8, 5i8, 6i8] }
-- input { [0, 1, 2, 3, 4] [0, 2, 4, 1, 3] } output { [0, 1, 2, 3, 4] [15i8, 15i8, 15i8, 15i8, 15i8] }
-- input { [0] [0] } output { empty([0]i32) empty([0]i8) }
-- input { empty([0]i32) empty([0]i32) } output { empty([0]i32) empty([0]i8) }
entry differences [n] (a: [n]i32) (b: [n]i32) : ([]i32, []i8) =
  let (left, cities, count) = difference (a, positions a) (b, positions b)
  let cities = take (i64.i32 count) cities
  in (cities, map (\c -> left[i64.i32 c]) cities)

-- Two crossing edges of a square come apart; not without a child, not the other way, not with the tour itself.
-- ==
-- entry: square
-- input { 1 [0, 2, 1, 3] [0, 1, 2, 3] } output { 2i64 4i64 }
-- input { 0 [0, 2, 1, 3] [0, 1, 2, 3] } output { 0i64 6i64 }
-- input { 9 [0, 1, 2, 3] [0, 2, 1, 3] } output { 0i64 4i64 }
-- input { 9 [0, 2, 1, 3] [3, 1, 2, 0] } output { 0i64 6i64 }
entry square (children: i32) (a: [4]i32) (b: [4]i32) : (i64, i64) =
  let data = taxicab ([0, 0, 1, 1], [0, 1, 1, 0])
  let (tour, gain) = child data (replicate 4 []) 0 children a b
  in (gain, length data tour)

-- Children are tours, shorter by what is told; more children never make a longer one.
-- ==
-- entry: children_hold
-- input { 1i64 0i64 } output { true }
-- input { 2i64 1i64 } output { true }
-- input { 3i64 2i64 } output { true }
-- input { 4i64 3i64 } output { true }
-- input { 5i64 0i64 } output { true }
-- input { 12i64 11i64 } output { true }
-- input { 100i64 6i64 } output { true }
entry children_hold (n: i64) (k: i64) : bool =
  let data = taxicab (random_grid n 50)
  let lists = tabulate_2d n k (\a i -> i32.i64 ((a + i + 1) % n))
  let holds s =
    let a = random_tour n 1 s
    let b = random_tour n 2 s
    let (tours, gains) = unzip (map (\c -> child data lists (u64.i64 s) (i32.i64 c) a b) (iota 6))
    in and (map2 (\tour gain -> is_tour tour && gain >= 0 && length data a - length data tour == gain) tours gains)
       && gains[0] == 0
       && and (map2 (<=) (init gains) (tail gains))
  in all holds (iota 30)

-- Three edges of the largest distance go, for three of none: more than 32 bits hold, and less the other way.
-- ==
-- entry: large
-- input { [0, 1, 2, 3, 4, 5] [0, 1, 4, 5, 2, 3] } output { 3221225469i64 [2, 3, 0, 1, 4, 5] }
-- input { [0, 1, 4, 5, 2, 3] [0, 1, 2, 3, 4, 5] } output { 0i64 [0, 1, 4, 5, 2, 3] }
entry large (a: [6]i32) (b: [6]i32) : (i64, [6]i32) =
  let far (u: i64) (v: i64) = let (x, y) = (i64.min u v, i64.max u v) in x % 2 == 1 && y == x + 1 || x == 0 && y == 5
  let data = tabulate_2d 6 6 (\u v -> if far u v then 1073741823 else 0)
  let (tour, gain) = child data (replicate 6 []) 0 9 a b
  in (gain, tour)
