-- | Sequential 3-opt over neighbour lists (Lin, Kernighan 1973; Johnson, McGeoch 1997): the moves of one city.

import "metric"
import "route"

-- | A move: the edges (t1, t2), (t3, t4) and, but for kind 1, (t5, t6) make room for (t2, t3), (t4, t5), (t6, t1), or for
-- (t2, t3), (t4, t1); the tour becomes shorter by `gain`. Kind 0 stands for no move. How the others reconnect, s being the
-- side on which t2 lies of t1:
--
-- - 1: t4 before t3, that is on the side of t2; one reversal.
-- - 2: as 1, then t5 anywhere and t6 on the side that leaves one tour; two reversals.
-- - 3: t4 behind t3, t5 between t2 and t3, t6 behind t5; two segments change places, none is reversed.
-- - 4: t4 behind t3, t5 between t2 and t3, t6 before t5; two reversals.
type move = {gain: i64, kind: i32, t1: i32, t2: i32, t3: i32, t4: i32, t5: i32, t6: i32}

def no_move : move = {gain = 0, kind = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0}

-- | How many cities lie at the ends of a move's edges.
def ends (move: move) : i32 = if move.kind == 0 then 0 else if move.kind == 1 then 4 else 6

-- | One of them: 0 for t1, …, 5 for t6.
def end (move: move) (i: i32) : i32 =
  if i == 0
  then move.t1
  else if i == 1
  then move.t2
  else if i == 2
  then move.t3
  else if i == 3
  then move.t4
  else if i == 4
  then move.t5
  else move.t6

-- | Make a move, as exchanges of two edges. The log must have room for three.
def make [n] ((r, l): (*route [n], *log)) ({gain = _, kind, t1, t2, t3, t4, t5, t6}: move) : (*route [n], *log) =
  let count = if kind == 3 then 3 else if kind >= 2 then 2 else kind
  in loop (r, l) for s < count do
       exchange (r, l)
                (if kind <= 2
                 then (if s == 0 then (t1, t2, t3, t4) else (t1, t4, t5, t6))
                 else if kind == 3
                 then (if s == 0
                       then (t1, t2, t4, t3)
                       else if s == 1
                       then (t1, t3, t5, t6)
                       else (t4, t2, t3, t5))
                 else (if s == 0 then (t1, t2, t5, t6) else (t5, t2, t3, t4)))

-- | Which moves are looked at, and which one is taken: of the moves of 3-opt those that have a segment of at most `segment`
-- cities, besides 2-opt; the `best` of a city's moves, or the first that shortens the tour.
--
-- With `segment` = 3 they contain Or-opt: a segment of up to three cities goes elsewhere, either way round.
type choice = {segment: i32, best: bool}

-- A move as it is found: on which side, of what kind, by which neighbour of t2 and which of t4.
type found = {gain: i64, s: i32, kind: i32, i: i32, j: i32}

-- | The neighbours of each city, with their distances, as `distance << 32 | city`.
type links [n] [k] = [n][k]i64

module mk_three_opt (M: metric) = {
  -- | The distance of two cities.
  #[inline]
  def between [n] (data: M.data [n]) (a: i32) (b: i32) : i64 =
    i64.i32 (M.dist data (M.point data a) (M.point data b))

  -- | Neighbour lists with their distances. **Work:** O(n k).
  def links_of [n] [k] (data: M.data [n]) (lists: [n][k]i32) : links [n] [k] =
    map2 (\a list -> map (\b -> (between data (i32.i64 a) b << 32) | i64.i32 b) list) (iota n) lists

