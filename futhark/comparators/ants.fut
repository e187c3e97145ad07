-- | Ant colonies: Ant System (Dorigo, Maniezzo, Colorni 1996), its rank-based form (Bullnheimer, Hartl, Strauss 1999),
-- and MAX-MIN Ant System (Stützle, Hoos 2000).

import "../core/instances"
import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/tour"
import "../local_search/ils"
import "../local_search/near_tours"
import "../local_search/population"
import "../local_search/three_opt"
import "../local_search/worker"

-- | Colonies in columns: trails to neighbours; the best tour, its length, improvements, iterations since the last.
type colonies [p] [n] [k] = {trails: [p][n][k]f64, bests: [p][n]i32, lengths: [p]i64, steps: [p]i64, idle: [p]i64}

-- | Colonies that know a tour, with equal trails everywhere.
def given_colonies [p] [n] (k: i64) (tours: [p][n]i32) (lengths: [p]i64) (trail: f64) : colonies [p] [n] [k] =
  let bests = assert (fits_32_bits n && are_climbers 0 p && k >= 0 && all is_tour tours) tours
  let trails = replicate p (replicate n (replicate k trail))
  in {trails, bests, lengths, steps = replicate p 0, idle = replicate p 0}

-- | The rules of a colony: ants, each by the power `quarters` / 4 of the trails; search by nothing (0), 2-opt (1),
-- Or-opt too (2), or 3-opt (3).
--
-- Trails keep the share `keep`. The r-th shortest tour of an iteration adds weights[r] * reference / length to its
-- edges, and the best one `elite`; with `turns`, only the latter in each turns-th iteration, only the ants in others.
-- With `floor`, trails stay between floor * most and most = reference / ((1 - keep) * length), and after `patience`
-- idle iterations go the share `smoothing` of their way to most.
type rules [w] =
  { ants: i64
  , quarters: i32
  , search: i32
  , keep: f64
  , weights: [w]f64
  , elite: f64
  , turns: i64
  , reference: f64
  , floor: f64
  , smoothing: f64
  , patience: i64
  }

def is_share (x: f64) = x >= 0 && x <= 1

def are_rules [w] (rules: rules [w]) =
  rules.ants >= 1
  && rules.ants >= w
  && rules.ants <= 1 << 31
  && rules.quarters >= 0
  && rules.quarters <= 16
  && rules.search >= 0
  && rules.search <= 3
  && is_share rules.keep
  && (rules.floor == 0 || rules.keep < 1)
  && all (\x -> x >= 0 && x <= 1e6) rules.weights
  && rules.elite >= 0
  && rules.elite <= 1e6
  && rules.turns >= 0
  && rules.reference > 0
  && is_share rules.floor
  && is_share rules.smoothing
  && rules.patience >= 1

def are_attractions [n] [k] (etas: [n][k]f64) = all (all (\x -> x >= 1e-80 && x <= 1e80)) etas

-- | No trail is weaker or stronger, so that no power of it leaves the numbers' range.
def faintest : f64 = 1e-50
def clearest : f64 = 1e50

-- | A power in quarters: products and roots only, which are rounded alike on every device.
def power (x: f64) (quarters: i32) : f64 =
  let y = loop y = 1 for _i < quarters / 4 do y * x
  let root = f64.sqrt x
  let y = if quarters & 2 == 0 then y else y * root
  in if quarters & 1 == 0 then y else y * f64.sqrt root

-- | The random words of an ant in an iteration of a colony.
def ant_key (seed: u64) (colony: i64) (iteration: i64) (ant: i64) : rng.key =
  rng.stream (rng.word (rng.stream seed colony) ((1 << 32) + iteration)) ant

module mk_ants (M: metric) (P: climbers with data [n] = M.data [n]) (S: schedule) = {
  module L = mk_length M
  module N = mk_near_tours M S

  local
  -- | An ant's next city: a neighbour left, in places from `from` on, by its attraction, or -1. **Work:** O(k).
  def draw_next [n] [k]
                (lists: [n][k]i32)
                (attractions: [n][k]f64)
                (place: [n]i32)
                (from: i32)
                (c: i32)
                (word: u64) : i32 =
    #[unsafe]
    let c = i64.i32 c
    let attraction (j: i32) = if place[i64.i32 lists[c, i64.i32 j]] >= from then attractions[c, i64.i32 j] else 0
    let k32 = i32.i64 k
    let all = loop sum = 0 for j < k32 do sum + attraction j
    -- The word's first 53 bits, as a fraction.
    let wanted = f64.u64 (word >> 11) * 1.1102230246251565e-16 * all
    let (next, _, _) =
      loop (next, sum, j) = (-1, 0, 0)
      while j < k32 && (next < 0 || sum <= wanted) do
        let x = attraction j
        in (if x > 0 then lists[c, i64.i32 j] else next, sum + x, j + 1)
    in next

  -- | The tour of an ant, from a random city. **Work:** O(n k), and O(n) a city whose neighbours are all visited.
  def walk [n] [k] (data: M.data [n]) (lists: [n][k]i32) (attractions: [n][k]f64) (works: bool) (key: rng.key) : *[n]i32 =
    #[unsafe]
    let n32 = i32.i64 n
    let tour: *[n]i32 = map i32.i64 (iota n)
    let place: *[n]i32 = map i32.i64 (iota n)
    let (tour, _) =
      loop (tour, place) for at < (if works then n32 else 0) do
        let before = tour[i64.i32 (i32.max 0 (at - 1))]
        let next =
          if at == 0
          then rng.below key 0 n32
          else draw_next lists attractions place at before (rng.word key (i64.i32 at))
        in visit tour place at (if next < 0 then N.nearest_left data tour before at else next)
    in tour

