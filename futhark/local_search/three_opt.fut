-- | Sequential 3-opt over neighbour lists (Lin, Kernighan 1973; Johnson, McGeoch 1997): the moves of one city.

import "../core/metric"
import "../core/rng"
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

-- | The number of cities at the ends of a move's edges.
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

-- | The choice of moves: those of 3-opt with a segment of at most `segment` cities, besides 2-opt (3 gives Or-opt); a
-- city's `best` move or the first, or the best of `draws`. Chains that are `straight` reverse no segment.
type choice = {segment: i32, best: bool, draws: i32, straight: bool}

-- A move as it is found: on which side, of what kind, by which neighbour of t2 and which of t4.
type found = {gain: i64, s: i32, kind: i32, i: i32, j: i32}

def nothing : found = {gain = 0, s = 0, kind = 0, i = 0, j = 0}

-- | The better of two, the first among equals.
#[inline]
def closed (best: found) (other: found) : found = if other.gain > best.gain then other else best

-- The tour of n cities as seen from a position p in the direction s = 1 or -1.
type view = {n: i32, s: i32, p: i32}

#[inline]
def next (v: view) (p: i32) : i32 = wrap v.n (p + v.s)

#[inline]
def back (v: view) (p: i32) : i32 = wrap v.n (p - v.s)

-- | The distance of a position behind the next one to that of the view.
#[inline]
def order (v: view) (p: i32) : i32 =
  let o = v.s * (p - next v v.p)
  in if o < 0 then o + v.n else o

-- | Tell whether t6 lies behind t5, of a move of three edges with t3 and t5 in the orders `o3` and `o5`; or before it.
#[inline]
def is_ahead (kind: i32) (o3: i32) (o5: i32) : bool = kind == 3 || (kind == 2 && o5 < o3)

-- | The neighbours of each city, with their distances, as `distance << 32 | city`.
type links [n] [k] = [n][k]i64

#[inline]
def distance_of (link: i64) : i64 = link >> 32

#[inline]
def city_of (link: i64) : i32 = i32.i64 (link & 0xffffffff)

-- | The number of random words of a draw.
def draw_words : i64 = 3

module mk_three_opt (M: metric) = {
  -- | The distance of two cities.
  #[inline]
  def between [n] (data: M.data [n]) (a: i32) (b: i32) : i64 =
    i64.i32 (M.dist data (M.point data a) (M.point data b))

  -- | The neighbour lists of m cities, from number `first` on, with their distances. **Work:** O(m k).
  def links_from [n] [m] [k] (data: M.data [n]) (first: i64) (lists: [m][k]i32) : [m][k]i64 =
    let link a b = (between data (i32.i64 (first + a)) b << 32) | i64.i32 b
    in map2 (\a list -> map (link a) list) (iota m) lists

  -- | Those of all cities. **Work:** O(n k).
  def links_of [n] [k] (data: M.data [n]) (lists: [n][k]i32) : links [n] [k] = links_from data 0 lists

  -- | The better of a move and one of three edges, as seen by `v` from t1, where allowed; t3 has the order `o3`.
  #[inline]
  def closed_by [n]
                (data: M.data [n])
                (choice: choice)
                (r: route [n])
                (v: view)
                (t1: i32, o3: i32, t4: i32, t5: i32)
                (best: found)
                ({gain = g, s, kind, i, j}: found) : found =
    let p5 = position r t5
    let o5 = order v p5
    let t6 = at r (if is_ahead kind o3 o5 then next v p5 else back v p5)
    let gain = g + between data t5 t6 - between data t6 t1
    -- Whether the segments that end before the orders a < b, or the rest, are short.
    let short a b = i32.min a (i32.min (b - a) (v.n - b)) <= choice.segment
    let allowed =
      if kind == 2
      then t6 != t4 && (if o5 < o3 then short (o5 + 1) o3 else short o3 o5)
      else if kind == 3
      then short (o5 + 1) (o3 + 1)
      else o5 > 0 && short o5 (o3 + 1)
    in if allowed then closed best {gain, s, kind, i, j} else best

