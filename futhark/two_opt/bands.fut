-- | The complete 2-opt neighbourhood of one tour on a CPU, along cyclic diagonals, by bands of positions for caches.

import "../core/metric"
import "../core/tour"
import "descent"
import "diagonals"

module mk_bands
  (M: metric)
  (S: {
    -- | Positions in a band, at most.
    val width : i64

    -- | Diagonals that a core takes at a time.
    val depth : i64
  })
  : scanner with data [n] = M.data [n] = {
  module D = mk_diagonals M
  module L = mk_length M
  type~ data [n] = M.data [n]
  type line [n] = [n]M.point

  def lay [n] (data: data [n]) (tour: [n]i32) : line [n] = map (M.point data) tour
  def tour [n] (line: line [n]) : [n]i32 = map M.city line

  def make_move [n] _ (line: line [n]) (found: finding) : line [n] =
    let ({gain = _, i, j}, _) = seen_by 0 found
    in map (\p -> #[unsafe] line[i64.i32 (reversal i j (i32.i64 p))]) (iota n)

  def length [n] (data: data [n]) (line: line [n]) : i64 = L.line_length data line

  -- How many bands there are, and how many positions each has.
  def banded (n: i64) : (i64, i64) =
    let bands = (n + S.width - 1) / S.width
    in (bands, (n + bands - 1) / bands)

  -- The line continued past its end to m positions, so that no walk has to wrap, and the edges that leave them.
  def continued [n] (data: data [n]) (line: line [n]) (m: i64) : ([m + 1]M.point, [m]i32) =
    let wrap (p: i64) = if p < n then p else if p < 2 * n then p - n else p % n
    let line = #[unsafe] map (\p -> line[wrap p]) (iota (m + 1))
    in (line, #[unsafe] map (\p -> M.dist data line[p] line[p + 1]) (iota m))

  def best [n] (data: data [n]) (line: line [n]) (last: finding) (from: i64) (to: i64) : finding =
    let (before, passes) = seen_by 0 last
    let idle = before.gain <= 0
    let (bands, width) = banded n
    let (line, succ) = continued data line (bands * width + to)
    let groups = if idle then 0 else (to - from + S.depth - 1) / S.depth
    let place (unit: i64) =
      let first = from + unit / bands * S.depth
      in (unit % bands * width, first, i64.max 0 (i64.min S.depth (to - first)))
    let top (unit: i64) =
      let (b, first, count) = place unit
      in loop top = 0
         for e < count do
           let across = D.across data line width b (first + e)
           in i32.max top (i32.maximum (map (D.gain succ b (first + e) across) (iota width)))
    let tops = map top (iota (bands * groups))
    let most = reduce i32.max 0 tops
    -- The first move in lexicographic order, in the few groups that reach the best.
    let order (b: i64) (d: i64) (p: i64) =
      let (i, j) = ((b + p) % n, (b + p + d) % n)
      in i64.min i j * n + i64.max i j
    let first_of (unit: i64) (top: i32) =
      let (b, first, count) = place unit
      in loop found = i64.highest
         for e < (if most == 0 || top < most then 0 else count) do
           let across = D.across data line width b (first + e)
           let at p = if D.gain succ b (first + e) across p == most then order b (first + e) p else i64.highest
           in reduce i64.min found (map at (iota width))
    let found = reduce i64.min i64.highest (map2 first_of (iota (bands * groups)) tops)
    let best = if most == 0 then none else {gain = most, i = i32.i64 (found / n), j = i32.i64 (found % n)}
    in [(best.gain, best.i, best.j, passes + i32.bool (!idle))]

  -- A diagonal is looked at closely where a move is as good as the best of its position: some n moves shorten a tour.
  def keys [n] (data: data [n]) (line: line [n]) (from: i64) (to: i64) : [n]i64 =
    let (bands, width) = banded n
    let (line, succ) = continued data line (bands * width + to)
    let band (b: i64) =
      let (keys, _) =
        loop (keys: *[width]i64, least: *[width]i32) = (replicate width 0, replicate width 1)
        for e < i64.max 0 (to - from) do
          let d = from + e
          let gain = D.gain succ b d (D.across data line width b d)
          let over = i32.maximum (map2 (\p l -> i32.max 0 (gain p) - l) (iota width) least)
          in loop (keys: *[width]i64, least: *[width]i32) = (keys, least)
             for p < (if over >= 0 then width else 0) do
               let g = gain p
               in if g < #[unsafe] least[p]
                  then (keys, least)
                  else let key = proposal_key n g (i32.i64 ((b + p + d) % n))
                       in #[unsafe] (keys with [p] = i64.max key keys[p], least with [p] = g)
      in keys
    let found = map (\b -> band (b * width)) (iota bands)
    in #[unsafe] map (\p -> found[p / width, p % width]) (iota n)
}
