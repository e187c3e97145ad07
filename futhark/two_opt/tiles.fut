-- | Best-improvement 2-opt, one climber a block, for 24 to 32,767 cities: the tour is in shared memory; a lane holds `rows`
-- cities (odd: no bank conflicts) in registers and walks along columns, whose distances serve two moves each.

import "../core/gpu_metric"
import "../core/tour"
import "climb"
import "restarts"

module mk_block_climber (M: gpu_metric) (S: shape) : climber with data [n] = M.data [n] = {
  module W = M.weight
  module T = mk_block_tour M S
  module C = mk_climb T
  type~ data [n] = M.data [n]

  def rows = i32.i64 S.rows
  def lanes = i32.i64 S.lanes

  -- | The chunks of a tile's columns with the fewest column steps and tile beginnings on the longest lane.
  def chunks_of (n: i32) : i32 =
    let tiles = (n + rows - 1) / rows
    let cost (chunks: i32) =
      let rounds = (tiles * chunks + lanes - 1) / lanes
      in rounds * ((n / 2 + chunks - 1) / chunks + 3)
    in cheapest 16 cost

  -- Rows i0, …, i0 + rows - 1 meet columns from i0 + 2 to i + n/2, cyclically; chunk 0 begins inside the tile. Lanes
  -- keep their largest gain, with the first and last column that reached it, to look there for the first move.
  -- **Work:** O(n^2) a move. **Span:** O(n^2 / lanes).
  def climb [n] (data: data [n]) (_: i32) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let wrap = cyclic.wrap n32
    let tiles = (n32 + rows - 1) / rows
    let chunks = chunks_of n32
    let half = n32 / 2
    let width = (half + chunks - 1) / chunks
    -- Columns that a chunk has at most, those inside the tile included: how columns are numbered within a lane.
    let span = rows + width
    let best (points: [n]M.point) (succ: [n]W.t) =
      -- Positions i0 and j of a column, by the unit and the number of the column in it.
      let place (unit: i32) (column: i32) =
        let i0 = unit % tiles * rows
        let offset = if column < rows then column + 2 else unit / tiles * width + column
        in (i0, wrap (wrap (i0 + offset)))
      let lane (l: i64): (W.t, i32, i32) =
        #[unsafe]
        let (best, first, last, _, _) =
          loop (best, first, last, unit, base) = (W.i32 0, -1i32, -1i32, i32.i64 l, 0i32)
          while unit < tiles * chunks do
            let chunk = unit / tiles
            let inside = if chunk == 0 then rows - 2 else 0
            let (i0, j) = place unit (if chunk == 0 then 0 else rows)
            let (row, s, prev) = T.tile data points succ i0 j
            -- One column: the moves of its first `allowed` rows.
            let walk state (allowed: i32) (code: i32) = T.meet data points succ (row, s) state (\r -> r < allowed) code
            let state =
              loop state = (best, first, last, prev, j)
              for k < inside do
                walk state (k + 1) (base + k)
            let (best, first, last, _, _) =
              loop state
              for k < i32.min width (half - chunk * width) do
                walk state rows (base + rows + k)
            in (best, first, last, unit + lanes, base + span)
        in (best, first, last)
      let number (l: i32) (code: i32) = place (l + code / span * lanes) (code % span)
      in T.first_best data points succ number (map lane (iota S.lanes))
    in C.climb data best limit start
}
