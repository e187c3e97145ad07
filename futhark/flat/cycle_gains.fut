-- | Gains of AB-cycles.

import "../core/metric"
import "cycles"
import "rows"
import "segments"

module mk_cycle_gains (M: metric) = {
  -- | Return what each cycle saves, at its first edge. **Work:** O(w). **Span:** O(log w).
  #[noinline]
  def gains [p] [t] [n] [w] (data: M.data [n]) (pairs: pairs [p] [t] [n]) (d: difference [p] [n] [w]) (c: cycles [w]) : [w]i64 =
    #[unsafe]
    let n32 = i32.i64 n
    let city (end: i32) =
      let x = get d.edges (end >> 1)
      let a = x / n32
      let q = x - a * n32
      in M.point data (get pairs.tours[i64.i32 a] (if end & 1 == 0 then q else stepped pairs.rows q 1))
    let between (x: i32) (y: i32) = i64.i32 (M.dist data (city x) (city y))
    -- Each edge of B has two ends, and counts for half at each.
    let twice (e: i64) =
      let (x, y) = (2 * i32.i64 e, 2 * i32.i64 e + 1)
      in 2 * between x y - between x (get c.link x) - between y (get c.link y)
    in map (/ 2) (wide_sums w (map i64.i32 c.cycle) (map twice (iota w)))
}
