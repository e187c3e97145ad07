-- | Tests of `descent`, `disjoint`, `bands` and `rows`: both evaluations agree, cut anyhow, and parallel choice is sequential
-- choice.

import "../core/gpu_metric"
import "../core/metric"
import "../core/rng"
import "../core/testing"
import "../core/tour"
import "bands"
import "descent"
import "disjoint"
import "rows"
import "screen"
import "testing"

-- Bands and chunks so small that a few dozen cities cross all their borders.
module narrow = {def width = 5i64 def depth = 3i64}

module scant = {
  def rows = 3i64
  def units = 40i64
  def least = 2i64
  def most = 4i64
  def proposing_units = 12i64
}

module wide = {
  def rows = 9i64
  def units = 524288i64
  def least = 4i64
  def most = 256i64
  def proposing_units = 131072i64
}

-- One copy of each evaluation, which the compiler takes longer to make than all runs take.
module mk_one (S: scanner) = {
  module D = mk_descent S

  #[noinline]
  def scan [n] (data: S.data [n]) (state: descent [n]) (k: i32) (from: i64) (to: i64) : descent [n] = D.scan data state k from to

  #[noinline]
  def descend [n] (data: S.data [n]) (state: descent [n]) (limit: i32) : descent [n] = D.descend data state limit
}

module on_cpu = mk_one (mk_bands grid narrow)
module on_cpu_matrix = mk_one (mk_bands matrix narrow)
module on_gpu = mk_one (mk_rows screened_plane scant)
module on_gpu_wide = mk_one (mk_rows screened_plane wide)
module on_gpu_matrix = mk_one (mk_rows screened_matrix scant)

def screened_grid [n] (xs: [n]i32, ys: [n]i32) : screened [n] =
  screened (fast_data (map f64.i32 xs, map f64.i32 ys, 0)).0

-- A descent by parts of `part` diagonals, to its end.
def by_parts [n] (scan: descent [n] -> i64 -> i64 -> descent [n]) (k: i32) (part: i64) (tour: [n]i32) : descent [n] =
  loop state = given_descent tour
  while !state.done do
    let (state, _) =
      loop (state, from) = (state, 2)
      while from < diagonals_end n do
        let to = i64.min (from + part) (diagonals_end n)
        in (scan state from to, to)
    in turn k state

#[noinline]
def equal [n] (a: descent [n]) (b: descent [n]) : bool =
  let a = opaque a
  let b = opaque b
  in and (map2 (==) a.tour b.tour)
     && a.gained == b.gained
     && a.moves == b.moves
     && a.passes == b.passes
     && a.done == b.done

-- One move a pass: by whole passes, and by parts of any size.
-- ==
-- entry: one_a_pass
-- input { 1i64 9i32 1i64 } output { true }
-- input { 2i64 9i32 1i64 } output { true }
-- input { 3i64 9i32 1i64 } output { true }
-- input { 4i64 9i32 1i64 } output { true }
-- input { 5i64 9i32 2i64 } output { true }
-- input { 8i64 9i32 2i64 } output { true }
-- input { 9i64 4i32 1i64 } output { true }
-- input { 40i64 1i32 3i64 } output { true }
-- input { 41i64 9i32 4i64 } output { true }
-- input { 64i64 900i32 100i64 } output { true }
-- input { 65i64 9000i32 7i64 } output { true }
entry one_a_pass (n: i64) (bound: i32) (part: i64) : bool =
  let cities = random_grid n bound
  let tour = random_tour n 3 0
  let whole = on_cpu.descend cities (given_descent tour) (i32.i64 n * 4)
  let screen = screened_grid cities
  in equal whole (by_parts (\s -> on_cpu.scan cities s 1) 1 part tour)
     && equal whole (on_gpu.descend screen (given_descent tour) (i32.i64 n * 4))
     && equal whole (on_gpu_wide.descend screen (given_descent tour) (i32.i64 n * 4))
     && equal whole (by_parts (\s -> on_gpu.scan screen s 1) 1 part tour)

