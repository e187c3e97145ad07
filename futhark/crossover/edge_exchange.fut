-- | Exchanges of tour edges: which edges go, how the ends are joined, how subtours are merged, and the tour that results.
--
-- An exchange cuts m edges of a tour into m segments. Cut k lies behind the position cuts[k]; end 2k is the city at that
-- position, end 2k + 1 the city after it. `link` joins each end to another, and `order` lists the cuts by position:
-- segment r lies between the cuts order[r] and order[r + 1].

import "../core/metric"
import "../local_search/route"

-- | The most cuts of an exchange.
def most_cuts : i64 = 200

-- | The largest subtour that is merged: a child with larger ones in its pieces is given up.
def most_scanned : i32 = 1500

-- | m edges that go, and the new neighbours of their ends.
type exchange = {m: i32, cuts: [most_cuts]i32, link: [2 * most_cuts]i32}

-- The cuts from, …, m - 1 by position among those before them, or among each `gap`-th of these. **Work:** O(m^2) in all.
local
def insert_cuts (from: i32) (m: i32) (gap: i32) (cuts: [most_cuts]i32) (order: *[most_cuts]i32) : *[most_cuts]i32 =
  #[unsafe]
  loop order for t < m - from do
    let k = order[i64.i32 (from + t)]
    let cut = cuts[i64.i32 k]
    let (order, j) =
      loop (order, j) = (order, from + t)
      while j >= gap && cuts[i64.i32 order[i64.i32 (i32.max 0 (j - gap))]] > cut do
        let order = order with [i64.i32 j] = order[i64.i32 (j - gap)]
        in (order, j - gap)
    let order = order with [i64.i32 j] = k
    in order

-- The cuts by position, by gaps that shrink to 4/9 (Shell: A High-Speed Sorting Procedure, Communications of the ACM 2(7),
-- 1959). **Work:** O(m^2), about m^1.3 as a rule.
local
def sort_cuts (m: i32) (cuts: [most_cuts]i32) : *[most_cuts]i32 =
  #[unsafe]
  let order: *[most_cuts]i32 = replicate most_cuts 0
  let order = loop order for k < m do order with [i64.i32 k] = k
  let (order, _) =
    loop (order, gap) = (order, i32.max 1 (4 * m / 9))
    while gap > 0 do
      (insert_cuts gap m gap cuts order, if gap == 1 then 0 else i32.max 1 (4 * gap / 9))
  in order

-- The place of each cut among them. **Work:** O(m).
local
def ranks (m: i32) (order: [most_cuts]i32) : *[most_cuts]i32 =
  #[unsafe]
  let rank: *[most_cuts]i32 = replicate most_cuts 0
  in loop rank for r < m do rank with [i64.i32 order[i64.i32 r]] = r

-- The positions of a segment: behind `low`, up to `high`, so many.
local
def segment (n: i32) (m: i32) (cuts: [most_cuts]i32) (order: [most_cuts]i32) (r: i32) : (i32, i32, i32) =
  #[unsafe]
  let low = cuts[i64.i32 order[i64.i32 r]]
  let high = cuts[i64.i32 order[i64.i32 (if r + 1 == m then 0 else r + 1)]]
  in (low, high, if high > low then high - low else high - low + n)

-- From a segment that was walked upwards or downwards: the next one, and how it is walked.
local
def follow (m: i32) (link: [2 * most_cuts]i32) (order: [most_cuts]i32) (rank: [most_cuts]i32) (r: i32) (up: bool) : (i32, bool) =
  #[unsafe]
  let leave = if up then 2 * order[i64.i32 (if r + 1 == m then 0 else r + 1)] else 2 * order[i64.i32 r] + 1
  let enter = link[i64.i32 leave]
  let s = rank[i64.i32 (enter / 2)]
  in if enter % 2 == 1 then (s, true) else (if s == 0 then m - 1 else s - 1, false)

-- The subtour of each segment, the subtours' cities, and how many there are. **Work:** O(m).
local
def subtours (n: i32) (e: exchange) (order: [most_cuts]i32) : (*[most_cuts]i32, *[most_cuts]i32, i32) =
  #[unsafe]
  let rank = ranks e.m order
  let label: *[most_cuts]i32 = replicate most_cuts (-1)
  let cities: *[most_cuts]i32 = replicate most_cuts 0
  in loop (label, cities, count) = (label, cities, 0)
     for first < e.m do
       if label[i64.i32 first] >= 0
       then (label, cities, count)
       else let (label, size, _, _) =
              loop (label, size, r, up) = (label, 0, first, true)
              while label[i64.i32 r] < 0 do
                let label = label with [i64.i32 r] = count
                let (_, _, length) = segment n e.m e.cuts order r
                let (s, up) = follow e.m e.link order rank r up
                in (label, size + length, s, up)
            let cities = cities with [i64.i32 count] = size
            in (label, cities, count + 1)

