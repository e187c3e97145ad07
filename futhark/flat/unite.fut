-- | Union of children: all that are chosen for a tour become one exchange, where two share a cut the one that saves more.

import "exchange"
import "segments"

-- The place of a cut of a chosen exchange among all positions of all tours, -1 of another one.
local
def place_of [c] [m] (n: i64) (e: exchanges [c] [m]) (chosen: [c]bool) (r: i64) : i64 =
  #[unsafe]
  let o = e.own[r]
  in if get chosen o then i64.i32 (get e.pair o) * n + i64.i32 e.cut[r] else -1

-- | Tell which of the chosen exchanges lose no cut: at each cut the one with the largest gain wins, the first among equals.
--
-- One that loses a cut is left out, also where the winner is itself left out. **Work:** O(p n + m). **Span:** O(log m).
#[noinline]
def undisputed [c] [m] (p: i64) (n: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : [c]bool =
  #[unsafe]
  let place = place_of n e chosen
  let gains = hist i64.max i64.lowest (p * n) (tabulate m place) (map (get e.gain) e.own)
  let winner (r: i64): i64 =
    let x = place r
    in if x >= 0 && gains[x] == get e.gain e.own[r] then x else -1
  let firsts = hist i32.min i32.highest (p * n) (tabulate m winner) e.own
  let loser (r: i64): i64 =
    let x = place r
    in if x >= 0 && firsts[x] != e.own[r] then i64.i32 e.own[r] else -1
  let lost = hist (+) 0i32 c (tabulate m loser) (replicate m 1)
  in map2 (\f l -> f && l == 0) chosen lost

-- | Return one exchange for each of p tours of n cities: the cuts of all that are taken, which share none.
--
-- **Work:** O(p n + m). **Span:** O(log (p n)).
#[noinline]
def together [c] [m] (p: i64) (n: i64) (e: exchanges [c] [m]) (taken: [c]bool) : ?[u].exchanges [p] [u] =
  #[unsafe]
  let place = place_of n e taken
  let upto = scan (+) 0 (scatter (replicate (p * n) 0i32) (tabulate m place) (replicate m 1i32))
  let slot (r: i64): i32 =
    let x = place r
    in if x >= 0 then upto[x] - 1 else -1
  let u = if p * n == 0 then 0 else i64.i32 upto[p * n - 1]
  let source = scatter (replicate u 0i32) (tabulate m (\r -> i64.i32 (slot r))) (map i32.i64 (iota m))
  let moved (end: i32) = 2 * slot (i64.i32 (end >> 1)) + (end & 1)
  let cut (r: i32) = (get e.cut r, get e.pair (get e.own r), (moved (linked e (2 * r)), moved (linked e (2 * r + 1))))
  let (cut, own, link) = unzip3 (map cut source)
  let before (a: i64) = if a == 0 || n == 0 then 0 else upto[a * n - 1]
  let (off, size) = unzip (map (\a -> (before a, before (a + 1) - before a)) (iota p))
  let owners = map2 (\f a -> if f then i64.i32 a else -1) taken e.pair
  in {pair = map i32.i64 (iota p), off, size, gain = hist (+) 0 p owners e.gain, cut, own, link}

-- | Return one exchange for each tour: the union of all its chosen exchanges that lose no cut to another one.
--
-- **Work:** O(p n + m). **Span:** O(log (p n)).
def unite [c] [m] (p: i64) (n: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : ?[u].exchanges [p] [u] =
  together p n e (undisputed p n e chosen)
