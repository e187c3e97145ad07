-- | The complete 2-opt neighbourhood of one tour on a GPU: a thread keeps positions, its rows, in registers and walks
-- along columns, which a warp shares. Distances are approximate (`screen`): only what may be best is looked at closely.

import "../core/gpu_metric"
import "../core/tour"
import "descent"
import "diagonals"
import "screen"

-- | The division of the neighbourhood among threads.
module type division = {
  -- | Positions that a thread keeps.
  val rows : i64

  -- | The fewest threads that share the work, if a thread then has `least` columns; and the most columns of a thread.
  val units : i64
  val least : i64
  val most : i64

  -- | The same where positions propose: each such unit leaves an array of `rows` numbers.
  val proposing_units : i64
}

module mk_rows (S: screen) (D: division) : scanner with data [n] = S.data [n] = {
  module W = S.weight
  type~ data [n] = S.data [n]

  -- | The tour's points, and the edges that leave its positions.
  type line [n] = ([n]S.point, [n]i32)

  def rows = i32.i64 D.rows

  def lay [n] (data: data [n]) (tour: [n]i32) : line [n] =
    let points = map (S.point data) tour
    let edge (p: i64) = #[unsafe] S.exact data points[p] points[cyclic_64.next n p]
    in (points, map edge (iota n))

  def make_move [n] (data: data [n]) ((points, succ): line [n]) (found: finding) : line [n] =
    #[unsafe]
    let at (p: i32) = copy points[if p == i32.i64 n then 0 else i64.i32 p]
    let turn_one (p: i64) =
      let ({gain = _, i, j}, _) = seen_by p found
      let edge (p: i32) =
        if p == i
        then S.exact data (at i) (at j)
        else if p == j
        then S.exact data (at (i + 1)) (at (j + 1))
        else succ[i64.i32 (if p > i && p < j then i + j - p else p)]
      in (at (reversal i j (i32.i64 p)), edge (i32.i64 p))
    in unzip (map turn_one (iota n))

  def tour [n] ((points, _): line [n]) : [n]i32 = map S.city points
  def length [n] _ ((_, succ): line [n]) : i64 = i64.sum (map i64.i32 succ)

  -- The tiles, the columns of a unit, cut at multiples of `width` that tiles share, and the units of a tile.
  def divide (n: i64) (from: i64) (to: i64) (units: i64) (most: i64) : (i64, i32, i32) =
    let tiles = (n + D.rows - 1) / D.rows
    let columns = i64.max 0 (to - from + D.rows - 1)
    let width = i64.max D.least (i64.min most (tiles * columns / units))
    in (tiles, i32.i64 width, i32.i64 ((columns + width - 1) / width + 1))

