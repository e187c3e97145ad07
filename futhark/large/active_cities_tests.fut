-- Tests of `active_cities`: which cities are taken, and that all are, again and again.

import "../core/rng"
import "parallel_moves"

-- About a share of the cities, in 256ths.
def some_wait (n: i64) (share: u64) (seed: i64) : [n]bool =
  map (\c -> (rng.word (rng.stream 9 seed) c & 0xff) < share) (iota n)

def count [n] (waits: [n]bool) : i64 = i64.sum (map i64.bool waits)

-- Cities are taken once each, those that wait, whole blocks in cyclic order, and no more than fit while another block would
-- not.
-- ==
-- entry: taken_by_blocks
-- input { 1i64 32i64 256u64 } output { true }
-- input { 31i64 32i64 256u64 } output { true }
-- input { 32i64 32i64 256u64 } output { true }
-- input { 33i64 32i64 256u64 } output { true }
-- input { 100i64 32i64 256u64 } output { true }
-- input { 100i64 64i64 100u64 } output { true }
-- input { 1000i64 64i64 20u64 } output { true }
-- input { 1000i64 100i64 256u64 } output { true }
-- input { 1000i64 2000i64 256u64 } output { true }
-- input { 1000i64 64i64 0u64 } output { true }
entry taken_by_blocks (n: i64) (width: i64) (share: u64) : bool =
  let m = blocks n
  let holds s =
    let waits = some_wait n share s
    let cursor = s % m
    let (cities, total, next) = next_waiting width cursor waits
    let d = length cities
    let cities = cities :> [d]i32
    let of_block i = let b = (cursor + i) % m in filter (\c -> c / block == b && waits[c]) (iota n)
    let (expected, taken, _) =
      loop (expected: []i64, taken, on) = ([], 0, true)
      for i < m do
        let more = of_block i
        let fits = on && length expected + length more <= width
        in (if fits then expected ++ more else expected, taken + i64.bool fits, fits)
    let all_fit = total <= width
    in total == count waits
       && length expected == d
       && and (map2 (\a b -> i64.i32 a == b) cities (expected :> [d]i64))
       && next == (if all_fit then cursor else (cursor + taken) % m)
       && (!all_fit || taken == m)
  in all holds (iota 40)

-- Regions that are woken one after the other follow each other, and have all cities after one round.
-- ==
-- entry: woken_in_turn
-- input { 1i64 32i64 } output { true }
-- input { 64i64 32i64 } output { true }
-- input { 100i64 32i64 } output { true }
-- input { 1000i64 96i64 } output { true }
-- input { 1000i64 5000i64 } output { true }
entry woken_in_turn (n: i64) (width: i64) : bool =
  let holds first =
    let (waits, woken, _, ok) =
      loop (waits, woken, cursor, ok) = (replicate n false, 0, first, true)
      while woken < n && ok do
        let (alone, more, next) = wake true width cursor (replicate n false)
        let (waits, same, _) = wake true width cursor waits
        let follows = next == (if cursor * block + more == n then 0 else cursor + more / block)
        let right = more > 0 && more <= width && count alone == more && alone[cursor * block] && same == more
        in (waits, woken + more, next, follows && right)
    let (same, none, cursor) = wake false width first (copy waits)
    in ok && and waits && woken < n + width && none == 0 && count same == n && cursor == first
  in all holds (iota (blocks n))
