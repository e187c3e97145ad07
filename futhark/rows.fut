-- | The complete 2-opt neighbourhood of one tour on a GPU: each thread keeps some consecutive positions, its rows, in
-- registers and walks along columns, which threads of a warp read from the same places.
--
-- A column's distances serve the moves that it ends and those that it begins, as in `tiles`: `rows` moves cost rows + 1
-- distances. They are only about the distances (`screen`): a move is looked at closely where it may be as good as the best so
-- far, which is rare, as a tour of n cities has some n moves that shorten it, among n^2 / 2.

import "descent"
import "gpu_metric"
import "screen"
import "tour"

-- | How the neighbourhood is divided among threads.
module type division = {
  -- | Positions that a thread keeps.
  val rows : i64

  -- | How many threads' work it is to be at least, if a thread then has `least` columns; and the most columns of a thread.
  val units : i64
  val least : i64
  val most : i64

  -- | The same where positions propose: each such unit leaves an array of `rows` numbers.
  val proposing_units : i64
}

module mk_rows (S: screen) (D: division) : scanner with data [n] = S.data [n] = {
  module W = S.weight
  type data [n] = S.data [n]

  -- | The tour, its points, and the edges that leave its positions.
  type line [n] = ([n]i32, [n]S.point, [n]i32)

  local def rows = i32.i64 D.rows

  def lay [n] (data: data [n]) (at: i64 -> i32) : line [n] =
    let lay_one (p: i64) =
      let c = at p
      in (c, S.point data c, S.dist data c (at (if p + 1 == n then 0 else p + 1)))
    in unzip3 (map lay_one (iota n))

  def tour [n] ((tour, _, _): line [n]) : [n]i32 = tour
  def length [n] _ ((_, _, succ): line [n]) : i64 = i64.sum (map i64.i32 succ)

  -- Units: how many columns each has, and how many of them a tile of rows has. Columns are cut at multiples of `width`,
  -- wherever a tile begins, so that neighbouring tiles walk along the same columns at the same time.
  local
  def divide (n: i64) (from: i64) (to: i64) (units: i64) (most: i64) : (i64, i32, i32) =
    let tiles = (n + D.rows - 1) / D.rows
    let columns = i64.max 0 (to - from + D.rows - 1)
    let width = i64.max D.least (i64.min most (tiles * columns / units))
    in (tiles, i32.i64 width, i32.i64 ((columns + width - 1) / width + 1))

  -- The walk of a unit. Each column j, at `offset` from the first row's position, is met with what its moves seem to gain,
  -- less the length of the edge that leaves j.
  local
  def walk 'a [n]
           (data: data [n])
           ((_, points, succ): line [n])
           (from: i32)
           (to: i32)
           (i0: i32)
           (chunk: i32)
           (width: i32)
           (start: a)
           (meet: a -> (j: i32) -> (offset: i32) -> [D.rows]W.t -> W.t -> a) : a =
    #[unsafe]
    let n32 = i32.i64 n
    let next (p: i32) = if p + 1 == n32 then 0 else p + 1
    let begin = (i0 + from) / width * width + chunk * width
    let first = i32.max begin (i0 + from)
    let last = i32.min (begin + width) (i0 + to + rows - 1)
    let row = table (D.rows + 1) S.origin (\r -> copy points[i64.i32 ((i0 + i32.i64 r) % n32)])
    let s = table D.rows (W.i32 0) (\r -> S.weigh succ[i64.i32 ((i0 + i32.i64 r) % n32)])
    let j = first % n32
    let p = copy points[i64.i32 j]
    let prev = table D.rows (W.i32 0) (\r -> s[r] W.- S.near data row[r] p)
    let (found, _, _) =
      loop (found, prev, j) = (start, prev, j)
      for k < i32.max 0 (last - first) do
        let sj = S.weigh succ[i64.i32 j]
        let j' = next j
        let p = copy points[i64.i32 j']
        let d = table (D.rows + 1) (W.i32 0) (\r -> S.near data row[r] p)
        let gains = table D.rows (W.i32 0) (\r -> prev[r] W.- d[r + 1])
        let found = meet found j (first + k - i0) gains sj
        in (found, table D.rows (W.i32 0) (\r -> s[r] W.- d[r]), j')
    in found

  -- The gain of the move of positions i and j.
  local
  def gain [n] (data: data [n]) ((tour, _, succ): line [n]) (i: i32) (j: i32) : i32 =
    #[unsafe]
    let next (p: i32) = if p + 1 == i32.i64 n then 0 else p + 1
    let city (p: i32) = tour[i64.i32 p]
    in succ[i64.i32 i]
       + succ[i64.i32 j]
       - S.dist data (city i) (city j)
       - S.dist data (city (next i)) (city (next j))

  def best [n] (data: data [n]) (line: line [n]) (idle: bool) (from: i64) (to: i64) : move i32 =
    let (tiles, width, chunks) = divide n from to D.units D.most
    let (from, to) = (i32.i64 from, i32.i64 to)
    let unit (u: i64): move i32 =
      #[unsafe]
      let i0 = i32.i64 (u % tiles) * rows
      let meet (best: move i32, least: W.t) (j: i32) (offset: i32) (gains: [D.rows]W.t) (sj: W.t) =
        let seems = loop seems = gains[0] for r < D.rows - 1 do W.max seems gains[r + 1]
        in if seems W.+ sj W.< least
           then (best, least)
           else let best =
                  loop best for r < rows do
                    let d = offset - r
                    let i = (i0 + r) % i32.i64 n
                    in if d < from || d >= to
                       then best
                       else let g = gain data line i j
                            in if g > 0 then better best {gain = g, i = i32.min i j, j = i32.max i j} else best
                in (best, S.least data (i32.max 1 best.gain))
      let start = (none, S.least data 1)
      in if idle then none else (walk data line from to i0 (i32.i64 (u / tiles)) width start meet).0
    let pick (a, b, c) (d, e, f) =
      let m = better {gain = a, i = b, j = c} {gain = d, i = e, j = f}
      in (m.gain, m.i, m.j)
    let (gain, i, j) =
      reduce_comm pick
                  (none.gain, none.i, none.j)
                  (map (\u -> let m = unit u in (m.gain, m.i, m.j)) (iota (tiles * i64.i32 chunks)))
    in {gain, i, j}

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
      in (walk data line from to i0 (i32.i64 chunk) width start meet).0
    let found = map (\chunk -> map (\tile -> unit tile chunk) (iota tiles)) (iota (i64.i32 chunks))
    let most (p: i64) = #[unsafe] loop most = 0 for c < i64.i32 chunks do i64.max most found[c, p / D.rows, p % D.rows]
    in map most (iota n)
}
