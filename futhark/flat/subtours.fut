-- | Subtours that exchanges leave: rings of segments.

import "exchange"
import "orbits"
import "rows"
import "segments"

-- | Return each segment's subtour, by its first one, of up to `most` cuts. **Work:** O(m log most). **Span:** O(log
-- most).
#[noinline]
def subtours [c] [m] (most: i64) (e: exchanges [c] [m]) : [m]i32 =
  let least = least_of_orbits (log4_up most) (walks e)
  in #[unsafe] tabulate m (\r -> i32.min least[2 * r] least[2 * r + 1] >> 1)

-- | Return how many subtours each exchange leaves. **Work:** O(c + m). **Span:** O(log m).
def count_subtours [c] [m] (e: exchanges [c] [m]) (subtour: [m]i32) : [c]i32 =
  let owners = map3 (\o r s -> if i64.i32 s == r then i64.i32 o else -1) e.own (iota m) subtour
  in sums c owners (replicate m 1i32)

-- | Return the number of cities of each subtour, at the segment that names it. **Work:** O(m). **Span:** O(log m).
def subtour_sizes [c] [m] (rows: rows) (e: exchanges [c] [m]) (subtour: [m]i32) : [m]i32 =
  sums m (map i64.i32 subtour) (map (\r -> segment_size rows e (i32.i64 r)) (iota m))

-- | A subtour's rank in its exchange: by its cities, then by the segment that names it. **Work:** O(1).
def rank_of [m] (sizes: [m]i32) (subtour: i32) : i64 =
  (i64.i32 (get sizes subtour) << 32) | i64.i32 subtour

-- | Return the rank of the largest subtour of each exchange. **Work:** O(c + m). **Span:** O(log m).
def largest_subtours [c] [m] (e: exchanges [c] [m]) (subtour: [m]i32) (sizes: [m]i32) : [c]i64 =
  map (i64.max (-1)) (largest_of c (map i64.i32 e.own) (map (rank_of sizes) subtour))

-- | Return the subtour of a rank. **Work:** O(1).
def subtour_of (rank: i64) : i32 = i32.i64 (rank & 0x7fffffff)
