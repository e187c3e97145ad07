-- The moves of a city: of every kind, exact, and with the edges that they say.

import "metric"
import "route"
import "testing"
import "three_opt"
import "tour"

module T = mk_three_opt matrix

def length [n] (data: [n][n]i32) (tour: [n]i32) : i64 =
  i64.sum (map2 (\a b -> T.between data a b) tour (rotate 1 tour))

-- All others, in order of their distances from a city, by insertion.
def sorted [n] (data: [n][n]i32) (k: i64) : [n][k]i32 =
  let key a b = if a == b then i64.highest else (T.between data (i32.i64 a) (i32.i64 b) << 32) | b
  let nearest a =
    let keys =
      loop keys = map (key a) (iota n)
      for i < n do
        (loop keys for j < n - 1 - i do
           let x = copy keys[j]
           let y = copy keys[j + 1]
           let keys = keys with [j] = i64.min x y
           in keys with [j + 1] = i64.max x y)
    in map (\x -> i32.i64 (x & 0xffffffff)) (take k keys)
  in map nearest (iota n)

def links [n] (data: [n][n]i32) (k: i64) : links [n] [k] = T.links_of data (sorted data k)

-- The kinds of the moves of all cities of several tours, each made by itself: a set bit a kind, or -1 if a tour was none, or
-- not shorter by the gain.
-- ==
-- entry: kinds
-- input { 20i64 3 false } output { 30 }
-- input { 20i64 20 false } output { 30 }
-- input { 20i64 20 true } output { 30 }
-- input { 6i64 6 true } output { 30 }
-- input { 3i64 3 false } output { 1 }
entry kinds (n: i64) (segment: i32) (best: bool) : i32 =
  let data = taxicab (random_grid n 50)
  let links = links data (n - 1)
  let kind_of s c =
    let tour = random_tour n 5 s
    let r = route_of tour
    let move = T.move_of data links {segment, best} r (i32.i64 c)
    let (r, _) = make (r, empty_log ()) move
    let after = take n r
    let exact = is_tour after && length data tour - length data after == move.gain && (move.gain > 0) == (move.kind > 0)
    in if exact then 1 << move.kind else -1
  let found = flatten (tabulate_2d 40 n kind_of)
  in if any (< 0) found then -1 else reduce (|) 0 found & (if n > 3 then 30 else 31)

-- The best of a city's moves gains no less than the first.
-- ==
-- entry: best_is_no_less
-- input { 15i64 } output { true }
entry best_is_no_less (n: i64) : bool =
  let data = taxicab (random_grid n 50)
  let links = links data 8
  let gain best c =
    let r = route_of (random_tour n 6 0)
    in (T.move_of data links {segment = i32.i64 n, best} r (i32.i64 c)).gain
  in all (\c -> gain true c >= gain false c) (iota n)

-- Sums of distances leave 32 bits.
-- ==
-- entry: longest_gain
-- input { 1073741823 } output { 3221225469i64 }
entry longest_gain (d: i32) : i64 =
  let far a b = a != b && (b == a + 1 || a == b + 1 || (a + b == 5 && i64.abs (a - b) == 5))
  let data = tabulate_2d 6 6 (\a b -> if far a b && i64.min a b % 2 == 0 && i64.abs (a - b) == 1 then d else 0)
  let r = route_of (map i32.i64 (iota 6))
  in (T.move_of data (links data 5) {segment = 6, best = true} r 0).gain