  -- | A move of a city that shortens the tour: the edge (t1, t2) that leaves the city `t1` goes, on either side; t3 is a
  -- neighbour of t2, t5 one of t4, and the sums of what goes less what comes stay positive all along the way. Any move that
  -- shortens the tour is found like this from one of its cities, if the lists are complete (Lin, Kernighan 1973). Lists are
  -- in order of their distances.
  --
  -- **Work:** O(k^2).
  def move_of [n] [k] (data: M.data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (t1: i32) : move =
    let n32 = i32.i64 n
    let k32 = i32.i64 k
    let p1 = position r t1
    -- The tour as seen from t1 in the direction s, from t2 on; `order` says how far behind t2 a position lies.
    let next s p = wrap n32 (p + s)
    let back s p = wrap n32 (p - s)
    let order s p =
      let o = s * (p - next s p1)
      in if o < 0 then o + n32 else o
    let length_of link = link >> 32
    let city_of link = i32.i64 (link & 0xffffffff)
    let d x y = between data x y
    let on (best: found) = choice.best || best.gain <= 0
    -- Whether the segments that end before the orders u < v, or the rest, are short.
    let short u v = i32.min u (i32.min (v - u) (n32 - v)) <= choice.segment
    let closed (best: found) gain s kind i j = if gain > best.gain then {gain, s, kind, i, j} else best
    let (best, _) =
      loop (best, s) = ({gain = 0, s = 0, kind = 0, i = 0, j = 0}, 1)
      while s >= -1 && on best do
        let t2 = at r (next s p1)
        let first = d t1 t2
        let (best, _) =
          loop (best, i) = (best, 0)
          while i < k32 && on best do
            let link = #[unsafe] links[i64.i32 t2, i64.i32 i]
            let g1 = first - length_of link
            in if g1 <= 0
               then (best, k32)
               else let t3 = city_of link
                    let p3 = position r t3
                    let o3 = order s p3
                    -- t4 before t3.
                    let t4 = at r (back s p3)
                    let g = g1 + d t3 t4
                    let best = if t4 == t2 then best else closed best (g - d t4 t1) s 1 i 0
                    let (best, _) =
                      loop (best, j) = (best, if t4 == t2 then k32 else 0)
                      while j < k32 && on best do
                        let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
                        let g2 = g - length_of link
                        in if g2 <= 0
                           then (best, k32)
                           else let t5 = city_of link
                                let p5 = position r t5
                                let o5 = order s p5
                                let t6 = at r (if o5 < o3 then next s p5 else back s p5)
                                let gain = g2 + d t5 t6 - d t6 t1
                                let allowed = t6 != t4 && (if o5 < o3 then short (o5 + 1) o3 else short o3 o5)
                                in (if allowed then closed best gain s 2 i j else best, j + 1)
                    -- t4 behind t3.
                    let t4 = at r (next s p3)
                    let g = g1 + d t3 t4
                    let (best, _) =
                      loop (best, j) = (best, if t3 == t1 then k32 else 0)
                      while j < k32 && on best do
                        let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
                        let g2 = g - length_of link
                        in if g2 <= 0
                           then (best, k32)
                           else let t5 = city_of link
                                let p5 = position r t5
                                let o5 = order s p5
                                in if o5 >= o3
                                   then (best, j + 1)
                                   else let t6 = at r (next s p5)
                                        let gain = g2 + d t5 t6 - d t6 t1
                                        let best = if short (o5 + 1) (o3 + 1) then closed best gain s 3 i j else best
                                        let t6 = at r (back s p5)
                                        let gain = g2 + d t5 t6 - d t6 t1
                                        let allowed = o5 > 0 && short o5 (o3 + 1)
                                        in (if allowed then closed best gain s 4 i j else best, j + 1)
                    in (best, i + 1)
        in (best, s - 2)
    in if best.kind == 0
       then no_move
       else let {gain, s, kind, i, j} = best
            let t2 = at r (next s p1)
            let t3 = city_of (#[unsafe] links[i64.i32 t2, i64.i32 i])
            let p3 = position r t3
            let t4 = at r (if kind <= 2 then back s p3 else next s p3)
            let t5 = city_of (#[unsafe] links[i64.i32 t4, i64.i32 j])
            let p5 = position r t5
            let ahead = kind == 3 || (kind == 2 && order s p5 < order s p3)
            let t6 = at r (if ahead then next s p5 else back s p5)
            in {gain, kind, t1, t2, t3, t4, t5, t6}
}
