-- | Changes of a tour in place: the exchange of two edges by reversing the shorter side, and what is made of such.

import "kick"
import "route"
import "three_opt"

-- | The edges (a, b) and (c, d) go, (b, c) and (d, a) come, where b follows a as c follows d, or precedes it.
type exchange = (i32, i32, i32, i32)

-- | The number of exchanges of a move.
def exchanges (move: move) : i32 = if move.kind == 3 then 3 else if move.kind >= 2 then 2 else move.kind

-- | The exchange number `s` of a move.
def exchange_of ({gain = _, kind, t1, t2, t3, t4, t5, t6}: move) (s: i32) : exchange =
  if kind <= 2
  then (if s == 0 then (t1, t2, t3, t4) else (t1, t4, t5, t6))
  else if kind == 3
  then (if s == 0
        then (t1, t2, t4, t3)
        else if s == 1
        then (t1, t3, t5, t6)
        else (t4, t2, t3, t5))
  else (if s == 0 then (t1, t2, t5, t6) else (t5, t2, t3, t4))

-- | The number of exchanges of a double bridge: all three segments together are reversed, then each by itself.
def bridge_exchanges : i32 = 4

-- | The exchange number `s` of a double bridge.
def bridge_exchange ({a, b0, b1, c0, c1, d0, d1, e}: bridge) (s: i32) : exchange =
  if s == 0
  then (a, b0, e, d1)
  else if s == 1
  then (a, d1, c1, d0)
  else if s == 2
  then (d1, c1, b1, c0)
  else (c1, b1, e, b0)

-- | The position that the edge of two neighbouring positions leaves.
def left_position (p: i32) (q: i32) : i32 =
  let (low, high) = (i32.min p q, i32.max p q)
  in if high - low == 1 then low else high

-- | The first position and the length of an exchange's shorter side, which is reversed, by its cities' positions.
def shorter_side (n: i32) ((a, b, c, d): (i32, i32, i32, i32)) : (i32, i32) =
  let (e, f) = (left_position a b, left_position c d)
  let low = i32.min e f
  let high = i32.max e f
  let inner = high - low
  in if 2 * inner <= n then (low + 1, inner) else (wrap n (high + 1), n - inner)

-- | The reversal of a stretch of the tour.
module type reverser = {
  -- | Reverse `count` positions, from `first` on, past the end of the tour as well.
  val reverse [n] : *route [n] -> (first: i32) -> (count: i32) -> *route [n]
}

module mk_edits (R: reverser) = {
  -- | Make an exchange of two edges. The log must have room. **Work:** O(s), where the shorter side has s cities.
  def exchange [n] [m] ((r, l): (*route [n], *log [m])) ((a, b, c, d): exchange) : (*route [n], *log [m]) =
    let (first, count) = shorter_side (i32.i64 n) (position r a, position r b, position r c, position r d)
    let r = R.reverse r first count
    let made = logged l
    let l = #[unsafe] l with [1 + 2 * i64.i32 made] = first
    let l = #[unsafe] l with [2 + 2 * i64.i32 made] = count
    in (r, #[unsafe] l with [0] = made + 1)

  -- | Make reversals number `first`, … of a log once more, or, `back`, take them back. **Work:** O(changed cities).
  def replay [n] [m] (r: *route [n]) (l: log [m]) (first: i32) (count: i32) (back: bool) : *route [n] =
    loop r for s < count do
      let i = i64.i32 (first + (if back then count - 1 - s else s))
      in #[unsafe] R.reverse r l[1 + 2 * i] l[2 + 2 * i]

  -- | Make a move, as exchanges of two edges. The log must have room for three.
  def make [n] [m] ((r, l): (*route [n], *log [m])) (move: move) : (*route [n], *log [m]) =
    loop (r, l) for s < exchanges move do exchange (r, l) (exchange_of move s)

  -- | Make a double bridge. The log must have room for its four exchanges.
  def build [n] [m] ((r, l): (*route [n], *log [m])) (made: bool) (bridge: bridge) : (*route [n], *log [m]) =
    loop (r, l) for s < (if made then bridge_exchanges else 0) do exchange (r, l) (bridge_exchange bridge s)
}