  local
  -- | The tours of ants, and their lengths, after their local search.
  def improve [c] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (search: i32) (tours: [c][n]i32) : ([c][n]i32, [c]i64) =
    if search == 0
    then (tours, map (L.tour_length data) tours)
    else let plan = plan_of n (descent_plan with moves = if search == 3 then 1 else 0)
         -- No segment is so short that 2-opt alone would move it.
         let plan = if search == 1 then plan with choice = (plan.choice with segment = -1) else plan
         let {tours = _, bests, lengths, steps = _} = P.climb data lists plan (population_on tours)
         in (bests, lengths)

  local
  -- | The tours that strengthen the trails: ants by rank, then the best, as places of cities; and by how much.
  def marks [n] [m] [w] (rules: rules [w]) (iteration: i64) (tours: [m][n]i32) (lengths: [m]i64) (best: [n]i32) (length: i64) : ([w + 1][n]i32, [w + 1]f64) =
    let elite_turn = rules.turns == 0 || iteration % rules.turns == 0
    let ants_turn = rules.turns == 0 || !elite_turn
    let before a b = lengths[a] < lengths[b] || (lengths[a] == lengths[b] && a < b)
    let rank a = loop r = 0i64 for b < m do #[unsafe] r + i64.bool (before b a)
    let ranks = map rank (iota m)
    let order = scatter (replicate w 0i64) ranks (iota m)
    -- A tour of length 0 is as good as one of length 1.
    let mark (weight: f64) (counts: bool) (l: i64) = if counts then weight * rules.reference / f64.i64 (i64.max 1 l) else 0
    let places = map (\a -> #[unsafe] positions tours[a]) order ++ [positions best]
    let marks = map2 (\a weight -> #[unsafe] mark weight ants_turn lengths[a]) order rules.weights
    in (places, marks ++ [mark rules.elite elite_turn length])

  local
  -- | The trail of an edge after an iteration.
  def trail_after [n] [v] [w] (rules: rules [w]) (length: i64) (smooth: bool) (places: [v][n]i32) (marks: [v]f64) (trail: f64) (a: i32) (b: i32) : f64 =
    #[unsafe]
    let trail =
      loop trail = rules.keep * trail
      for d < v do
        let apart = i32.abs (places[d, i64.i32 a] - places[d, i64.i32 b])
        in if apart == 1 || apart == i32.i64 n - 1 then trail + marks[d] else trail
    let most = rules.reference / ((1 - rules.keep) * f64.i64 (i64.max 1 length))
    let trail =
      if rules.floor > 0 then f64.min most (f64.max (rules.floor * most) trail) else trail
    let trail = if smooth then trail + rules.smoothing * (most - trail) else trail
    in f64.min clearest (f64.max faintest trail)

  local
  -- | An iteration, of streams `first` + c of the seed. **Work:** O(p n k (ants + w)), and that of local search.
  def iterate [p] [n] [k] [w]
              (data: M.data [n])
              (lists: [n][k]i32)
              (etas: [n][k]f64)
              (rules: rules [w])
              (seed: u64)
              (first: i64)
              (iteration: i64)
              ({trails, bests, lengths, steps, idle}: colonies [p] [n] [k]) : colonies [p] [n] [k] =
    let m = rules.ants
    let attractions =
      map (\trails -> map2 (map2 (\trail eta -> power trail rules.quarters * eta)) trails etas) trails
    let walk t works =
      let key = ant_key seed (first + t / m) iteration (t % m)
      in #[unsafe] walk data lists attractions[t / m] works key
    let (tours, found) = improve data lists rules.search (S.each (p * m) n walk)
    let tours = unflatten tours
    let found = unflatten found
    let shorter (l, a) (k, b) = if l < k || (l == k && a < b) then (l, a) else (k, b)
    let firsts = map (\found -> reduce_comm shorter (i64.highest, i64.highest) (zip found (iota m))) found
    let better = map2 (\(l, _) length -> l < length) firsts lengths
    let bests =
      tabulate_2d p n (\c i -> #[unsafe] if better[c] then tours[c, firsts[c].1, i] else bests[c, i])
    let lengths = map2 (\(l, _) length -> i64.min l length) firsts lengths
    let idle = map2 (\better idle -> if better then 0 else idle + 1) better idle
    let smooth = map (\idle -> rules.floor > 0 && idle >= rules.patience) idle
    let (places, marks) = unzip (map4 (marks rules iteration) tours found bests lengths)
    let after c i j =
      #[unsafe]
      trail_after rules lengths[c] smooth[c] places[c] marks[c] trails[c, i, j] (i32.i64 i) lists[i, j]
    in { trails = tabulate_3d p n k after
       , bests
       , lengths
       , steps = map2 (\better steps -> steps + i64.bool better) better steps
       , idle = map2 (\smooth idle -> if smooth then 0 else idle) smooth idle
       }

  -- | The colonies go on by a stretch of iterations; an edge attracts by its trail's power times `etas`.
  #[noinline]
  def forage [p] [n] [k] [w]
             (data: M.data [n])
             (lists: [n][k]i32)
             (etas: [n][k]f64)
             (colonies: colonies [p] [n] [k])
             (rules: rules [w])
             ({seed, first, from, iterations}: stretch) : colonies [p] [n] [k] =
    let lists = assert (are_lists lists) lists
    let etas = assert (are_attractions etas) etas
    let rules = assert (are_rules rules) rules
    in loop colonies for i < iterations do
         iterate data lists etas rules seed first (from + i) colonies
}
