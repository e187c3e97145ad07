-- | Tours after their exchanges: the segments in the order of the walk that begins with the first one.

import "../local_search/route"
import "exchange"
import "orbits"
import "segments"

-- | p tours of n cities, the position of each city on them, and their lengths.
type population [p] [n] = {tours: [p][n]i32, places: [p][n]i32, lengths: [p]i64}

-- | The place of each segment of m cuts on the new tours: its direction, upwards or not, and the new position of its first city.
type layout [m] = {up: [m]bool, start: [m]i32}

-- | Rank the segments of one exchange for each tour; tell which exchanges have cuts and leave one tour.
--
-- A segment is walked in the direction in which the first one is reached again. `most` is the most cuts of an exchange.
-- **Work:** O(m log most). **Span:** O(log most).
def layout_of [p] [m] (n: i64) (most: i64) (e: exchanges [p] [m]) : (layout [m], [p]bool) =
  #[unsafe]
  let n32 = i32.i64 n
  let first (x: i64) = 2 * get e.off e.own[x / 2]
  let next = map2 (\x y -> if y == first x then -1 else y) (iota (m * 2)) (walks e)
  let weights = tabulate (m * 2) (\x -> segment_size n e (i32.i64 (x / 2)))
  let (left, ends) = sums_to_end (log4_up (most + 1)) weights next
  let up = tabulate m (\r -> ends[2 * r])
  let whole (off: i32) (size: i32) = size > 1 && ends[2 * i64.i32 off] && left[2 * i64.i32 off] == n32
  in ( {up, start = tabulate m (\r -> n32 - left[2 * r + i64.bool (!up[r])])}
     , map2 whole e.off e.size
     )

-- Return the segment of each position of p tours, which have one exchange each. **Work:** O(p n). **Span:** O(log (p n)).
local
def segments_of [p] [m] (n: i64) (e: exchanges [p] [m]) : [p * n]i32 =
  #[unsafe]
  -- A segment begins behind its cut; one that begins with the tour, or goes on there, is the last of its exchange.
  let begins (r: i64) = if e.cut[r] + 1 < i32.i64 n then i64.i32 (get e.pair e.own[r]) * n + i64.i32 e.cut[r] + 1 else -1
  let upto = scan (+) 0 (scatter (replicate (p * n) 0i32) (map begins (iota m)) (replicate m 1i32))
  let before (a: i64) = if a == 0 then 0 else upto[a * n - 1]
  let segment (x: i64) =
    let a = x / n
    let count = upto[x] - before a
    in e.off[a] + (if count == 0 then e.size[a] else count) - 1
  in tabulate (p * n) segment

-- | Make the exchanges that are good and leave one tour, one for each tour; tell which are made.
--
-- **Work:** O(p n + m log most). **Span:** O(log (p n)).
#[noinline]
def apply [p] [n] [m] ({tours, places, lengths}: population [p] [n]) (e: exchanges [p] [m]) (good: [p]bool) : (population [p] [n], [p]bool) =
  #[unsafe]
  let most = i64.i32 (i32.max 1 (i32.maximum e.size))
  let ({up, start}, whole) = layout_of n most e
  let made = map2 (&&) good whole
  let segments = segments_of n e
  let new (a: i64) (q: i64): i32 =
    if !made[a]
    then i32.i64 q
    else let r = segments[a * n + q]
         let behind = wrap (i32.i64 n) (i32.i64 q - get e.cut r - 1)
         let before = wrap (i32.i64 n) (get e.cut (next_cut e r) - i32.i64 q)
         in get start r + (if get up r then behind else before)
  let to = kept_apart (tabulate (p * n) (\x -> new (x / n) (x % n)))
  let tour = flatten tours
  let bases = map (\x -> x / n * n) (iota (p * n))
  let tours = scatter (replicate (p * n) 0i32) (map2 (\base q -> base + i64.i32 q) bases to) tour
  in ( { tours = unflatten tours
       , places = tabulate_2d p n (\a city -> to[a * n + i64.i32 places[a, city]])
       , lengths = map3 (\l g f -> if f then l - g else l) lengths e.gain made
       }
     , made
     )
