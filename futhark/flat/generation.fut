-- | A generation: every tour takes over edges from its mate, by all children that save something and fit together
-- (Nagata and Kobayashi take the best one). It depends on its pair, random numbers and plan; with `thrift` on all edges.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "apply"
import "cycles"
import "exchange"
import "merging"
import "plans"
import "rows"
import "unions"
import "unite"
import "worthy"

-- | Return the stream of random numbers of each tour in a generation. **Work:** O(p). **Span:** O(1).
def streams (p: i64) (seed: u64) (generation: i64) : [p]rng.key =
  let here = rng.word (rng.stream seed generation) 0
  in tabulate p (rng.stream here)

-- | Return the counts of the tours' edges, where the plan has a use for them. **Work:** that of `edge_counts`.
def counts_for [n] [k] [p] (rows: rows) (plan: generation_plan) (lists: [n][k]i32) (tours: [p][n]i32) : counts [n] [k] =
  if plan.thrift > 0 then edge_counts rows lists tours else {tours = p, count = replicate (n * k) 0}

-- | Return the mate of each tour: the next one in a random cyclic order. **Work:** O(p^2). **Span:** O(p).
def random_mates [p] (keys: [p]rng.key) : [p]i32 =
  let words = map (\key -> rng.word key (-1)) keys
  let rank (a: i64) =
    #[unsafe]
    loop before = 0i32
    for b < p do
      before + i32.bool (words[b] < words[a] || (words[b] == words[a] && b < a))
  let order = scatter (replicate p 0i32) (map (\a -> i64.i32 (rank a)) (iota p)) (map i32.i64 (iota p))
  in scatter (replicate p 0i32) (map i64.i32 order) (rotate 1 order)

-- | Return the largest gain of the chosen exchanges of each of r rows, 0 where there is none. **Work:** O(r + c).
def best_gains [c] [m] (r: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : [r]i64 =
  map (i64.max 0) (largest_of r (map2 (\f a -> if f then i64.i32 a else -1) chosen e.row) e.gain)

module mk_generation (M: metric) (S: mergers with data [n] = M.data [n]) = {
  local module G = mk_cycle_gains M

  -- The exchanges that leave one tour after merging and save something, and which of those given do not.
  local
  def merged [n] [k] [p] [t] [c] [m] (data: M.data [n]) (lists: [n][k]i32) (pairs: pairs [p] [t] [n]) (plan: generation_plan) (most: i32) (e: exchanges [c] [m]) : ?[d][l].(exchanges [d] [l], [c]bool) =
    let limits = {most = i64.i32 most, cap = plan.cap, rounds = plan.rounds}
    let (e, left) = S.merge pairs.rows data lists pairs.tours pairs.places limits e
    let good = are_good e left
    in (select e good, map (\f -> !f) good)

  -- | Return the children of all tours: of AB-cycles that save something, and of unions around others. All leave one
  -- tour and save something. **Work:** O(p n), and with the span that of `merge` and `unions`.
  def children [n] [k] [p] [t] (data: M.data [n]) (lists: [n][k]i32) (pairs: pairs [p] [t] [n]) (plan: generation_plan) : ?[c][m].exchanges [c] [m] =
    let d = difference pairs
    let found = ab_cycles plan.most pairs d
    let least = if plan.unions > 0 then i64.lowest else 0
    let (cycles, own) = exchanges_of pairs.rows d found (G.gains data pairs d found) least
    let e = select cycles (map (> 0) cycles.gain)
    let (good, others) = merged data lists pairs plan plan.most e
    in if plan.unions <= 0
       then good
       else let most = 2 * plan.most
            let unions = unions pairs.rows most plan.unions {cycles, d, own} (select e others)
            in both good (merged data lists pairs plan most unions).0

  -- | Take over the union of the chosen children where it saves as much as the best of them; tell which rows changed.
  -- **Work:** O(p n), and that of `merge`. **Span:** that of `merge`.
  def take_over [n] [k] [p] [r] [c] [m] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n] [r]) (e: exchanges [c] [m]) (chosen: [c]bool) : (population [p] [n] [r], [r]bool) =
    let united = unite rows p e chosen :> exchanges [r] []
    let (united, left) = S.merge_unions rows data lists population.tours population.places united
    let best = best_gains r e chosen
    in apply rows population united (map3 (\f g b -> f && g >= b) (are_good united left) united.gain best)

  -- | Return the tours of pairs after they have taken over edges, and which rows changed; `counts` are those of their
  -- population. **Work:** O(p n), and that of `children`. **Span:** that of `children`.
  def cross [n] [k] [p] [t] [r] (data: M.data [n]) (lists: [n][k]i32) (counts: counts [n] [k]) (pairs: pairs [p] [t] [n]) (lengths: [r]i64) (plan: generation_plan) : (population [p] [n] [r], [r]bool) =
    let e = children data lists pairs plan
    let chosen =
      if plan.thrift <= 0
      then map (const true) e.row
      else worthy r plan.thrift e (entropy_lost pairs.rows lists pairs.tours counts e)
    in take_over pairs.rows data lists {tours = pairs.tours, places = pairs.places, lengths} e chosen

  -- | Return the generation of a plan, all pairs at once, and which rows changed. **Work, Span:** those of `cross`.
  def generation [n] [k] [p] [r] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n] [r]) (plan: generation_plan) : (population [p] [n] [r], [r]bool) =
    let {tours, places, lengths} = population
    let keys = streams p plan.seed plan.generation
    let pairs = {rows, tours, places, others = tours, other_places = places, mates = random_mates keys, keys}
    in cross data lists (counts_for rows plan lists tours) pairs lengths plan

  -- | Return the same generation of one instance, a pair a thread. **Work:** that of `cross`. **Span:** that of a pair.
  def by_pair [n] [k] [p] (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n] [p]) (plan: generation_plan) : (population [p] [n] [p], [p]bool) =
    let {tours, places, lengths} = population
    let keys = streams p plan.seed plan.generation
    let mates = random_mates keys
    let counts = counts_for (one_row n) plan lists tours
    let alone (a: i64) =
      #[unsafe]
      let only (rows: [p][n]i32) = rows[a:a + 1] :> [1][n]i32
      let pair =
        { rows = one_row n
        , tours = only tours
        , places = only places
        , others = tours
        , other_places = places
        , mates = [mates[a]]
        , keys = [keys[a]]
        }
      let (after, changed) = cross data lists counts pair [lengths[a]] plan
      in (after.tours[0], after.places[0], after.lengths[0], changed[0])
    let (tours, places, lengths, changed) = unzip4 (cores.over alone (iota p))
    in ({tours, places, lengths}, changed)
}
