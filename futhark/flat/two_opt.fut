-- | Flattened map/reduce 2-opt (Utne and Hansen 2023, sections 5.2.3 and 6.3): the moves of a tour in one array, their pairs of
-- positions by a scan and a segmented scan, their gains by one map, the best one by one reduction.
--
-- Row i holds the moves (i, j), in which the edges that leave positions i and j go. Five cities have five moves in three rows:
--
--     flags              true  false true  false true     a row begins
--     scan               1     1     2     2     3        rows up to here
--     segmented scan     1     2     1     2     1        moves of the row up to here
--     i                  0     0     1     1     2        rows - 1
--     j                  2     3     3     4     4        i + 1 + moves

import "../core/tour"
import "../two_opt/restarts"

-- | The number of moves of a tour of n cities: of edges that share no city.
def moves (n: i64) : i64 = if n < 4 then 0 else n * (n - 3) / 2

-- | Add up within segments, which begin where there is a flag. **Work:** O(m). **Span:** O(log m).
def segmented_sums [m] (flags: [m]bool) (xs: [m]i32) : [m]i32 =
  -- The sum comes first: Futhark 0.25 races in a GPU's scan where the smaller type does.
  let add (x, f) (y, g) = (if g then y else x + y, f || g)
  in map (.0) (scan add (0, false) (zip xs flags))

-- | Flag the moves that begin a row. **Work:** O(n^2). **Span:** O(log n).
def row_flags (n: i64) : [moves n]bool =
  let rows = i64.max 0 (n - 2)
  -- The last move of row 0 would share the city at position 0.
  let width (i: i64) = if i == 0 then n - 3 else n - 2 - i
  let begins = scan (+) 0 (map (\i -> if i == 0 then 0 else width (i - 1)) (iota rows))
  in scatter (replicate (moves n) false) begins (replicate rows true)

-- | The positions (i, j) of all moves, in lexicographic order. **Work:** O(n^2). **Span:** O(log n).
def positions_of_moves (n: i64) : ([moves n]i32, [moves n]i32) =
  let flags = row_flags n
  let is = map (\rows -> rows - 1) (scan (+) 0 (map i32.bool flags))
  let js = map2 (\i count -> i + 1 + count) is (segmented_sums flags (replicate (moves n) 1))
  in (is, js)

-- | The parts of a metric that 2-opt needs; those of `core/metric.fut` have it.
module type distances = {
  type~ data [n]
  type point
  val point [n] : data [n] -> (c: i32) -> point
  val dist [n] : data [n] -> point -> point -> i32
}

module mk_flat_two_opt (M: distances) = {
  -- | Return the best move, of equals the first, or a gain of 0. **Work:** O(n^2). **Span:** O(log n).
  def best [n] [m] (data: M.data [n]) (is: [m]i32, js: [m]i32) (tour: [n]i32) : move i32 =
    #[unsafe]
    let points = map (M.point data) tour
    let next (p: i64) = if p + 1 == n then 0 else p + 1
    let distance (p: i64) (q: i64) = M.dist data points[p] points[q]
    let edges = map (\p -> distance p (next p)) (iota n)
    let gain (i: i32) (j: i32) =
      let (i, j) = (i64.i32 i, i64.i32 j)
      in edges[i] + edges[j] - distance i j - distance (next i) (next j)
    let better (g, k) (h, l) = if g > h || (g == h && k < l) then (g, k) else (h, l)
    let (most, k) = reduce_comm better (0, i64.highest) (zip (map2 gain is js) (iota m))
    in if most > 0 then {gain = most, i = is[k], j = js[k]} else {gain = 0, i = 0, j = 0}

  -- | Make a move. **Work:** O(n). **Span:** O(1).
  def make [n] (tour: [n]i32) ({gain = _, i, j}: move i32) : [n]i32 =
    map (\p -> #[unsafe] tour[i64.i32 (reversal i j (i32.i64 p))]) (iota n)

  -- | Return the length of a tour. **Work:** O(n). **Span:** O(log n).
  def length [n] (data: M.data [n]) (tour: [n]i32) : i64 =
    let edge (p: i64) = M.dist data (M.point data tour[p]) (M.point data tour[if p + 1 == n then 0 else p + 1])
    in #[unsafe] i64.sum (map (\p -> i64.i32 (edge p)) (iota n))

  -- | A climber: from a tour to its local optimum, by at most `limit` passes. **Work:** O(n^2) a pass. **Span:** O(log n) a pass.
  def climb [n] [m] (data: M.data [n]) (pairs: ([m]i32, [m]i32)) (limit: i32) (start: [n]i32) : state [n] =
    let (tour, passes, done) =
      loop (tour, passes, done) = (start, 0, false)
      while !done && passes < limit do
        let move = best data pairs tour
        in (make tour move, passes + 1, move.gain == 0)
    in {tour, length = length data tour, steps = passes - i32.bool done, passes, done}

  -- | Climbers that go on together. **Work:** O(c n^2) a pass. **Span:** O(log n) a pass.
  def climb_all [c] [n] [m] (data: M.data [n]) (pairs: ([m]i32, [m]i32)) (limit: i32) (batch: batch [c] [n]) : batch [c] [n] =
    let (tours, steps, passes, done, _) =
      loop (tours, steps, passes, done, round) = (batch.tours, batch.steps, batch.passes, batch.done, 0i32)
      while round < limit && not (and done) do
        let moves = map (best data pairs) tours
        let works = map (i32.bool <-< not) done
        let done = map (\move -> move.gain == 0) moves
        in (map2 make tours moves, map3 (\s w d -> s + w * i32.bool (not d)) steps works done, map2 (+) passes works, done, round + 1)
    in {tours, lengths = map (length data) tours, steps, passes, done}
}
