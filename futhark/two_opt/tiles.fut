-- | Best-improvement 2-opt, one climber a thread block, for 24 to 32,767 cities: the tour is in shared memory, and a
-- lane holds `rows` consecutive cities in registers and walks along columns, whose distances serve two moves each. An
-- odd number of rows avoids bank conflicts.

import "../core/gpu_metric"
import "../core/tour"
import "block_tour"
import "climb"
import "restarts"

module mk_block_climber (M: gpu_metric) (S: shape) : climber with data [n] = M.data [n] = {
  module W = M.weight
  module T = mk_block_tour M S
  module C = mk_climb T
  type~ data [n] = M.data [n]

  local def rows = i32.i64 S.rows
  local def lanes = i32.i64 S.lanes

  local
  -- | The chunks of a tile's columns with the fewest column steps and tile beginnings on the longest lane.
  def chunks_of (n: i32) : i32 =
    let tiles = (n + rows - 1) / rows
    let cost (chunks: i32) =
      let rounds = (tiles * chunks + lanes - 1) / lanes
      in rounds * ((n / 2 + chunks - 1) / chunks + 3)
    let (chunks, _) =
      loop (best, least) = (1, cost 1)
      for c < 15 do
        if cost (c + 2) < least then (c + 2, cost (c + 2)) else (best, least)
    in chunks

  -- Rows i0, …, i0 + rows - 1 meet columns from i0 + 2 to i + n/2, cyclically; chunk 0 begins inside the tile. Lanes
  -- keep their largest gain, with the first and last column that reached it, to look there for the first move.
  -- **Work:** O(n^2) a move. **Span:** O(n^2 / lanes).
  def climb [n] (data: data [n]) (_: i32) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let zero = W.i32 0
    -- Less than any gain. Not W.lowest, which CUDA computes as 1 / 0, each time.
    let least = W.i32 i32.lowest
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
          loop (best, first, last, unit, base) = (zero, -1i32, -1i32, i32.i64 l, 0i32)
          while unit < tiles * chunks do
            let chunk = unit / tiles
            let inside = if chunk == 0 then rows - 2 else 0
            let (i0, j) = place unit (if chunk == 0 then 0 else rows)
            let row = map (\r -> points[i64.i32 (wrap (i0 + i32.i64 r))]) (iota (S.rows + 1))
            let s = map (\r -> succ[i64.i32 (wrap (i0 + i32.i64 r))]) (iota S.rows)
            let prev =
              let p = points[i64.i32 j]
              in map (\r -> s[r] W.- M.dist data row[r] p) (iota S.rows)
            -- One column: the moves of its first `allowed` rows, and their largest gain.
            let walk (best, first, last, prev: [S.rows]W.t, j) (allowed: i32) (code: i32) =
              let sj = succ[i64.i32 j]
              let j = cyclic.next n32 j
              let p = points[i64.i32 j]
              let d = M.dists data row p
              let gain r = if i32.i64 r < allowed then prev[r] W.- d[r + 1] else least
              let most = (#[sequential] reduce W.max least (map gain (iota S.rows))) W.+ sj
              in ( W.max best most
                 , if most W.> best then code else first
                 , if most W.>= best then code else last
                 , map (\r -> s[r] W.- d[r]) (iota S.rows)
                 , j
                 )
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
