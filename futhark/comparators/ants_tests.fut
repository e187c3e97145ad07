-- Ants: powers, tours that are tours, trails that follow the rules.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/testing"
import "../core/tour"
import "../local_search/ils"
import "../local_search/population"
import "../local_search/worker"
import "ants"

module A = mk_ants matrix (mk_population matrix (mk_ils matrix (mk_thread_worker matrix)) threads) threads

-- ==
-- entry: powers
-- input { 16.0 [0, 1, 2, 3, 4, 6, 16] } output { [1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 65536.0] }
entry powers [m] (x: f64) (quarters: [m]i32) : [m]f64 = map (power x) quarters

-- All other cities, in order of their distances.
def lists [n] (data: [n][n]i32) (k: i64) : [n][k]i32 =
  let rank a b = i64.sum (map (\c -> i64.bool (c != a && (data[a, c] < data[a, b] || (data[a, c] == data[a, b] && c < b)))) (iota n))
  let list a =
    let others = map (\j -> if j < a then j else j + 1) (iota (n - 1))
    in take k (scatter (replicate (n - 1) 0i32) (map (rank a) others) (map i32.i64 others))
  in map list (iota n)

-- Whatever the trails, ants make tours.
-- ==
-- entry: walks
-- input { 1i64 0i64 } output { true }
-- input { 2i64 1i64 } output { true }
-- input { 30i64 0i64 } output { true }
-- input { 30i64 3i64 } output { true }
-- input { 30i64 29i64 } output { true }
entry walks (n: i64) (k: i64) : bool =
  let data = taxicab (random_grid n 50)
  let lists = lists data k
  let attractions = tabulate_2d n k (\i j -> if (i + j) % 3 == 0 then 1e-280 else 1e200)
  in all (\s -> is_tour (A.walk data lists attractions true (rng.stream 4 s))) (iota 50)

-- Where all but one neighbour draw hardly, an ant goes there; where all draw alike, everywhere.
-- ==
-- entry: led
-- input { 0i64 } output { 1i64 }
-- input { 5i64 } output { 1i64 }
-- input { -1i64 } output { 9i64 }
entry led (there: i64) : i64 =
  let data = taxicab (random_grid 10 50)
  let lists = lists data 9
  let attractions = tabulate_2d 10 9 (\_ j -> if j == there || there < 0 then 1 else 1e-60)
  let second s =
    let tour = A.walk data lists attractions true (rng.stream 4 s)
    let list = lists[i64.i32 tour[0]]
    in loop at = -1 for j < 9 do if list[j] == tour[1] then j else at
  let counts = hist (+) 0i64 9 (map second (iota 400)) (replicate 400 1)
  in i64.sum (map (\x -> i64.bool (x > 0)) counts)

-- With two ants on a square, weights that tell ranks apart, and limits or none: trails to both neighbours of each city.
def square : [4][4]i32 = [[0, 2, 3, 2], [2, 0, 2, 3], [3, 2, 0, 2], [2, 3, 2, 0]]

def rules (floor: f64) : rules [2] =
  { ants = 2
  , quarters = 4
  , search = 0
  , keep = 0.5
  , weights = [2, 1]
  , elite = 4
  , turns = 0
  , reference = 8
  , floor
  , smoothing = 0.5
  , patience = 1
  }

def around () : colonies [1] [4] [3] = given_colonies 3 [[0, 1, 2, 3]] [8] 1

-- The best tour, known from the first, has at least its own mark; so its trails are at least 0.5 + 4, and the most that all
-- marks together add is 7. With limits, the most is 8 / (0.5 * 8) = 2; idle trails end half-way up to it.
-- ==
-- entry: trails
-- input { 0.0 } output { true }
-- input { 0.25 } output { true }
entry trails (floor: f64) : bool =
  let lists = lists square 3
  let etas = replicate 4 (replicate 3 1)
  let {trails, bests, lengths, steps, idle} = A.forage square lists etas (around ()) (rules floor) {seed = 3, first = 0, from = 0, iterations = 1}
  let on_best i j = square[i, i64.i32 lists[i, j]] == 2
  let within (i: i64) (j: i64) =
    let t = trails[0, i, j]
    in if floor > 0
       then t <= 2 && t >= (0.25 * 2 + 2) / 2 && (!(on_best i j) || t == 2)
       else if on_best i j then t >= 4.5 && t <= 7.5 else t >= 0.5 && t <= 3.5
  let symmetric i j = and (tabulate 3 (\l -> i64.i32 lists[i64.i32 lists[i, j], l] != i || trails[0, i64.i32 lists[i, j], l] == trails[0, i, j]))
  in and (flatten (tabulate_2d 4 3 within))
     && and (flatten (tabulate_2d 4 3 symmetric))
     && and (map2 (==) bests[0] [0, 1, 2, 3])
     && lengths[0] == 8
     && steps[0] == 0
     && idle[0] == if floor > 0 then 0 else 1
