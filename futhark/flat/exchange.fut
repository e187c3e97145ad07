-- | Many exchanges of tour edges as one value, each with as many cuts as it needs.
--
-- An exchange cuts edges of a tour. Cut r lies behind position cut[r]; end 2 r is the city at that position, end 2 r + 1
-- the city after it. `link` joins each end to another one. The cuts of an exchange stand together, by position. Segment r
-- lies between cut r and the next cut of its exchange; the last segment goes on with position 0.

import "../local_search/route"
import "segments"

-- | c exchanges with m cuts in all: the tour of each, where its cuts begin, how many they are, and what it saves; the
-- position of each cut, its exchange, and what its two ends are joined to.
type exchanges [c] [m] =
  { pair: [c]i32
  , off: [c]i32
  , size: [c]i32
  , gain: [c]i64
  , cut: [m]i32
  , own: [m]i32
  , link: [m][2]i32
  }

-- | Return the cut behind a cut of the same exchange; behind the last is the first. **Work:** O(1).
def next_cut [c] [m] (e: exchanges [c] [m]) (r: i32) : i32 =
  let o = get e.own r
  in if r + 1 == get e.off o + get e.size o then get e.off o else r + 1

-- | Return the cut before a cut of the same exchange. **Work:** O(1).
def previous_cut [c] [m] (e: exchanges [c] [m]) (r: i32) : i32 =
  let o = get e.own r
  in if r == get e.off o then r + get e.size o - 1 else r - 1

-- | Return what an end is joined to. **Work:** O(1).
def linked [c] [m] (e: exchanges [c] [m]) (end: i32) : i32 = #[unsafe] e.link[i64.i32 (end >> 1), i64.i32 (end & 1)]

-- | Return the position of an end's city on a tour of n cities. **Work:** O(1).
def position_of [c] [m] (n: i64) (e: exchanges [c] [m]) (end: i32) : i32 =
  wrap (i32.i64 n) (get e.cut (end >> 1) + (end & 1))

-- | Return the number of cities in a segment. **Work:** O(1).
def segment_size [c] [m] (n: i64) (e: exchanges [c] [m]) (r: i32) : i32 =
  let d = get e.cut (next_cut e r) - get e.cut r
  in if d <= 0 then d + i32.i64 n else d

-- | Return how many cuts of exchange o lie before a position. **Work:** O(log m).
def cuts_before [c] [m] (e: exchanges [c] [m]) (o: i32) (q: i32) : i32 =
  let off = get e.off o
  let (before, _) =
    loop (low, high) = (0, get e.size o)
    while low < high do
      let middle = (low + high) / 2
      in if get e.cut (off + middle) < q then (middle + 1, high) else (low, middle)
  in before

-- | Return the segment of a position in exchange o. **Work:** O(log m).
def segment_of [c] [m] (e: exchanges [c] [m]) (o: i32) (q: i32) : i32 =
  let before = cuts_before e o q
  in get e.off o + (if before == 0 then get e.size o else before) - 1

-- | Return the walks over all segments: state 2 r is segment r walked upwards, state 2 r + 1 downwards, and each has the
-- state that follows. **Work:** O(m). **Span:** O(1).
def walks [c] [m] (e: exchanges [c] [m]) : [m * 2]i32 =
  let follow (x: i64) =
    let r = i32.i64 (x / 2)
    let enter = linked e (if x % 2 == 0 then 2 * next_cut e r else 2 * r + 1)
    in if enter & 1 == 1 then enter - 1 else 2 * previous_cut e (enter >> 1) + 1
  in tabulate (m * 2) follow

-- | Return the chosen exchanges, in their order. **Work:** O(c + m). **Span:** O(log (c + m)).
#[noinline]
def select [c] [m] (e: exchanges [c] [m]) (chosen: [c]bool) : ?[d][l].exchanges [d] [l] =
  let from = where_true chosen
  let size = map (get e.size) from
  let ends = ends_of size
  let l = numbered (total_of ends)
  let off = starts_of size ends
  let own = rows_of l ends
  let source = map2 (\o r -> get e.off (get from o) + i32.i64 r - get off o) own (iota l)
  let moved (r: i32) (o: i32) =
    let by = 2 * (get off o - get e.off (get from o))
    in map (+ by) (get e.link r)
  in { pair = map (get e.pair) from
     , off
     , size
     , gain = map (get e.gain) from
     , cut = map (get e.cut) source
     , own
     , link = map2 moved source own
     }

-- | Return exchanges and others behind them. **Work:** O(c + m). **Span:** O(1).
def both [c] [m] [d] [l] (e: exchanges [c] [m]) (f: exchanges [d] [l]) : exchanges [c + d] [m + l] =
  let (cuts, count) = (i32.i64 (numbered (m + l) - l), i32.i64 c)
  in { pair = e.pair ++ f.pair
     , off = e.off ++ map (+ cuts) f.off
     , size = e.size ++ f.size
     , gain = e.gain ++ f.gain
     , cut = e.cut ++ f.cut
     , own = e.own ++ map (+ count) f.own
     , link = e.link ++ map (map (+ 2 * cuts)) f.link
     }
