-- | The proposed moves that one pass makes, in order of gains, without overlaps (Robinson, Vrbsky, Hong, Eddy 2018,
-- section 3.4): in rounds, a move better than all that overlap it is made.

import "../core/tour"

-- | A move as one number: its gain, then i downwards; 0 for none. Of equal ones the longer contains the shorter.
def key (m: move i32) : i64 =
  if m.gain > 0 then (i64.i32 m.gain << 32) + (0xffffffff - i64.i32 m.i) else 0

-- | The largest t with 2^t <= x, for x >= 1.
def log2 (x: i32) : i32 = 31 - i32.clz x

-- | The largest key of the stretches that cover each position: a stretch is two of length 2^t, handed down to shorter
-- ones. **Work:** O(n log n). **Span:** O(log n) for each of log n levels.
def paint [n] (top: i32) (moves: [n](move i32)) (keys: [n]i64) : [n]i64 =
  loop cover = replicate n 0i64
  for l < top + 1 do
    let t = top - l
    let size = 1i64 << i64.i32 t
    let handed =
      map (\p -> #[unsafe] if p >= size then i64.max cover[p] cover[p - size] else cover[p]) (iota n)
    let at (begin: move i32 -> i64) = map2 (\m k -> if k > 0 && log2 (m.j - m.i + 1) == t then begin m else -1) moves keys
    let firsts = at (\m -> i64.i32 m.i)
    let lasts = at (\m -> i64.i32 m.j + 1 - size)
    in reduce_by_index (reduce_by_index handed i64.max 0 firsts keys) i64.max 0 lasts keys

-- | The largest value in each move's stretch [i, j]. **Work:** O(n log n). **Span:** O(log n).
def largest [n] (top: i32) (moves: [n](move i32)) (values: [n]i64) : [n]i64 =
  let (_, found) =
    loop (table, found) = (values, replicate n 0)
    for t < top + 1 do
      let size = 1i64 << i64.i32 t
      let found =
        map2 (\m f ->
                #[unsafe]
                if log2 (m.j - m.i + 1) == t
                then i64.max table[i64.i32 m.i] table[i64.i32 m.j + 1 - size]
                else f)
             moves
             found
      let table =
        map (\p -> #[unsafe] if p + size < n then i64.max table[p] table[p + size] else table[p]) (iota n)
      in (table, found)
  in found

-- | The beginning of each position's stretch, or -1; `ends` holds j at each i, and -1 elsewhere.
def begins [n] (ends: [n]i32) : [n]i32 =
  let last = scan i32.max (-1) (map2 (\p j -> if j >= 0 then i32.i64 p else -1) (iota n) ends)
  in map2 (\p b -> #[unsafe] if b >= 0 && i32.i64 p <= ends[i64.i32 b] then b else -1) (iota n) last

-- | The moves made, at most `k`: ends of stretches by i, or -1; gains. **Work:** O(n log n) in each of some ten rounds.
def disjoint [n] (k: i32) (moves: [n](move i32)) : ([n]i32, [n]i32) =
  let moves = map (\m -> if m.gain > 0 then m else {gain = 0, i = 0, j = 0}) moves
  let (_, made, ends) =
    loop (keys, made, ends) = (map key moves, replicate n 0i64, replicate n (-1))
    while i64.maximum keys > 0 do
      let top = i32.maximum (map2 (\m k -> if k > 0 then log2 (m.j - m.i + 1) else 0) moves keys)
      let most = largest top moves (paint top moves keys)
      let starts = map3 (\m k l -> if k > 0 && k == l then i64.i32 m.i else -1) moves keys most
      let made = reduce_by_index made i64.max 0 starts keys
      let shortest =
        reduce_by_index (replicate n i32.highest) i32.min i32.highest starts (map (\m -> m.j) moves)
      let ends = map2 (\e j -> if j < i32.highest then j else e) ends shortest
      let taken = scan (+) 0 (map (\b -> i32.bool (b >= 0)) (begins ends))
      let before (p: i32) = #[unsafe] if p > 0 then taken[i64.i32 (p - 1)] else 0
      let keys = map2 (\m k -> #[unsafe] if taken[i64.i32 m.j] > before m.i then 0 else k) moves keys
      in (keys, made, ends)
  -- The key of the k-th best, bit by bit.
  let bits = if i64.i32 k >= n then 0 else 63
  let least =
    loop least = 1i64
    for b < bits do
      let try = (least & !1) | (1 << i64.i32 (62 - b))
      let found = i64.sum (map (\m -> i64.bool (m >= try)) made)
      in if found >= i64.i32 k then try else least
  let ends = map2 (\m e -> if m >= least then e else -1) made ends
  in (ends, map2 (\m e -> if e >= 0 then i32.i64 (m >> 32) else 0) made ends)

-- | The position from which each position takes its city when positions i+1, …, j of every stretch are reversed.
def reversals [n] (ends: [n]i32) : [n]i32 =
  map2 (\p b -> #[unsafe] if b >= 0 then reversal b ends[i64.i32 b] (i32.i64 p) else i32.i64 p)
       (iota n)
       (begins ends)
