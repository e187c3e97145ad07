-- | AB-cycles of all pairs at once: closed walks along edges that only a tour A or only its mate B has, in turns
-- (Nagata, Kobayashi, INFORMS Journal on Computing 25(2), 2013). At a city without both edges of A a random bit pairs
-- edges, so that cycles are the orbits of a permutation.

import "../core/metric"
import "../core/rng"
import "exchange"
import "orbits"
import "rows"

-- | p tours of n cities in rows, positions of cities, the mate of each among t others, and streams of random numbers.
type~ pairs [p] [t] [n] =
  { rows: rows
  , tours: [p][n]i32
  , places: [p][n]i32
  , others: [t][n]i32
  , other_places: [t][n]i32
  , mates: [p]i32
  , keys: [p]rng.key
  }

-- | The w edges that mates lack, by positions through all tours: `upto` counts those up to each position.
type difference [p] [n] [w] = {upto: [p * n]i32, edges: [w]i32}

-- | The AB-cycle of each edge, by its first edge, -1 where too long; its edges of A, there; and where edges of B lead
-- from the ends of edges of A: end 2 e of edge e is the city at its position, end 2 e + 1 the next one.
type cycles [w] = {cycle: [w]i32, size: [w]i32, link: [w * 2]i32}

-- True if positions are no neighbours in a row of `size` cities.
local
def are_apart (size: i32) (d: i32) : bool = let d = i32.abs d in d != 1 && d != size - 1

-- | Find the edges that differ in rows that go on. **Work:** O(p n). **Span:** O(log (p n)).
#[noinline]
def difference [p] [t] [n] ({rows, tours, places = _, others = _, other_places, mates, keys = _}: pairs [p] [t] [n]) : ?[w].difference [p] [n] [w] =
  let many = numbered (p * n)
  let tour = flatten tours
  let differs (x: i64) =
    #[unsafe]
    let (a, q) = (x / n, x % n)
    let place = other_places[i64.i32 mates[a]]
    let {start, size} = bounds_at rows (i32.i64 q)
    let next = if i32.i64 q + 1 == start + size then x + 1 - i64.i32 size else x + 1
    in goes_at rows (i32.i64 q) && are_apart size (get place tour[x] - get place tour[next])
  let (upto, edges) = count_true (map differs (iota many))
  in {upto = upto :> [p * n]i32, edges}

-- Tell whether the edge behind a position of a tour differs; the tour begins at `base`. **Work:** O(1).
local
def is_lost [p] [n] [w] (d: difference [p] [n] [w]) (base: i64) (q: i32) : bool =
  #[unsafe]
  let x = base + i64.i32 q
  in d.upto[x] != before 0 d.upto x

-- The end of an edge of A to which an edge of B leads from another end. **Work:** O(1).
local
def partner [p] [t] [n] [w] ({rows, tours, places, others, other_places, mates, keys}: pairs [p] [t] [n]) (d: difference [p] [n] [w]) (end: i32) : i32 =
  #[unsafe]
  let n32 = i32.i64 n
  let x = get d.edges (end >> 1)
  let a = i64.i32 (x / n32)
  let base = a * n
  let b = i64.i32 mates[a]
  let bounds = bounds_at rows (x - i32.i64 base)
  let at (q: i32) = within bounds q
  let lost (q: i32) = is_lost d base (at q)
  let loses_both (q: i32) = lost q && lost (q - 1)
  let bit (q: i32) = i32.u64 (rng.word keys[a] (i64.i32 (q - bounds.start)) & 1)
  -- Side 0 of a city is its edge to the next one, side 1 that to the one before; of A, and so for B.
  let side = end & 1
  let q = at (x - i32.i64 base + side)
  let t = get other_places[b] (get tours[a] q)
  let next = get others[b] (at (t + 1))
  let way = if loses_both q then side ^ bit q else i32.bool (!(are_apart bounds.size (q - get places[a] next)))
  let to = get places[a] (if way == 0 then next else get others[b] (at (t - 1)))
  let to_side = if loses_both to then (1 - way) ^ bit to else i32.bool (!(lost to))
  in 2 * (d.upto[base + i64.i32 (at (to - to_side))] - 1) + to_side

