-- | Proposals of a local search of all tours at once: the best 2-opt or or-opt move of every city along its neighbour list.

import "../core/metric"
import "../core/packed"
import "apply"
import "moves"
import "rows"
import "segments"

module mk_proposals (M: metric) = {
  -- The better of a proposal and the best move of position q on a side, the first among equals. **Work:** O(wide).
  local
  def propose_side [n] [k] (data: M.data [n]) (lists: [n][k]i32) (tour: [n]i32) (place: [n]i32) (bounds: bounds) (wide: i32) (q: i32) (best: proposal) (side: i32) : proposal =
    #[unsafe]
    let step = 1 - 2 * side
    let at (t: i32) = M.point data (get tour (within bounds t))
    let dist (a: M.point) (b: M.point) = i64.i32 (M.dist data a b)
    let (u, v) = (at q, at (q + step))
    let gone = dist u v
    -- The cities behind u, away from v, and what closing the gap saves where one, two or three cities move.
    let (e1, e2, e3) = (at (q - step), at (q - 2 * step), at (q - 3 * step))
    let closes (last: M.point) (e: M.point) = dist last e - dist v e
    let (r1, r2, r3) = (closes u e1, closes e1 e2, closes e2 e3)
    let pick (best: proposal) (gain: i64) (code: i32) = if gain > best.gain then {gain, code} else best
    let (best, _) =
      loop (best, j) = (best, 0i32)
      while j < wide do
        let w = lists[i64.i32 (M.city u), i64.i32 j]
        let t = get place w
        let w = M.point data w
        let come = dist u w
        in if come >= gone
           then (best, wide)
           else let behind = if side == 0 then steps_between bounds t q else steps_between bounds q t
                let (x, y) = (at (t + step), at (t - step))
                let (won_x, won_y) = (gone - come + dist w x, gone - come + dist w y)
                -- w may not move itself, nor lose an edge that goes already. It is not v, which is as far from u as the edge that goes.
                let with_l (best: proposal) (l: i32) (last: M.point) (r: i64) =
                  let best = if behind <= l then best else pick best (won_x + r - dist last x) (code_of j side l 0)
                  in if behind < l then best else pick best (won_y + r - dist last y) (code_of j side l 1)
                let best = pick best (won_x - dist v x) (code_of j side 0 0)
                let best = with_l best 1 u r1
                let best = with_l best 2 e1 r2
                in (with_l best 3 e2 r3, j + 1)
    in best

  -- | Return proposals of cities of rows that go on, by `wide` places. **Work:** O(p n wide). **Span:** O(wide).
  def proposals [p] [n] [r] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) ({tours, places, lengths = _}: population [p] [n] [r]) (wide: i32) (goes: [r]bool) : [p * n]proposal =
    #[unsafe]
    let all = pack (lists, tours, places, goes)
    let propose (x: i64) =
      let (lists, tours, places, goes) = unpack all
      let (a, q) = (x / n, i32.i64 (x % n))
      let look = propose_side data lists tours[a] places[a] (bounds_at rows q) wide q
      in if get goes (row_at rows a q) then look (look {gain = 0, code = 0} 0) 1 else {gain = 0, code = 0}
    in kept_apart (tabulate (p * n) propose)
}
