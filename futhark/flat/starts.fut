-- | Tours to start from: along curves, and by fragments that join.

import "../core/metric"
import "../core/rng"
import "apply"
import "curve"
import "fragments"
import "plans"
import "rows"

module mk_starts (M: metric) = {
  -- | Return tours with their positions and the lengths of their rows. **Work:** O(p n). **Span:** O(log (p n)).
  def measured [p] [n] (rows: rows) (data: M.data [n]) (tours: [p][n]i32) (places: [p][n]i32) : population [p] [n] [p * instances rows] =
    #[unsafe]
    let edge (x: i64) =
      let (a, q) = (x / n, i32.i64 (x % n))
      let city (q: i32) = M.point data (get tours[a] q)
      in i64.i32 (M.dist data (city q) (city (stepped rows q 1)))
    let upto = scan (+) 0 (kept_apart (map edge (iota (p * n))))
    let length (row: i32) =
      let base = base_of rows row
      in before 0 upto (base + i64.i32 (bounds_of_row rows row).size) - before 0 upto base
    in {tours, places, lengths = tabulate (p * instances rows) (\row -> length (i32.i64 row))}

  -- | Return tours along curves, of which each has its own. **Work:** O(p n). **Span:** O(log (p n)).
  def curves [p] [n] (rows: rows) (data: M.data [n]) (spots: spots [n]) (keys: [p]rng.key) : population [p] [n] [p * instances rows] =
    let many = numbered (p * n)
    let row = map (\x -> row_at rows (x / n) (i32.i64 (x % n))) (iota many)
    let sizes = tabulate (p * instances rows) (\row -> (bounds_of_row rows (i32.i64 row)).size)
    let sorted = sort_along rows spots keys sizes row (map (\x -> i32.i64 (x % n)) (iota many))
    let at = map2 (\x c -> x / n * n + i64.i32 c) (iota many) sorted
    let places = scatter (replicate many 0i32) at (map (\x -> i32.i64 (x % n)) (iota many))
    in measured rows data (unflatten (sorted :> [p * n]i32)) (unflatten (places :> [p * n]i32))

  -- | Return greedy tours: fragments join by edges of lists, the rest along each tour's own curve: crossover cannot mend
  -- long edges that all share. **Work:** O(p n k) a round, O(p n log n). **Span:** O(k) a round, O(log (p n)).
  def greedy [p] [n] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (spots: spots [n]) (keys: [p]rng.key) (plan: bulk_plan) : population [p] [n] [p * instances rows] =
    let plan = assert (is_joining k plan) plan
    let many = numbered (p * n)
    -- By length, which a hash of tour and edge lengthens; then by the hash.
    let rank (a: i64) (u: i64) (v: i64): i64 =
      #[unsafe]
      let length = i64.i32 (M.dist data (M.point data (i32.i64 u)) (M.point data (i32.i64 v)))
      -- An instance is drawn for by its own numbers of cities.
      let {start, size} = bounds_at rows (i32.i64 u)
      let hash = rng.word keys[a] ((i64.min u v - i64.i32 start) * i64.i32 size + i64.max u v - i64.i32 start)
      let long = 256 * length + (length * i64.i32 plan.noise * i64.u64 (hash >> 56) >> 8)
      in (long << 15) | (i64.u64 (hash >> 40 & 0x3ff) << 5)
    let joined = join_all n many lists rank
    let (tour, places) = follow rows spots keys rank plan.joins (joined :> fragments [p * n])
    in measured rows data (unflatten tour) (unflatten places)
}
