-- | Proposals of the edges of a tour by the law of `k_swap`, a tile of the neighbourhood at a time, on a GPU.

import "../core/gpu_metric"
import "../core/tour"

module mk_proposals (M: gpu_metric) (S: {val rows : i64}) = {
  module W = M.weight

  -- | The proposals of the positions i0, …, i0 + rows - 1 (modulo n): gains, 0 for none, and q. Needs n >= 3 rows. At
  -- both ends of the columns some rows have no move.
  def propose [n] (data: M.data [n]) (points: [n]M.point) (succ: [n]W.t) (i0: i32) : ([S.rows]W.t, [S.rows]i32) =
    #[unsafe]
    let n32 = i32.i64 n
    let rows = i32.i64 S.rows
    let zero = W.i32 0
    let half = n32 / 2
    let row = table (S.rows + 1) M.origin (\r -> copy points[i64.i32 (cyclic.wrap n32 (i0 + i32.i64 r))])
    let s = table S.rows zero (\r -> succ[i64.i32 (cyclic.wrap n32 (i0 + i32.i64 r))])
    let j = cyclic.wrap n32 (i0 + 2)
    let prev = table S.rows zero (\r -> s[r] W.- M.dist data row[r] points[i64.i32 j])
    let bests = table S.rows zero (\_ -> zero)
    let qs = table S.rows 0i32 (\_ -> 0)
    -- One column, for the rows first, …, last - 1.
    let column (prev: [S.rows]W.t, bests: [S.rows]W.t, qs: [S.rows]i32, j: i32) (first: i32) (last: i32) =
      let sj = succ[i64.i32 j]
      let p = copy points[i64.i32 (cyclic.next n32 j)]
      let d = M.dists data row p
      let gain r = if i32.i64 r >= first && i32.i64 r < last then prev[r] W.- d[r + 1] W.+ sj else zero
      let gains = table S.rows zero gain
      -- By selections only: a short-circuit "or" would be a branch in the innermost loop.
      let q r =
        let tied = if gains[r] W.== bests[r] then i32.min j qs[r] else qs[r]
        in if gains[r] W.> bests[r] then j else tied
      in ( table S.rows zero (\r -> s[r] W.- d[r])
         , table S.rows zero (\r -> W.max gains[r] bests[r])
         , table S.rows 0i32 q
         , cyclic.next n32 j
         )
    let state = loop state = (prev, bests, qs, j) for k < rows - 1 do column state 0 (k + 1)
    let state = loop state for _k < half - rows do column state 0 rows
    let (_, bests, qs, _) = loop state for k < rows - 1 do column state (k + 1) rows
    in (bests, qs)
}