-- | How many subtours an exchange leaves. **Work:** that of `sort_cuts`.
def count_subtours (n: i32) (e: exchange) : i32 = (subtours n e (sort_cuts e.m e.cuts)).2

-- The smallest subtour, the first among equals, and its cities. **Work:** O(m).
local
def smallest (count: i32) (cities: [most_cuts]i32) : (i32, i32) =
  #[unsafe]
  loop (s, size) = (0, cities[0])
  for c < count do
    if cities[i64.i32 c] < size then (c, cities[i64.i32 c]) else (s, size)

-- The segment of a position: the number of cuts before it, less one. **Work:** O(log m).
local
def segment_of (m: i32) (cuts: [most_cuts]i32) (order: [most_cuts]i32) (p: i32) : i32 =
  #[unsafe]
  let (before, _) =
    loop (low, high) = (0, m)
    while low < high do
      let middle = (low + high) / 2
      in if cuts[i64.i32 order[i64.i32 middle]] < p then (middle + 1, high) else (low, middle)
  in if before == 0 then m - 1 else before - 1

-- | The cut between two cities that are neighbours on the tour, by their positions; and whether the first is behind it.
def cut_between (p: i32) (q: i32) : (i32, bool) =
  let low = i32.min p q
  let high = i32.max p q
  let cut = if high - low == 1 then low else high
  in (cut, p != cut)

-- A way to join two subtours: u loses the edge to v, w that to x, and u gets one to w, v one to x. Side 0 is the edge
-- behind a position, side 1 the edge before it: u stands at p, w at q. A gain is two distances less two and stays within
-- 32 bits.
local
type joint = {gain: i32, p: i32, side: i32, q: i32, other: i32}

-- None, with a gain that others are to exceed.
local
def no_joint (gain: i32) : joint = {gain, p = 0, side = 0, q = 0, other = 0}

-- Two cuts more, and their four ends linked.
local
def join (n: i32) (m: i32) (cuts: *[most_cuts]i32) (link: *[2 * most_cuts]i32) (best: joint) : (*[most_cuts]i32, *[2 * most_cuts]i32) =
  #[unsafe]
  let cuts = cuts with [i64.i32 m] = wrap n (best.p - best.side)
  let cuts = cuts with [i64.i32 (m + 1)] = wrap n (best.q - best.other)
  let u = 2 * m + best.side
  let v = 2 * m + 1 - best.side
  let w = 2 * m + 2 + best.other
  let x = 2 * m + 3 - best.other
  let link = link with [i64.i32 u] = w
  let link = link with [i64.i32 w] = u
  let link = link with [i64.i32 v] = x
  let link = link with [i64.i32 x] = v
  in (cuts, link)

module mk_exchange (M: metric) = {
  -- The best way to join subtour `s` to another over the neighbour lists of its cities, the first among equals, or none with
  -- a gain of `least` where no one gains more: both lose an edge inside one of their segments. **Work:** O(m + s k log m) for
  -- s cities.
  --
  -- A list, which is in order of lengths, ends where an edge in place of the one to v saves no more than half of what the best joint
  -- so far does. A better joint may begin behind that, where the other subtour loses a longer edge; it is passed over.
  local
  def best_joint [n] [k]
                 (data: M.data [n])
                 (lists: [n][k]i32)
                 (tour: [n]i32)
                 (position: [n]i32)
                 (e: exchange)
                 (order: [most_cuts]i32)
                 (label: [most_cuts]i32)
                 (s: i32)
                 (least: i32) : joint =
    #[unsafe]
    let n32 = i32.i64 n
    let dist (a: i32) (b: i32) = M.dist data (M.point data a) (M.point data b)
    let at p = tour[i64.i32 (wrap n32 p)]
    in loop best = no_joint least
       for r < e.m do
         if label[i64.i32 r] != s
         then best
         else let (low, _, length) = segment n32 e.m e.cuts order r
              in loop best for t < length do
                   let p = wrap n32 (low + 1 + t)
                   let u = at p
                   in loop best for side < 2 do
                        if (if side == 0 then t + 1 == length else t == 0)
                        then best
                        else let v = at (p + 1 - 2 * side)
                             let gone = dist u v
                             in (loop (best, j) = (best, 0)
                                 while j < k && 2 * (gone - dist u lists[i64.i32 u, j]) > best.gain do
                                   let w = lists[i64.i32 u, j]
                                   let q = position[i64.i32 w]
                                   let there = segment_of e.m e.cuts order q
                                   let best =
                                     if label[i64.i32 there] == s
                                     then best
                                     else let saved = gone - dist u w
                                          let (first, last, _) = segment n32 e.m e.cuts order there
                                          in loop best for other < 2 do
                                               if (if other == 0 then q == last else q == wrap n32 (first + 1))
                                               then best
                                               else let x = at (q + 1 - 2 * other)
                                                    let gain = saved + dist w x - dist v x
                                                    in if gain > best.gain
                                                       then {gain, p, side, q, other}
                                                       else best
                                   in (best, j + 1)).0

