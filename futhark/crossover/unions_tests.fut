-- Unions: what is kept, and which AB-cycles join.

import "edge_exchange"
import "unions"

-- Exchanges of m cuts behind the positions from, from + by, …, whose links are any.
def cycle (m: i64) (from: i32) (by: i32) : ([most_cuts]i32, [2 * most_cuts]i32) =
  ( tabulate most_cuts (\h -> if h < m then from + by * i32.i64 h else 0)
  , tabulate (2 * most_cuts) (\e -> if e < 2 * m then i32.i64 e ^ 1 else 0)
  )

-- As many as `count` of m cuts each, then one of a single cut.
-- ==
-- entry: room
-- input { 0i64 2i64 } output { 1 }
-- input { 31i64 2i64 } output { 32 }
-- input { 32i64 2i64 } output { 32 }
-- input { 8i64 40i64 } output { 8 }
-- input { 9i64 40i64 } output { 8 }
-- input { 5i64 60i64 } output { 6 }
-- input { 6i64 60i64 } output { 6 }
-- input { 1i64 80i64 } output { 2 }
-- input { 1i64 81i64 } output { 1 }
entry room (count: i64) (m: i64) : i32 =
  let add (cycles: *kept_cycles) (gains: *kept_gains) (m: i64) =
    let (cuts, link) = cycle m 0 1
    in keep cycles gains (i32.i64 m) cuts link 1
  let (cycles, gains) =
    loop (cycles, gains) = (no_cycles (), replicate most_cycles 0) for _i < count do add cycles gains m
  in count_of (add cycles gains 1).0

-- Two cuts whose ends are joined crosswise: each such half of a double bridge leaves two subtours.
def half (p: i32) (q: i32) : ([most_cuts]i32, [2 * most_cuts]i32) =
  ( tabulate most_cuts (\h -> if h == 0 then p else if h == 1 then q else 0)
  , tabulate (2 * most_cuts) (\e -> if e == 0 then 3 else if e == 1 then 2 else if e == 2 then 1 else 0)
  )

-- A half behind which there are cuts of a tour of 500 cities whose ends stay joined.
def wide (p: i32) (q: i32) (more: i64) : ([most_cuts]i32, [2 * most_cuts]i32) =
  let (cuts, link) = half p q
  in ( map2 (\h c -> if h >= 2 && h < 2 + more then 300 + i32.i64 h else c) (iota most_cuts) cuts
     , map2 (\e l -> if e >= 4 && e < 4 + 2 * more then i32.i64 e ^ 1 else l) (iota (2 * most_cuts)) link
     )

-- The halves of a double bridge, of which the second has more cuts: they join up to the most cuts.
-- ==
-- entry: halves
-- input { 0i64 } output { 4 3u32 }
-- input { 76i64 } output { 80 3u32 }
-- input { 77i64 } output { 2 1u32 }
entry halves (more: i64) : (i32, u32) =
  let (cuts, link) = half 10 30
  let (cycles, gains) = keep (no_cycles ()) (replicate most_cycles 0) 2 cuts link 5
  let (cuts, link) = wide 20 40 more
  let (cycles, gains) = keep cycles gains (2 + i32.i64 more) cuts link (-4)
  let union = union_around 500 cycles gains 0
  in (union.m, union.members)

-- Halves around others: which of those with such gains joins the first one, which cuts behind 100 and 300. The second and third are
-- by themselves; the fourth and fifth cut on both sides of one cut of the first.
-- ==
-- entry: choice
-- input { [5i64, 9i64, 9i64, 1i64, 1i64] } output { 6i64 9u32 }
-- input { [5i64, 9i64, 9i64, 1i64, 2i64] } output { 7i64 17u32 }
-- input { [5i64, 9i64, 9i64, -5i64, -4i64] } output { 1i64 17u32 }
-- input { [5i64, 9i64, 9i64, -5i64, -5i64] } output { 5i64 1u32 }
entry choice (gains_of: [5]i64) : (i64, u32) =
  let pairs = [(100, 300), (10, 20), (400, 410), (200, 350), (201, 351)]
  let (cycles, gains) =
    loop (cycles, gains) = (no_cycles (), replicate most_cycles 0)
    for i < 5 do
      let (cuts, link) = half pairs[i].0 pairs[i].1
      in keep cycles gains 2 cuts link gains_of[i]
  let union = union_around 500 cycles gains 0
  in (union.gain, union.members)

-- Two halves as one cycle leave three subtours: of two others each joins two of them, one after the other; a third is for nothing.
-- ==
-- entry: grows
-- input { 2i64 } output { 8 7u32 1 }
-- input { 1i64 } output { 6 3u32 2 }
-- input { 3i64 } output { 8 7u32 1 }
entry grows (others: i64) : (i32, u32, i32) =
  let (cuts, link) = half 10 50
  let (more_cuts, more_link) = half 200 300
  let cuts = map3 (\h c d -> if h < 2 then c else if h < 4 then d else 0) (iota most_cuts) cuts (rotate (-2) more_cuts)
  let link = map3 (\e c d -> if e < 4 then c else if e < 8 then 4 + d else 0) (iota (2 * most_cuts)) link (rotate (-4) more_link)
  let pairs = [(30, 70), (250, 350), (20, 60)]
  let (cycles, gains) = keep (no_cycles ()) (replicate most_cycles 0) 4 cuts link 9
  let (cycles, gains) =
    loop (cycles, gains) for i < others do
      let (cuts, link) = half pairs[i].0 pairs[i].1
      in keep cycles gains 2 cuts link (-1)
  let {m, cuts, link, gain = _, members} = union_around 500 cycles gains 0
  in (m, members, count_subtours 500 {m, cuts, link})
