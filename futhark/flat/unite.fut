-- | Union of children: all that are chosen for a row become one exchange, where two share a cut the one that saves more.

import "exchange"
import "rows"

-- The place of a cut of a chosen exchange among all positions of all tours, -1 of another one.
local
def place_of [c] [m] (rows: rows) (e: exchanges [c] [m]) (chosen: [c]bool) (r: i64) : i64 =
  #[unsafe]
  let o = e.own[r]
  in if get chosen o then tour_of rows (get e.row o) * cities rows + i64.i32 e.cut[r] else -1

-- | Tell which chosen exchanges lose no cut: the largest gain wins each, then the first, even if itself left out.
-- **Work:** O(p n + m). **Span:** O(log m).
#[noinline]
def undisputed [c] [m] (rows: rows) (p: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : [c]bool =
  #[unsafe]
  let n = cities rows
  let place = place_of rows e chosen
  let gains = largest_of (p * n) (tabulate m place) (map (get e.gain) e.own)
  let winner (r: i64): i64 =
    let x = place r
    in if x >= 0 && gains[x] == get e.gain e.own[r] then x else -1
  let firsts = least_of (p * n) (tabulate m winner) e.own
  let loser (r: i64): i64 =
    let x = place r
    in if x >= 0 && firsts[x] != e.own[r] then i64.i32 e.own[r] else -1
  let lost = sums c (tabulate m loser) (replicate m 1)
  in map2 (\f l -> f && l == 0) chosen lost

-- | Return an exchange for each row: the cuts of all taken. **Work:** O(p n + m). **Span:** O(log (p n)).
#[noinline]
def together [c] [m] (rows: rows) (p: i64) (e: exchanges [c] [m]) (taken: [c]bool) : ?[u].exchanges [p * instances rows] [u] =
  #[unsafe]
  let n = cities rows
  let place = place_of rows e taken
  let upto = scan (+) 0 (scatter (replicate (p * n) 0i32) (tabulate m place) (replicate m 1i32))
  let slot (r: i64): i32 =
    let x = place r
    in if x >= 0 then upto[x] - 1 else -1
  let u = if p * n == 0 then 0 else i64.i32 upto[p * n - 1]
  let source = scatter (replicate u 0i32) (tabulate m (\r -> i64.i32 (slot r))) (map i32.i64 (iota m))
  let moved (end: i32) = 2 * slot (i64.i32 (end >> 1)) + (end & 1)
  let cut (r: i32) = (get e.cut r, get e.row (get e.own r), (moved (linked e (2 * r)), moved (linked e (2 * r + 1))))
  let (cut, own, link) = unzip3 (map cut source)
  let one (row: i32) =
    let base = base_of rows row
    let off = before 0 upto base
    in (row, off, before 0 upto (base + i64.i32 (bounds_of_row rows row).size) - off)
  let (row, off, size) = unzip3 (map (\row -> one (i32.i64 row)) (iota (p * instances rows)))
  let owners = map2 (\f row -> if f then i64.i32 row else -1) taken e.row
  in {row, off, size, gain = wide_sums (p * instances rows) owners e.gain, cut, own, link}

-- | Return an exchange for each row: chosen ones that lose no cut. **Work:** O(p n + m). **Span:** O(log (p n)).
def unite [c] [m] (rows: rows) (p: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : ?[u].exchanges [p * instances rows] [u] =
  together rows p e (undisputed rows p e chosen)