  -- | Merge the subtours that an exchange leaves, the smallest first, each by its best joint over the neighbour lists. The
  -- exchange is given up where a subtour is larger than `most_scanned`, where the cuts would be more than `most_cuts`, and where no
  -- joint leaves a gain of more than `least`, which a later one would hardly bring back; the gain is then -1, less than what any
  -- child is taken for. The gain must be more than `least`, and that not negative.
  --
  -- Gains are sums of up to `most_cuts` differences of distances below 2^30, hence in 64 bits.
  --
  -- **Work:** O(m + s k log m) a merge of a subtour of s cities. **Span:** the same.
  def complete [n] [k]
               (data: M.data [n])
               (lists: [n][k]i32)
               (tour: [n]i32)
               (position: [n]i32)
               (m: i32)
               (cuts: *[most_cuts]i32)
               (link: *[2 * most_cuts]i32)
               (gain: i64)
               (least: i64) : (i32, *[most_cuts]i32, *[2 * most_cuts]i32, i64) =
    #[unsafe]
    let n32 = i32.i64 n
    let (m, cuts, link, _, gain, _) =
      loop (m, cuts, link, order, gain, undone) = (m, cuts, link, sort_cuts m cuts, gain, true)
      while undone do
        let (label, cities, count) = subtours n32 {m, cuts, link} order
        in if count == 1
           then (m, cuts, link, order, gain, false)
           else let (s, size) = smallest count cities
                let floor = i32.i64 (i64.max (i64.i32 i32.lowest) (least - gain))
                let best =
                  if m + 2 > i32.i64 most_cuts || size > most_scanned
                  then no_joint floor
                  else best_joint data lists tour position {m, cuts, link} order label s floor
                in if best.gain == floor
                   then (m, cuts, link, order, -1, false)
                   else let (cuts, link) = join n32 m cuts link best
                        let order = order with [i64.i32 m] = m
                        let order = order with [i64.i32 (m + 1)] = m + 1
                        let order = insert_cuts m (m + 2) 1 cuts order
                        in (m + 2, cuts, link, order, gain + i64.i32 best.gain, true)
    in (m, cuts, link, gain)
}

-- | The tour after an exchange that leaves one tour, from the first segment on; the tour itself where m = 0.
--
-- **Work:** O(n log m + m^2). **Span:** O(m^2).
def apply_exchange [n] (tour: [n]i32) (e: exchange) : [n]i32 =
  let n32 = i32.i64 n
  let order = sort_cuts e.m e.cuts
  let rank = ranks e.m order
  -- For each segment on the way: where it starts on the new tour, and the old position there, less or plus.
  let starts: *[most_cuts]i32 = replicate most_cuts i32.highest
  let walks: *[most_cuts]i32 = replicate most_cuts 0
  let (starts, walks, _, _, _) =
    #[unsafe]
    loop (starts, walks, start, r, up) = (starts, walks, 0, 0, true)
    for s < e.m do
      let (low, high, length) = segment n32 e.m e.cuts order r
      let starts = starts with [i64.i32 s] = start
      let walks = walks with [i64.i32 s] = if up then low + 1 else -1 - high
      let (r, up) = follow e.m e.link order rank r up
      in (starts, walks, start + length, r, up)
  let from (p: i32): i32 =
    #[unsafe]
    let (s, _) =
      loop (low, high) = (0, e.m)
      while low + 1 < high do
        let middle = (low + high) / 2
        in if starts[i64.i32 middle] <= p then (middle, high) else (low, middle)
    let w = walks[i64.i32 s]
    let t = p - starts[i64.i32 s]
    in if e.m == 0
       then tour[i64.i32 p]
       else tour[i64.i32 (wrap n32 (if w >= 0 then w + t else -1 - w - t))]
  in map (\p -> from (i32.i64 p)) (iota n)