-- | Find all AB-cycles of up to `most` edges of A. **Work:** O(w log most). **Span:** O(log most + log w).
#[noinline]
def ab_cycles [p] [t] [n] [w] (most: i32) (pairs: pairs [p] [t] [n]) (d: difference [p] [n] [w]) : cycles [w] =
  #[unsafe]
  let link = tabulate (w * 2) (\x -> partner pairs d (i32.i64 x))
  -- Across the edge of A, then along that of B. Each cycle has two orbits, one for each direction.
  let next = map (\x -> link[x ^ 1]) (iota (w * 2))
  let least = least_of_orbits (log4_up (i64.i32 most)) next
  -- A number in a longer orbit differs from the next one where the least of those behind it does.
  let weight (x: i64) = if get least next[x] == least[x] then 1 else 2 * most + 1
  let counts = sums w (map (\l -> i64.i32 (l >> 1)) least) (map weight (iota (w * 2)))
  let of_edge (e: i64) =
    let c = i32.min least[2 * e] least[2 * e + 1] >> 1
    in if get counts c <= 2 * most then c else -1
  in {cycle = map of_edge (iota w), size = map (/ 2) counts, link}

-- | Return cycles that save more than `least` as exchanges, and the exchange of each edge, or -1. They are in order of
-- rows and first cuts; a walk around a cycle finds a cut's place. **Work:** O(w most). **Span:** O(most + log w).
#[noinline]
def exchanges_of [p] [n] [w] (rows: rows) (d: difference [p] [n] [w]) ({cycle, size, link}: cycles [w]) (gains: [w]i64) (least: i64) : ?[c][m].(exchanges [c] [m], [w]i32) =
  #[unsafe]
  let (upto, first) = count_true (map3 (\e c g -> i64.i32 c == e && g > least) (iota w) cycle gains)
  let own_of = map (\c -> if c >= 0 && get gains c > least then get upto c - 1 else -1) cycle
  let sizes = map (get size) first
  let ends = ends_of sizes
  let m = total_of ends
  let off = starts_of sizes ends
  let slot_of (e: i64) (o: i32): i64 =
    let (_, before) =
      loop (x, before) = (link[2 * e + 1], 0)
      while o >= 0 && i64.i32 (x >> 1) != e do
        (get link (x ^ 1), before + i64.bool (i64.i32 (x >> 1) < e))
    in if o < 0 then -1 else i64.i32 (get off o) + before
  let slots = kept_apart (map2 slot_of (iota w) own_of)
  let source = scatter (replicate m 0i32) slots (map i32.i64 (iota w))
  let moved (x: i32) = 2 * i32.i64 (get slots (x >> 1)) + (x & 1)
  let at (e: i32) = get d.edges e % i32.i64 n
  in ( { row = map (\e -> row_at rows (i64.i32 (get d.edges e / i32.i64 n)) (at e)) first
       , off
       , size = sizes
       , gain = map (get gains) first
       , cut = map at source
       , own = map (get own_of) source
       , link = map (\e -> (moved (get link (2 * e)), moved (get link (2 * e + 1)))) source
       }
     , own_of
     )

module mk_cycle_gains (M: metric) = {
  -- | Return what each cycle saves, at its first edge. **Work:** O(w). **Span:** O(log w).
  #[noinline]
  def gains [p] [t] [n] [w] (data: M.data [n]) (pairs: pairs [p] [t] [n]) (d: difference [p] [n] [w]) (c: cycles [w]) : [w]i64 =
    #[unsafe]
    let n32 = i32.i64 n
    let city (end: i32) =
      let x = get d.edges (end >> 1)
      let a = x / n32
      let q = x - a * n32
      in M.point data (get pairs.tours[i64.i32 a] (if end & 1 == 0 then q else stepped pairs.rows q 1))
    let between (x: i32) (y: i32) = i64.i32 (M.dist data (city x) (city y))
    -- Each edge of B has two ends, and counts for half at each.
    let twice (e: i64) =
      let (x, y) = (2 * i32.i64 e, 2 * i32.i64 e + 1)
      in 2 * between x y - between x (get c.link x) - between y (get c.link y)
    in map (/ 2) (wide_sums w (map i64.i32 c.cycle) (map twice (iota w)))
}
