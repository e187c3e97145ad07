-- | Closing of fragments to tours: what is left of them in a row follows its curve, and the row is walked from its first city on.

import "../core/rng"
import "curve"
import "ends"
import "fragments"
import "orbits"
import "rows"
import "segments"

-- The head that each of f tails leads to: that of the next fragment of the row, behind the last one that of the first.
local
def heads_behind [r] [f] (rows: rows) (n: i64) (sizes: [r]i32) (heads: [f]i32) : [f]i32 =
  let starts = starts_of sizes (ends_of sizes)
  let behind (g: i32) (head: i32) =
    let row = row_of_city rows n head
    let start = get starts row
    in get heads (if g + 1 == start + get sizes row then start else g + 1)
  in map2 behind (map i32.i64 (iota f)) heads

-- The two neighbours of each city of whole rows: fragments with these ends follow each other.
local
def closed [t] (n: i64) (rows: rows) (first: [t]i32) (second: [t]i32) (ends: []end) : [t](i32, i32) =
  let heads = map (get ends) (where_true (map2 (\i (_, other) -> i <= other) (map i32.i64 (indices ends)) ends))
  let tails = map (\(_, other) -> (get ends other).0) heads
  let heads = map (.0) heads
  let sizes = sums (t / n * instances rows) (map (\x -> i64.i32 (row_of_city rows n x)) heads) (map (const 1i32) heads)
  let behind = heads_behind rows n sizes heads
  let next = scatter (replicate t (-1i32)) (map i64.i32 tails) behind
  let previous = scatter (replicate t (-1i32)) (map i64.i32 behind) tails
  -- A lone city lacks both neighbours; another end lacks one, and has one of these two.
  let both (u: i32) (v: i32) (x: i32) (y: i32) = if u < 0 then (x, y) else if v < 0 then (u, i32.max x y) else (u, v)
  in map4 both first second next previous

-- | Close the fragments of each row along its curve, where those of half of the tours join by `rank` before, for some
-- rounds; return the rows from their first cities on, and the positions. **Work:** O(p n log n). **Span:** O(log (p
-- n)).
def follow [p] [n] (rows: rows) (spots: spots [n]) (keys: [p]rng.key) (rank: i64 -> i64 -> i64 -> i64) (rounds: i32) (fragments: fragments [p * n]) : ([p * n]i32, [p * n]i32) =
  #[unsafe]
  let (first, second, ends) =
    join_along n rows (\a -> joins_along keys[a]) rank rounds fragments (ends_along rows spots keys fragments)
  let around = closed n rows first second ends
  -- State 2 c + s: at city c on the way from neighbour s to the other one.
  let step (x: i64): i32 =
    let c = x / 2
    let d = if x % 2 == 0 then around[c].1 else around[c].0
    let y = 2 * d + i32.bool (i64.i32 around[i64.i32 d].0 != c)
    let first = c / n * n + i64.i32 (bounds_at rows (i32.i64 (c % n))).start
    in if y == 2 * i32.i64 first then -1 else y
  let (left, ends) = sums_to_end (log4_up (most_cities rows)) (replicate (p * n * 2) 1) (tabulate (p * n * 2) step)
  -- The way on from neighbour 0 of a row's first city has an end; the way back to it has none.
  let place (c: i64): i32 =
    let {start, size} = bounds_at rows (i32.i64 (c % n))
    in start + size - left[2 * c + i64.bool (!ends[2 * c])]
  let places = tabulate (p * n) place
  let at = map2 (\c q -> c / n * n + i64.i32 q) (iota (p * n)) places
  in (scatter (replicate (p * n) 0i32) at (map (\c -> i32.i64 (c % n)) (iota (p * n))), places)