-- Several moves a pass.
-- ==
-- entry: many_a_pass
-- input { 1i64 9i32 1i64 2i32 } output { true }
-- input { 3i64 9i32 1i64 2i32 } output { true }
-- input { 4i64 9i32 1i64 2i32 } output { true }
-- input { 5i64 9i32 2i64 3i32 } output { true }
-- input { 9i64 4i32 1i64 9i32 } output { true }
-- input { 40i64 1i32 3i64 2i32 } output { true }
-- input { 41i64 9i32 4i64 5i32 } output { true }
-- input { 64i64 900i32 100i64 2i32 } output { true }
-- input { 65i64 9000i32 7i64 2147483647i32 } output { true }
entry many_a_pass (n: i64) (bound: i32) (part: i64) (k: i32) : bool =
  let cities = random_grid n bound
  let tour = random_tour n 3 0
  let whole = by_parts (\s -> on_cpu.scan cities s k) k n tour
  let screen = screened_grid cities
  in equal whole (by_parts (\s -> on_cpu.scan cities s k) k part tour)
     && equal whole (by_parts (\s -> on_gpu.scan screen s k) k part tour)
     && equal whole (by_parts (\s -> on_gpu_wide.scan screen s k) k n tour)

-- A matrix, with distances up to the largest.
-- ==
-- entry: on_matrices
-- input { 4i64 9i32 1i32 } output { true }
-- input { 40i64 9i32 1i32 } output { true }
-- input { 41i64 5000i32 100000i32 } output { true }
entry on_matrices (n: i64) (bound: i32) (factor: i32) : bool =
  let data = map (map (* factor)) (taxicab (random_grid n bound))
  let tour = random_tour n 3 0
  let one = on_cpu_matrix.descend data (given_descent tour) (i32.i64 n * 4)
  let many = by_parts (\s -> on_cpu_matrix.scan data s 4) 4 n tour
  in equal one (on_gpu_matrix.descend data (given_descent tour) (i32.i64 n * 4))
     && equal many (by_parts (\s -> on_gpu_matrix.scan data s 4) 4 3 tour)

-- Made one after the other: the best that is left, and then those that overlap it are dropped.
def sequential [n] (k: i32) (moves: [n](move i32)) : [n]i32 =
  let (ends, _, _, _) =
    loop (ends: *[n]i32, moves, made, more) = (replicate n (-1), moves, 0i32, true)
    while more && made < k do
      let best = reduce better none (filter (\m -> m.gain > 0) moves)
      let more = best.gain > 0
      let ends = if more then ends with [i64.i32 best.i] = best.j else ends
      let left = map (\m -> if m.i <= best.j && best.i <= m.j then none else m) moves
      in (ends, left, made + 1, more)
  in ends

-- Random moves, most of them short, with many equal gains.
-- ==
-- entry: disjoint_is_sequential
-- input { 1i64 1i32 } output { true }
-- input { 2i64 9i32 } output { true }
-- input { 7i64 9i32 } output { true }
-- input { 100i64 1i32 } output { true }
-- input { 100i64 3i32 } output { true }
-- input { 1000i64 2147483647i32 } output { true }
entry disjoint_is_sequential (n: i64) (k: i32) : bool =
  let random (seed: u64) (bound: i32): ([n]i32, [n]i32) =
    let stream = rng.stream seed 0
    in (tabulate n (\c -> rng.below stream c bound), tabulate n (\c -> rng.below stream (c + n) bound))
  let try (seed: u64) =
    let (gains, places) = random seed 40
    let (lengths, _) = random (seed + 100) (i32.i64 n / 8 + 2)
    let moves =
      map4 (\p g q l ->
              let i = if q < 20 then i32.i64 p else i32.i64 p / 2
              let j = i32.min (i32.i64 n - 1) (i + l)
              in if g < 10 || j <= i then none else {gain = g, i, j})
           (iota n)
           gains
           places
           lengths
    in and (map2 (==) (disjoint k moves).0 (sequential k moves))
  in and (map (\s -> try (u64.i64 s)) (iota 5))
