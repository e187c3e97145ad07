-- | Fragments of many tours at once: paths of cities that join by their ends until one tour of each is left.
--
-- A fragment picks the best edge from its ends; two that pick each other join (Bentley: Fast algorithms for geometric
-- traveling salesman problems, ORSA Journal on Computing 4, 1992, joins the best one at a time).

import "../core/rng"
import "curve"
import "orbits"
import "rows"
import "segments"

-- | Fragments of t cities of all tours, numbered through: the neighbours of each city, -1 where it lacks one, the second one
-- last; and for an end of a fragment the other end and the number of cities. These two mean nothing for other cities.
type fragments [t] = {first: [t]i32, second: [t]i32, far: [t]i32, size: [t]i32}

-- | The most rounds in which fragments join.
def most_rounds : i32 = 60

-- No edge.
local def none : i64 = i64.highest

-- The best edge from each end of a fragment: its rank, with its place in the list in the last five bits.
local
def picks [t] [n] [k] (lists: [n][k]i32) (rank: i64 -> i64 -> i64 -> i64) (longest: i32) ({first = _, second, far, size}: fragments [t]) : [t]i64 =
  let pick (x: i64): i64 =
    #[unsafe]
    let a = x / n
    let u = x - a * n
    in loop best = none
       for j < (if second[x] < 0 then k else 0) do
         let y = a * n + i64.i32 lists[u, j]
         let fits = second[y] < 0 && i64.i32 far[x] != y && size[x] + size[y] <= longest
         in if fits then i64.min best (rank a u j) else best
  in map pick (iota t)

-- The end that each end joins, -1 where there is none.
local
def joins [t] [n] [k] (lists: [n][k]i32) (picks: [t]i64) (far: [t]i32) : [t]i32 =
  #[unsafe]
  -- The pick of a fragment, if it comes from this end.
  let choice (x: i64): i64 =
    let (mine, other) = (picks[x], picks[i64.i32 far[x]])
    let is_mine = mine != none && (mine < other || (mine == other && x <= i64.i32 far[x]))
    in if is_mine then x / n * n + i64.i32 lists[x % n, mine & 31] else -1
  let join (x: i64): i32 =
    let y = choice x
    in if y >= 0 && choice y == x then i32.i64 y else -1
  in map join (iota t)

-- Fragments after some joins, of which each fragment has one at most.
local
def join [t] ({first, second, far, size}: fragments [t]) (joins: [t]i32) : fragments [t] =
  -- The new ends know each other.
  let ends = map2 (\x y -> if y >= 0 then i64.i32 (get far (i32.i64 x)) else -1) (iota t) joins
  let sizes = map2 (\z y -> if y >= 0 then z + get size y else 0) size joins
  in { first = map2 (\u y -> if u < 0 then y else u) first joins
     , second = map3 (\u v y -> if u >= 0 && v < 0 then y else v) first second joins
     , far = scatter (copy far) ends (map (\y -> if y >= 0 then get far y else -1) joins)
     , size = scatter (copy size) ends sizes
     }

-- | Join the cities of t / n tours by edges of the lists, the best ones by `rank` of tour, city and place in the city's list, while
-- two fragments pick each other. No fragment has more than `longest` cities.
--
-- A rank ends in five bits of the place. **Work:** O(t k) a round. **Span:** O(k) a round.
def join_all [k] (n: i64) (t: i64) (lists: [n][k]i32) (rank: i64 -> i64 -> i64 -> i64) (longest: i32) : fragments [t] =
  let lone: fragments [t] =
    {first = replicate t (-1), second = replicate t (-1), far = map i32.i64 (iota t), size = replicate t 1}
  let (fragments, _, _) =
    loop (now, go, round) = (lone, true, 0i32)
    while go && round < most_rounds do
      let picks = kept_apart (picks lists rank longest now)
      let joins = joins lists picks now.far
      in (join now joins, or (map (>= 0) joins), round + 1)
  in fragments