  -- The walk of a unit: it meets columns j, at `offset` from row 0, with apparent gains less the edge behind j.
  def walk 'a [n]
           (data: data [n])
           ((points, succ): line [n])
           (from: i32)
           (to: i32)
           (i0: i32)
           (chunk: i32)
           (width: i32)
           (idle: bool)
           (start: a)
           (meet: a -> (j: i32) -> (offset: i32) -> [D.rows]W.t -> W.t -> a) : a =
    #[unsafe]
    let n32 = i32.i64 n
    let next = cyclic.next n32
    -- A tour of fewer cities than rows has some rows twice, of which one may be another's: a move is looked at by its numbers.
    let wrap (p: i32) = i64.i32 (i32.min (n32 - 1) (cyclic.wrap n32 p))
    let begin = (i0 + from) / width * width + chunk * width
    let first = i32.max begin (i0 + from)
    let last = i32.min (begin + width) (i0 + to + rows - 1)
    let row = table (D.rows + 1) S.origin (\r -> copy points[wrap (i0 + i32.i64 r)])
    let s = table D.rows (W.i32 0) (\r -> S.weigh succ[wrap (i0 + i32.i64 r)])
    let j = first % n32
    let p = copy points[i64.i32 j]
    let prev = table D.rows (W.i32 0) (\r -> s[r] W.- S.dist data row[r] p)
    -- What a column needs is loaded while the one before it is at work.
    let (found, _, _, _, _) =
      loop (found, prev, j, sj, p) = (start, prev, j, succ[i64.i32 j], copy points[i64.i32 (next j)])
      for k < (if idle then 0 else i32.max 0 (last - first)) do
        let j' = next j
        let ahead = (succ[i64.i32 j'], copy points[i64.i32 (next j')])
        let d = table (D.rows + 1) (W.i32 0) (\r -> S.dist data row[r] p)
        let gains = table D.rows (W.i32 0) (\r -> prev[r] W.- d[r + 1])
        let found = meet found j (first + k - i0) gains (S.weigh sj)
        in (found, table D.rows (W.i32 0) (\r -> s[r] W.- d[r]), j', ahead.0, ahead.1)
    in found

  -- The gain of the move of positions i and j.
  def gain [n] (data: data [n]) ((points, succ): line [n]) (i: i32) (j: i32) : i32 =
    #[unsafe]
    let next = cyclic.next (i32.i64 n)
    let at (p: i32) = copy points[i64.i32 p]
    in succ[i64.i32 i]
       + succ[i64.i32 j]
       - S.exact data (at i) (at j)
       - S.exact data (at (next i)) (at (next j))

  -- Called, not inlined, its result would be copied each pass.

  #[inline]
  def best [n] (data: data [n]) (line: line [n]) (last: finding) (from: i64) (to: i64) : finding =
    let (tiles, width, chunks) = divide n from to D.units D.most
    let (from, to) = (i32.i64 from, i32.i64 to)
    let units = tiles * i64.i32 chunks
    let unit (u: i64): (i32, i32, i32, i32) =
      #[unsafe]
      let (before, passes) = seen_by u last
      let idle = before.gain <= 0
      -- One short division, where it is long enough: it is a tenth of a small unit's work.
      let chunk = if units <= i64.i32 i32.highest then i32.i64 u / i32.i64 tiles else i32.i64 (u / tiles)
      let i0 = i32.i64 (u - i64.i32 chunk * tiles) * rows
      let meet (best: move i32, least: W.t) (j: i32) (offset: i32) (gains: [D.rows]W.t) (sj: W.t) =
        let seems = loop seems = gains[0] for r < D.rows - 1 do W.max seems gains[r + 1]
        in if seems W.+ sj W.< least
           then (best, least)
           else -- The rows to look at as bits, so that all other loops are of constant length, and arrays stay in registers.
                let rows_set =
                  loop set = 0u32
                  for r < D.rows do
                    if gains[r] W.+ sj W.< least then set else set | (1 << u32.i64 r)
                let (best, _) =
                  loop (best, set) = (best, rows_set)
                  while set > 0 do
                    let r = u32.ctz set
                    let d = offset - r
                    let i = (i0 + r) % i32.i64 n
                    let looked =
                      if d < from || d >= to
                      then best
                      else let g = gain data line i j
                           in if g > 0 then better best {gain = g, i = i32.min i j, j = i32.max i j} else best
                    in (looked, set & (set - 1))
                in (best, S.least data (i32.max 1 best.gain))
      let start = (none, S.least data 1)
      let ({gain, i, j}, _) = walk data line from to i0 chunk width idle start meet
      in (gain, i, j, passes + i32.bool (!idle))
    let pick (a, b, c, m) (d, e, f, o) =
      let {gain, i, j} = better {gain = a, i = b, j = c} {gain = d, i = e, j = f}
      in (gain, i, j, i32.max m o)
    -- A reduction of segments, of which there is one, leaves an array on the device; `iota 1` would be taken for what it is.
    let found =
      #[incremental_flattening(only_inner)]
      map (\s ->
             reduce_comm pick
                         (none.gain, none.i, none.j, 0)
                         (map (\u -> unit (s + u)) (iota units)))
          (iota (i64.min n 1))
    in found :> finding

  def keys [n] (data: data [n]) (line: line [n]) (from: i64) (to: i64) : [n]i64 =
    let (tiles, width, chunks) = divide n from to D.proposing_units i64.highest
    let (from, to) = (i32.i64 from, i32.i64 to)
    let unit (tile: i64) (chunk: i64): [D.rows]i64 =
      #[unsafe]
      let i0 = i32.i64 tile * rows
      let meet (bests: [D.rows]i64, least: [D.rows]W.t) (j: i32) (offset: i32) (gains: [D.rows]W.t) (sj: W.t) =
        let over = loop over = gains[0] W.- least[0] for r < D.rows - 1 do W.max over (gains[r + 1] W.- least[r + 1])
        in if over W.+ sj W.< W.i32 0
           then (bests, least)
           else let closely (r: i64) =
                  let d = offset - i32.i64 r
                  in if d < from || d >= to
                     then bests[r]
                     else let g = gain data line ((i0 + i32.i64 r) % i32.i64 n) j
                          in if g > 0 then i64.max bests[r] (proposal_key n g j) else bests[r]
                let bests = table D.rows 0 closely
                let wanted (r: i64) = S.least data (i32.max 1 (i32.i64 (bests[r] >> 32)))
                in (bests, table D.rows (W.i32 0) wanted)
      let start = (replicate D.rows 0i64, replicate D.rows (S.least data 1))
      in (walk data line from to i0 (i32.i64 chunk) width false start meet).0
    let found = map (\chunk -> map (\tile -> unit tile chunk) (iota tiles)) (iota (i64.i32 chunks))
    let most (p: i64) = #[unsafe] loop most = 0 for c < i64.i32 chunks do i64.max most found[c, p / D.rows, p % D.rows]
    in map most (iota n)
}
