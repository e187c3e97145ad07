-- | Shared parts of tests of climbers: neighbour lists, and the comparison of two populations.

import "population"

-- | The neighbours of each city in order of distance.
def nearest [n] (data: [n][n]i32) (k: i64) : [n][k]i32 =
  let key a b = if a == b then i64.highest else (i64.i32 data[a, b] << 32) | b
  let list a =
    let keys = map (key a) (iota n)
    let ranks = map (\x -> i64.sum (map (\y -> i64.bool (y < x)) keys)) keys
    in take k (scatter (replicate n 0) ranks (map i32.i64 (iota n)))
  in map list (iota n)

-- | Tell whether climbers have the same tours, lengths and steps.
def same_climbers [p] [n] (x: population [p] [n]) (y: population [p] [n]) : bool =
  let x = opaque x
  let y = opaque y
  in and (map2 (\t u -> and (map2 (==) t u)) x.tours y.tours)
     && and (map2 (\t u -> and (map2 (==) t u)) x.bests y.bests)
     && and (map2 (==) x.lengths y.lengths)
     && and (map2 (==) x.steps y.steps)