-- The fragments of each row along its curve, each by the end that comes first; and how many each row has.
local
def heads [p] [n] (rows: rows) ((xs, ys): spots [n]) (keys: [p]rng.key) ({first = _, second, far, size = _}: fragments [p * n]) : ?[f].([p * instances rows]i32, [f]i32) =
  #[unsafe]
  let place (x: i64) = place_along keys[x / n] xs[x % n] ys[x % n]
  let is_head (x: i64) =
    second[x] < 0
    && (let y = i64.i32 far[x]
        let (mine, other) = (place x, place y)
        in mine < other || (mine == other && x <= y))
  let (upto, heads) = count_true (kept_apart (map is_head (iota (p * n))))
  let before (x: i64) = if x == 0 then 0 else upto[x - 1]
  let size (row: i32) =
    let base = base_of rows row
    in before (base + i64.i32 (bounds_of_row rows row).size) - before base
  let sizes = tabulate (p * instances rows) (\row -> size (i32.i64 row))
  let cities = map (\x -> i32.i64 (i64.i32 x % n)) heads
  let row = map2 (\x c -> row_at rows (i64.i32 x / n) c) heads cities
  let sorted = sort_along rows (xs, ys) keys sizes row cities
  in (sizes, map2 (\x c -> x / i32.i64 n * i32.i64 n + c) heads sorted)

-- The head that each of f tails leads to: that of the next fragment of the row, behind the last one that of the first.
local
def heads_behind [r] [f] (rows: rows) (n: i64) (sizes: [r]i32) (heads: [f]i32) : [f]i32 =
  let starts = starts_of sizes (ends_of sizes)
  let behind (g: i32) (head: i32) =
    let row = row_at rows (i64.i32 head / n) (i32.i64 (i64.i32 head % n))
    let start = get starts row
    in get heads (if g + 1 == start + get sizes row then start else g + 1)
  in map2 behind (map i32.i64 (iota f)) heads

-- The two neighbours of each city of whole rows: fragments follow each other.
local
def closed [p] [n] (rows: rows) (spots: spots [n]) (keys: [p]rng.key) (fragments: fragments [p * n]) : [p * n](i32, i32) =
  let (sizes, heads) = heads rows spots keys fragments
  let tails = map (get fragments.far) heads
  let behind = heads_behind rows n sizes heads
  let next = scatter (replicate (p * n) (-1i32)) (map i64.i32 tails) behind
  let previous = scatter (replicate (p * n) (-1i32)) (map i64.i32 behind) tails
  -- A lone city lacks both neighbours; another end lacks one, and has one of these two.
  let both (u: i32) (v: i32) (x: i32) (y: i32) = if u < 0 then (x, y) else if v < 0 then (u, i32.max x y) else (u, v)
  in map4 both fragments.first fragments.second next previous

-- | Close the fragments of each row along its curve; return the rows from their first cities on, and the positions.
--
-- **Work:** O(p n log n). **Span:** O(log (p n)).
def follow [p] [n] (rows: rows) (spots: spots [n]) (keys: [p]rng.key) (fragments: fragments [p * n]) : ([p * n]i32, [p * n]i32) =
  #[unsafe]
  let around = closed rows spots keys fragments
  -- State 2 c + s: at city c on the way from neighbour s to the other one.
  let step (x: i64): i32 =
    let c = x / 2
    let d = if x % 2 == 0 then around[c].1 else around[c].0
    let y = 2 * d + i32.bool (i64.i32 around[i64.i32 d].0 != c)
    let first = c / n * n + i64.i32 (bounds_at rows (i32.i64 (c % n))).start
    in if y == 2 * i32.i64 first then -1 else y
  let (left, ends) = sums_to_end (log4_up (most_cities rows)) (replicate (p * n * 2) 1) (tabulate (p * n * 2) step)
  -- The way on from neighbour 0 of a row's first city has an end; the way back to it has none.
  let place (c: i64): i32 =
    let {start, size} = bounds_at rows (i32.i64 (c % n))
    in start + size - left[2 * c + i64.bool (!ends[2 * c])]
  let places = tabulate (p * n) place
  let at = map2 (\c q -> c / n * n + i64.i32 q) (iota (p * n)) places
  in (scatter (replicate (p * n) 0i32) at (map (\c -> i32.i64 (c % n)) (iota (p * n))), places)
