-- | Best-improvement 2-opt, one climber a thread block, on a matrix: lanes side by side meet the same column, which is
-- a row of the matrix; with columns of their own each distance would be a sector of another row.

import "../core/gpu_metric"
import "../core/tour"
import "climb"
import "restarts"

module mk_column_climber (M: gpu_metric) (S: shape) : climber with data [n] = M.data [n] = {
  module W = M.weight
  module T = mk_block_tour M S
  module C = mk_climb T
  type~ data [n] = M.data [n]

  def rows = i32.i64 S.rows
  def lanes = i32.i64 S.lanes

  -- | The chunks of all columns, the columns of a chunk, and the tiles that it meets, up to n / 2 before a column.
  def cut (n: i32) : (i32, i32, i32) =
    let tiles = (n + rows - 1) / rows
    let width (chunks: i32) = (n + chunks - 1) / chunks
    let met (chunks: i32) = i32.min tiles ((n / 2 + width chunks) / rows + 3)
    let cost (chunks: i32) = (chunks * met chunks + lanes - 1) / lanes * (width chunks + 4)
    let chunks = cheapest 63 cost
    in (chunks, width chunks, met chunks)

  -- A unit is a tile of rows and a chunk of columns; all units meet each move. Lanes keep their largest gain, with the
  -- first and the last column that reached it. **Work:** O(n^2) a move. **Span:** O(n^2 / lanes).
  def climb [n] (data: data [n]) (_: i32) (limit: i32) (start: [n]i32) : state [n] =
    let n32 = i32.i64 n
    let tiles = (n32 + rows - 1) / rows
    let (chunks, width, met) = cut n32
    let best (points: [n]M.point) (succ: [n]W.t) =
      -- The positions i0 and j at which a unit's rows and columns begin.
      let place (unit: i32) =
        let begin = unit / met * width
        let last = i32.max 0 (i32.min n32 (begin + width) - 1)
        let tile = last / rows - unit % met
        in ((if tile < 0 then tile + tiles else tile) * rows, begin)
      let lane (l: i64): (W.t, i32, i32) =
        #[unsafe]
        let (best, first, last, _, _) =
          loop (best, first, last, unit, base) = (W.i32 0, -1i32, -1i32, i32.i64 l, 0i32)
          while unit < chunks * met do
            let (i0, begin) = place unit
            let j = i32.min (n32 - 1) begin
            let (row, s, prev) = T.tile data points succ i0 j
            let (best, first, last, _, _) =
              loop state = (best, first, last, prev, j)
              for k < i32.min width (n32 - begin) do
                -- A row has no move with itself.
                let itself = if state.4 < i0 then state.4 - i0 + n32 else state.4 - i0
                in T.meet data points succ (row, s) state (!= itself) (base + k)
            in (best, first, last, unit + lanes, base + width)
        in (best, first, last)
      let number (l: i32) (code: i32) =
        let (i0, begin) = place (l + code / width * lanes)
        in (i0, i32.min (n32 - 1) (begin + code % width))
      in T.first_best data points succ number (map lane (iota S.lanes))
    in C.climb data best limit start
}
