-- | Tours after their exchanges: the segments in the order of the walk that begins with the first one.

import "exchange"
import "orbits"
import "rows"

-- | p tours of n cities, the position of each city on them, and the lengths of their rows.
type population [p] [n] [r] = {tours: [p][n]i32, places: [p][n]i32, lengths: [r]i64}

-- | The place of each segment of m cuts on the new tours: its direction, upwards or not, and the new position of its first city in its row.
type layout [m] = {up: [m]bool, start: [m]i32}

-- | Rank the segments of one exchange for each row, of at most `most` cuts; tell which have cuts and leave one tour.
-- **Work:** O(m log most). **Span:** O(log most).
def layout_of [r] [m] (rows: rows) (most: i64) (e: exchanges [r] [m]) : (layout [m], [r]bool) =
  #[unsafe]
  let first (x: i64) = 2 * get e.off e.own[x / 2]
  let next = map2 (\x y -> if y == first x then -1 else y) (iota (m * 2)) (walks e)
  let weights = tabulate (m * 2) (\x -> segment_size rows e (i32.i64 (x / 2)))
  let (left, ends) = sums_to_end (log4_up (most + 1)) weights next
  let up = tabulate m (\r -> ends[2 * r])
  let cities (row: i32) = (bounds_of_row rows row).size
  let whole (row: i32) (off: i32) (size: i32) = size > 1 && ends[2 * i64.i32 off] && left[2 * i64.i32 off] == cities row
  in ( {up, start = tabulate m (\r -> cities (get e.row e.own[r]) - left[2 * r + i64.bool (!up[r])])}
     , map3 whole e.row e.off e.size
     )

-- Return the segment of each position of p tours, whose rows have one exchange each. **Work:** O(p n). **Span:** O(log (p n)).
local
def segments_of [r] [m] (p: i64) (n: i64) (rows: rows) (e: exchanges [r] [m]) : [p * n]i32 =
  #[unsafe]
  -- A segment begins behind its cut; one that begins with the row, or goes on there, is the last of its exchange.
  let begins (r: i64): i64 =
    let row = get e.row e.own[r]
    let {start, size} = bounds_of_row rows row
    in if e.cut[r] + 1 < start + size then tour_of rows row * n + i64.i32 e.cut[r] + 1 else -1
  let upto = scan (+) 0 (scatter (replicate (p * n) 0i32) (map begins (iota m)) (replicate m 1i32))
  let segment (x: i64) =
    let row = row_at rows (x / n) (i32.i64 (x % n))
    let base = base_of rows row
    let count = upto[x] - before 0 upto base
    in get e.off row + (if count == 0 then get e.size row else count) - 1
  in tabulate (p * n) segment

-- | Make exchanges that are good and leave one tour; tell which. **Work:** O(p n + m log most). **Span:** O(log (p n)).
#[noinline]
def apply [p] [n] [r] [m] (rows: rows) ({tours, places, lengths}: population [p] [n] [r]) (e: exchanges [r] [m]) (good: [r]bool) : (population [p] [n] [r], [r]bool) =
  #[unsafe]
  let most = i64.i32 (i32.max 1 (i32.maximum e.size))
  let ({up, start}, whole) = layout_of rows most e
  let made = map2 (&&) good whole
  let segments = segments_of p n rows e
  let new (a: i64) (q: i64): i32 =
    let q32 = i32.i64 q
    let row = row_at rows a q32
    in if !(get made row)
       then q32
       else let r = segments[a * n + q]
            let bounds = bounds_of_row rows row
            let behind = steps_between bounds (get e.cut r + 1) q32
            let before = steps_between bounds q32 (get e.cut (next_cut e r))
            in bounds.start + get start r + (if get up r then behind else before)
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
