-- | Union of children: all that are chosen for a tour become one exchange, where two share a cut the one that saves more.

import "exchange"
import "segments"

-- The place of a cut among all positions of all tours.
local
def place_of [c] [m] (n: i64) (e: exchanges [c] [m]) (r: i64) : i64 =
  #[unsafe] i64.i32 (get e.pair e.own[r]) * n + i64.i32 e.cut[r]

-- | Tell which of the chosen exchanges lose no cut: at each cut the one with the largest gain wins, the first among equals.
--
-- One that loses a cut is left out, also where the winner is itself left out. **Work:** O(p n + m). **Span:** O(log m).
#[noinline]
def undisputed [c] [m] (p: i64) (n: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : [c]bool =
  let places = kept_apart (map (\r -> if get chosen (#[unsafe] e.own[r]) then place_of n e r else -1) (iota m))
  let gains = hist i64.max i64.lowest (p * n) places (map (get e.gain) e.own)
  let wins (r: i64) = #[unsafe] places[r] >= 0 && gains[places[r]] == get e.gain e.own[r]
  let winners = map (\r -> if wins r then #[unsafe] places[r] else -1) (iota m)
  let firsts = hist i32.min i32.highest (p * n) winners e.own
  let loses (r: i64) = #[unsafe] places[r] >= 0 && firsts[places[r]] != e.own[r]
  let lost = hist (+) 0i32 c (map (\r -> if loses r then i64.i32 (#[unsafe] e.own[r]) else -1) (iota m)) (replicate m 1)
  in map2 (\f l -> f && l == 0) chosen lost

-- | Return one exchange for each of p tours of n cities: the cuts of all that are taken, which share none.
--
-- **Work:** O(p n + m). **Span:** O(log (p n)).
#[noinline]
def together [c] [m] (p: i64) (n: i64) (e: exchanges [c] [m]) (taken: [c]bool) : ?[u].exchanges [p] [u] =
  #[unsafe]
  let places = kept_apart (map (\r -> if get taken e.own[r] then place_of n e r else -1) (iota m))
  let upto = scan (+) 0 (scatter (replicate (p * n) 0i32) places (replicate m 1i32))
  let u = if p * n == 0 then 0 else i64.i32 upto[p * n - 1]
  let slots = map (\x -> if x >= 0 then i64.i32 upto[x] - 1 else -1) places
  let source = scatter (replicate u 0i32) slots (map i32.i64 (iota m))
  let moved (end: i32) = 2 * i32.i64 (get slots (end >> 1)) + (end & 1)
  let off = map (\a -> if a == 0 then 0 else upto[a * n - 1]) (iota p)
  let owners = map2 (\f a -> if f then i64.i32 a else -1) taken e.pair
  in { pair = map i32.i64 (iota p)
     , off
     , size = map2 (\a o -> (if n == 0 then 0 else upto[(a + 1) * n - 1]) - o) (iota p) off
     , gain = hist (+) 0 p owners e.gain
     , cut = map (get e.cut) source
     , own = map (\r -> get e.pair (get e.own r)) source
     , link = map (\r -> map moved (get e.link r)) source
     }

-- | Return one exchange for each tour: the union of all its chosen exchanges that lose no cut to another one.
--
-- **Work:** O(p n + m). **Span:** O(log (p n)).
def unite [c] [m] (p: i64) (n: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : ?[u].exchanges [p] [u] =
  together p n e (undisputed p n e chosen)
