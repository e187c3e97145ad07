-- | A generation: every tour takes over edges from its mate, by all of its children that fit together.
--
-- Nagata and Kobayashi take the best child of a pair (see `cycles`). Here all children that leave one tour and save
-- something become one exchange. What becomes of a pair depends on its two tours, its random numbers and the plan only.

import "../core/metric"
import "../core/rng"
import "apply"
import "cycles"
import "exchange"
import "merging"
import "segments"
import "unite"

-- | How a generation is made: the most edges of an AB-cycle, and the most cities of a subtour and the most rounds in merging.
type plan = {most: i32, cap: i32, rounds: i32}

-- | The most rounds in which the union of a pair's children is merged, whose subtours may have any size.
def union_rounds : i32 = 20

-- | Return the stream of random numbers of each tour in a generation. **Work:** O(p). **Span:** O(1).
def streams (p: i64) (seed: u64) (generation: i64) : [p]rng.key =
  let here = rng.word (rng.stream seed generation) 0
  in tabulate p (rng.stream here)

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

-- | Return the largest gain of the chosen exchanges of each of p tours, 0 where there is none. **Work:** O(p + c).
def best_gains [c] [m] (p: i64) (e: exchanges [c] [m]) (chosen: [c]bool) : [p]i64 =
  hist i64.max 0 p (map2 (\f a -> if f then i64.i32 a else -1) chosen e.pair) e.gain

module mk_generation (M: metric) = {
  module G = mk_cycle_gains M
  module S = mk_merging M

  -- | Return the children of all tours, one for each AB-cycle that saves something, and which of them leave one tour.
  --
  -- **Work:** O(p n), and that of `merge`. **Span:** that of `merge`.
  def children [n] [k] [p] (data: M.data [n]) (lists: [n][k]i32) (pairs: pairs [p] [n]) (plan: plan) : ?[c][m].(exchanges [c] [m], [c]bool) =
    let d = difference pairs
    let cycles = ab_cycles plan.most pairs d
    let (e, _) = exchanges_of d cycles (G.gains data pairs d cycles) 0
    let limits = {most = i64.i32 plan.most, cap = plan.cap, rounds = plan.rounds}
    let (e, left) = S.merge data lists pairs.tours pairs.places limits e
    in (e, are_good e left)

  -- | Take over the union of the chosen children of each tour, where it saves at least as much as the best of them; tell
  -- which tours changed.
  --
  -- **Work:** O(p n), and that of `merge`. **Span:** that of `merge`.
  def take_over [n] [k] [p] [c] [m] (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n]) (e: exchanges [c] [m]) (chosen: [c]bool) : (population [p] [n], [p]bool) =
    let united = unite p n e chosen
    let limits = {most = i64.i32 (i32.max 1 (i32.maximum united.size)), cap = i32.i64 n, rounds = union_rounds}
    let (united, left) = S.merge data lists population.tours population.places limits united
    let best = best_gains p e chosen
    in apply population united (map3 (\f g b -> f && g >= b) (are_good united left) united.gain best)

  -- | Return the tours after they have taken over edges from their mates, and which of them changed.
  --
  -- **Work:** O(p n), and that of `merge`. **Span:** that of `merge`.
  def cross [n] [k] [p] (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n]) (mates: [p]i32) (keys: [p]rng.key) (plan: plan) : (population [p] [n], [p]bool) =
    let pairs = {tours = population.tours, places = population.places, mates, keys}
    let (e, good) = children data lists pairs plan
    in take_over data lists population e good

  -- | Return generation number `generation` of a seed, and which tours changed. **Work, Span:** those of `cross`.
  def generation [n] [k] [p] (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n]) (seed: u64) (generation: i64) (plan: plan) : (population [p] [n], [p]bool) =
    let keys = streams p seed generation
    in cross data lists population (random_mates keys) keys plan
}
