-- | Proposals of a local search of all tours at once: the best 2-opt or or-opt move of every city along its neighbour list.

import "../core/metric"
import "apply"
import "exchange"
import "rows"

-- 2-opt and or-opt moves. The city u at position q gives up its edge to v on side 0, the next, or 1, and joins w of its list.
-- By 2-opt (l = 0) w gives up its edge to x on the same side, and v joins x. By or-opt l cities from u on, away from v, move
-- between w and x, on the same side of w (other = 0) or the other.

-- | A proposal of a city: the gain of its move, 0 for none, and the move by its code.
type proposal = {gain: i64, code: i32}

-- | Return the code of a move: place j in the list, side, number of cities l, and other side. **Work:** O(1).
#[inline]
def code_of (j: i32) (side: i32) (l: i32) (other: i32) : i32 = 16 * j + 8 * side + 2 * l + other

-- | Return j, side, l and other of a move. **Work:** O(1).
#[inline]
def decode (code: i32) : (i32, i32, i32, i32) = (code >> 4, (code >> 3) & 1, (code >> 1) & 3, code & 1)

-- | A move by its cuts: at u, behind the cities that move (none by 2-opt: behind every position), and at w; and the sides.
type move = {at: i32, behind: i32, there: i32, side: i32, there_side: i32, is_three: bool}

-- | Return the cuts of a move of the city at position q of a row, with w at position t. **Work:** O(1).
def move_of (bounds: bounds) (q: i32) (t: i32) (side: i32) (l: i32) (other: i32) : move =
  let there_side = side ^ other
  in { at = within bounds (q - side)
     , behind = if l == 0 then i32.highest else within bounds (if side == 0 then q - l else q + l - 1)
     , there = within bounds (t - there_side)
     , side
     , there_side
     , is_three = l > 0
     }

-- Return the end that an end is joined to. Ends 0 and 1 are those of the cut at u, 2 and 3 behind the cities that move, 4 and 5 at w.
local
def joined ({at = _, behind = _, there = _, side, there_side, is_three}: move) (end: i32) : i32 =
  let (u, w, x) = (side, 4 + there_side, 5 - there_side)
  in if end == u
     then w
     else if end == w
     then u
     else if is_three
     then -- The last city that moves joins x, and v joins the city behind it.
          if end == x
          then 3 - side
          else if end == 3 - side then x else if end == 1 - side then 2 + side else 1 - side
     else if end == x then 1 - side else x

-- The place of a cut of a move among its cuts, by position.
local
def place ({at, behind, there, side = _, there_side = _, is_three = _}: move) (cut: i32) : i32 =
  let before (x: i32) (y: i32) = i32.bool (x < y)
  in if cut == 0
     then before behind at + before there at
     else if cut == 1 then before at behind + before there behind else before at there + before behind there

-- Cut r of a move by position: the position, and what its ends are joined to.
local
def cut_of (move: move) (r: i32) : (i32, i32, i32) =
  let cut = if place move 0 == r then 0 else if place move 1 == r then 1 else 2i32
  let end (e: i32) = let y = joined move (2 * cut + e) in 2 * place move (y >> 1) + (y & 1)
  in (if cut == 0 then move.at else if cut == 1 then move.behind else move.there, end 0, end 1)

-- | Return moves as exchanges, for each the row and the gain. **Work:** O(c log c). **Span:** O(log c).
def exchanges_of_moves [c] (row: [c]i32) (gain: [c]i64) (moves: [c]move) : ?[m].exchanges [c] [m] =
  let size = map (\move -> 2 + i32.bool move.is_three) moves
  let ends = ends_of size
  let m = numbered (total_of ends)
  let off = starts_of size ends
  let cut (r: i64) =
    let o = row_of ends r
    let (cut, x, y) = cut_of (get moves o) (i32.i64 r - get off o)
    in (cut, o, (x + 2 * get off o, y + 2 * get off o))
  let (cut, own, link) = unzip3 (map cut (iota m))
  in {row, off, size, gain, cut, own, link}

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