  -- The move that was found from t1.
  def found_move [n] [k] (links: links [n] [k]) (r: route [n]) (t1: i32) ({gain, s, kind, i, j}: found) : move =
    let v = {n = i32.i64 n, s, p = position r t1}
    let t2 = at r (next v v.p)
    let t3 = city_of (#[unsafe] links[i64.i32 t2, i64.i32 i])
    let p3 = position r t3
    let t4 = at r (if kind <= 2 then back v p3 else next v p3)
    let t5 = city_of (#[unsafe] links[i64.i32 t4, i64.i32 j])
    let p5 = position r t5
    let t6 = at r (if is_ahead kind (order v p3) (order v p5) then next v p5 else back v p5)
    in {gain, kind, t1, t2, t3, t4, t5, t6}

  -- | The better of a move and those of t1 by neighbour i of t2; and whether the next is worth a look.
  #[inline]
  def by_neighbour [n] [k]
                   (data: M.data [n])
                   (links: links [n] [k])
                   (choice: choice)
                   (r: route [n])
                   (v: view)
                   (t1: i32)
                   (best: found)
                   (i: i32) : (found, bool) =
    let k32 = i32.i64 k
    let d x y = between data x y
    let on (best: found) = choice.best || best.gain <= 0
    let t2 = at r (next v v.p)
    let link = #[unsafe] links[i64.i32 t2, i64.i32 i]
    let g1 = d t1 t2 - distance_of link
    in if g1 <= 0
       then (best, false)
       else let t3 = city_of link
            let p3 = position r t3
            let o3 = order v p3
            -- t4 before t3.
            let t4 = at r (back v p3)
            let g = g1 + d t3 t4
            let best = if t4 == t2 then best else closed best {gain = g - d t4 t1, s = v.s, kind = 1, i, j = 0}
            let (best, _) =
              loop (best, j) = (best, if t4 == t2 then k32 else 0)
              while j < k32 && on best do
                let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
                let g2 = g - distance_of link
                in if g2 <= 0
                   then (best, k32)
                   else (closed_by data choice r v (t1, o3, t4, city_of link) best {gain = g2, s = v.s, kind = 2, i, j}, j + 1)
            -- t4 behind t3.
            let t4 = at r (next v p3)
            let g = g1 + d t3 t4
            let (best, _) =
              loop (best, j) = (best, if t3 == t1 then k32 else 0)
              while j < k32 && on best do
                let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
                let g2 = g - distance_of link
                in if g2 <= 0
                   then (best, k32)
                   else if order v (position r (city_of link)) >= o3
                   then (best, j + 1)
                   else let by kind best = closed_by data choice r v (t1, o3, t4, city_of link) best {gain = g2, s = v.s, kind, i, j}
                        in (by 4 (by 3 best), j + 1)
            in (best, true)

  -- | A move of a city that shortens the tour: (t1, t2) goes, on either side; t3 is a neighbour of t2, t5 one of t4,
  -- and partial gains stay positive (Lin, Kernighan 1973). Lists are in order of distances. **Work:** O(k^2).
  def move_of [n] [k] (data: M.data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (t1: i32) : move =
    let k32 = i32.i64 k
    let on (best: found) = choice.best || best.gain <= 0
    let (best, _) =
      loop (best, s) = (nothing, 1)
      while s >= -1 && on best do
        let v = {n = i32.i64 n, s, p = position r t1}
        let (best, _) =
          loop (best, i) = (best, 0)
          while i < k32 && on best do
            let (best, more) = by_neighbour data links choice r v t1 best i
            in (best, if more then i + 1 else k32)
        in (best, s - 2)
    in if best.kind == 0 then no_move else found_move links r t1 best

  -- | The best move by the edge of t1 on side s, neighbours i of t2 and j of t4, on either side. **Work:** O(1).
  def draw_of [n] [k]
              (data: M.data [n])
              (links: links [n] [k])
              (choice: choice)
              (r: route [n])
              (t1: i32)
              (s: i32)
              (i: i32)
              (j: i32) : found =
    let d x y = between data x y
    let v = {n = i32.i64 n, s, p = position r t1}
    let t2 = at r (next v v.p)
    let link = #[unsafe] links[i64.i32 t2, i64.i32 i]
    let t3 = city_of link
    let p3 = position r t3
    let o3 = order v p3
    let g1 = d t1 t2 - distance_of link
    -- t4 before t3.
    let t4 = at r (back v p3)
    let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
    let g = g1 + d t3 t4
    let best = closed nothing {gain = g - d t4 t1, s, kind = 1, i, j}
    let best = closed_by data choice r v (t1, o3, t4, city_of link) best {gain = g - distance_of link, s, kind = 2, i, j}
    let best = if t4 == t2 then nothing else best
    -- t4 behind t3.
    let t4 = at r (next v p3)
    let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
    let t5 = city_of link
    let g = g1 + d t3 t4 - distance_of link
    let ahead = order v (position r t5) < o3
    let by kind best = if ahead then closed_by data choice r v (t1, o3, t4, t5) best {gain = g, s, kind, i, j} else best
    let best = by 4 (by 3 best)
    in if t3 == t1 then nothing else best

  -- | Draw number d: a move as `draw_of` finds it, and its city.
  def draw [n] [k] (data: M.data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: queue [n]) (key: rng.key) (d: i32) : (found, i32) =
    let k32 = i32.i64 k
    let word = draw_words * i64.i32 d
    let c = peek q (rng.below key word (waiting q))
    let s = 1 - 2 * i32.u64 (rng.word key word & 1)
    let i = rng.below key (word + 1) k32
    let j = rng.below key (word + 2) k32
    in (draw_of data links choice r c s i j, c)
}
