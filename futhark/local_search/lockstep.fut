-- | Iterated local search of climbers in step, in device memory (Delévacq, Delisle, Krajecki 2012): a step is a kernel
-- that finds moves, by thread blocks, and a few that make them. Each climber comes to what it does alone.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "block_worker"
import "ils"
import "kick"
import "population"
import "route"
import "three_opt"
import "tour_edits"

-- | Reversals of a tour, one after the other: of each the first position and how many; none, where these are 0.
type reversals = [4](i32, i32)

-- | The image of a position in a reversal, which is its origin, too. **Work:** O(1).
def reversed (n: i32) ((first, count): (i32, i32)) (p: i32) : i32 =
  let o = wrap n (p - first)
  in if o < count then wrap n (first + count - 1 - o) else p

-- | The reversals that make `count` exchanges, at most four. **Work:** O(1).
def reversals_of [n] (r: route [n]) (count: i32) (exchange_at: i32 -> exchange) : reversals =
  let n32 = i32.i64 n
  in loop rs = replicate 4 (0, 0)
     for s < count do
       let place c = loop p = position r c for j < s do #[unsafe] reversed n32 rs[i64.i32 j] p
       let (a, b, c, d) = exchange_at s
       let side = shorter_side n32 (place a, place b, place c, place d)
       in #[unsafe] rs with [i64.i32 s] = side

-- | A route after reversals. **Work:** O(n). **Span:** O(1).
def turned [n] (rs: reversals) (r: route [n]) : *route [n] =
  let n32 = i32.i64 n
  let before p = loop p for j < 4i64 do #[unsafe] reversed n32 rs[3 - j] p
  let after p = loop p for j < 4i64 do #[unsafe] reversed n32 rs[j] p
  in map (\i -> if i < n then at r (before (i32.i64 i)) else after (#[unsafe] r[i])) (iota (n + n))

-- | The most cities that come to wait at once.
def most_coming : i64 = 8

-- | The number of places of a queue that change if some cities leave it and others come.
def changes (most_leaving: i64) : i64 = 2 + 2 * most_coming + most_leaving

-- | Change `w` of a queue that some leave before others come, if new: a place, or -1, and its value. **Work:** O(1).
def change [n] (q: queue [n]) (leaving: i32) (coming: i32) (city: i32 -> i32) (w: i64) : (i64, i32) =
  let leaves c = loop x = false for s < leaving do x || peek q s == c
  let among c (count: i32) = loop x = false for j < count do x || city j == c
  let enters i = !among (city i) i && (leaves (city i) || #[unsafe] q[2 + n + i64.i32 (city i)] == 0)
  let before i = loop count = 0 for j < i do count + i32.bool (enters j)
  let head = wrap (i32.i64 n) (#[unsafe] q[0] + leaving)
  let stay = waiting q - leaving
  let i = i32.i64 ((w - 2) % most_coming)
  let s = i32.i64 (w - 2 - 2 * most_coming)
  in if w == 0
     then (0, head)
     else if w == 1
     then (1, stay + before coming)
     else if s >= 0
     then (if s < leaving && !among (peek q s) coming then (2 + n + i64.i32 (peek q s), 0) else (-1, 0))
     else if i >= coming || !enters i
     then (-1, 0)
     else if w < 2 + most_coming
     then (2 + i64.i32 (wrap (i32.i64 n) (head + wrap (i32.i64 n) (stay + before i))), city i)
     else (2 + n + i64.i32 (city i), 1)

-- | The place `e` of a queue in which all cities wait, in the order of the tour.
def all_waiting [n] (r: route [n]) (e: i64) : i32 =
  if e == 0 then 0 else if e == 1 then i32.i64 n else if e < 2 + n then at r (i32.i64 (e - 2)) else 1

-- | A climber within an iteration: gain, moves, those when all last waited, reversals; if failed; if it goes on.
type trial = {gain: i64, moves: i64, checked: i64, reversals: i32, failed: bool, on: bool}

def are_blocks (blocks: i64) = blocks >= 1 && blocks <= 1024

module mk_lockstep (M: metric) (G: group) = {
  module W = mk_block_worker M G
  module T = mk_three_opt M
  module K = mk_kick M
  module L = mk_length M

  -- The next move of each climber, and how many cities leave its queue, by a thread block each.
  local
  def look [p] [n] [k]
           (data: M.data [n])
           (links: links [n] [k])
           (choice: choice)
           (routes: [p][n + n]i32)
           (queues: [p][2 + n + n]i32) : [p](i32, move) =
    #[incremental_flattening(only_intra)] map (\c -> #[unsafe] W.look data links choice routes[c] queues[c]) (iota p)

  -- The best draw of each climber that goes on, shared out among several thread blocks.
  local
  def draw [p] [n] [k]
           (data: M.data [n])
           (links: links [n] [k])
           (choice: choice)
           (count: i64)
           (keys: [p]rng.key)
           (routes: [p][n + n]i32)
           (queues: [p][2 + n + n]i32)
           (trials: [p]trial) : [p](i32, move) =
    let by_block t =
      #[unsafe]
      let c = t / count
      let choice = choice with draws = if trials[c].on then choice.draws else 0
      in W.best_draw data links choice routes[c] queues[c] keys[c] (i32.i64 (t % count)) (i32.i64 count)
    let bests = #[incremental_flattening(only_intra)] map by_block (iota (p * count))
    let best c =
      let key b = #[unsafe] (bests[c * count + b].found.gain, bests[c * count + b].number, b)
      let (gain, _, b) = reduce_comm better_draw (0, i32.highest, 0) (map key (iota count))
      let {number = _, city, found} = #[unsafe] bests[c * count + b]
      in (0, if gain > 0 then T.found_move links (#[unsafe] routes[c]) city found else no_move)
    in #[incremental_flattening(only_intra)] map best (iota p)

  -- A climber after its next move, with so many cities waiting; that move, or none; and whether all cities wait again.
  local
  def judge (choice: choice) (is_trial: bool) (t: trial) (move: move) (waiting: i32) : (trial, move, bool) =
    let is_full (reversals: i32) = is_trial && reversals + 3 > log_capacity
    let drawn = choice.draws > 0
    let failed = t.failed || (t.on && !drawn && is_full t.reversals)
    let made = if t.on && !failed then move else no_move
    let reversals = t.reversals + exchanges made
    let failed = failed || (drawn && is_full reversals)
    let moves = t.moves + i64.bool (made.kind > 0)
    let again = t.on && !drawn && !is_trial && waiting == 0 && moves > t.checked
    let on = t.on && !failed && (if drawn then made.kind > 0 else waiting > 0 || again)
    in ( {gain = t.gain + made.gain, moves, checked = if again then moves else t.checked, reversals, failed, on}
       , made
       , again
       )

  -- Let climbers make a move each, as long as one goes on.
  local
  def search_on [p] [n] [k]
                (data: M.data [n])
                (links: links [n] [k])
                (choice: choice)
                (count: i64)
                (is_trial: bool)
                (keys: [p]rng.key)
                (iteration: i64)
                (routes: [p][n + n]i32)
                (queues: *[p * (2 + n + n)]i32)
                (trials: [p]trial) : ([p][n + n]i32, [p]trial) =
    let (routes, _, trials, _) =
      loop (routes, queues, trials, on) = (routes, queues, trials, any (\(t: trial) -> t.on) trials)
      while on do
        let rows = unflatten queues
        let steps = map2 (\key (t: trial) -> draws_of key iteration t.moves) keys trials
        let found =
          if choice.draws > 0
          then draw data links choice count steps routes rows trials
          else look data links choice routes rows
        let judged c =
          #[unsafe]
          let (leaving, move) = found[c]
          let q = rows[c]
          let (_, now) = change q leaving (ends move) (end move) 1
          in judge choice is_trial trials[c] move now
        let (trials', moves, agains) = unzip3 (#[incremental_flattening(only_inner)] map judged (iota p))
        -- One reduction: see `extremes` in gpu_metric.fut.
        let (on, again) =
          reduce_comm (\(a, b) (c, d) -> (a || c, b || d))
                      (false, false)
                      (map2 (\(t: trial) again -> (t.on, again)) trials' agains)
        let turn c = #[unsafe] reversals_of routes[c] (exchanges moves[c]) (exchange_of moves[c])
        let turns = #[incremental_flattening(only_inner)] map turn (iota p)
        let width = changes G.cities
        let written t =
          #[unsafe]
          let c = t / width
          let leaving = if trials[c].on then found[c].0 else 0
          let (place, value) = change rows[c] leaving (ends moves[c]) (end moves[c]) (t % width)
          in (if place < 0 then -1 else c * (2 + n + n) + place, value)
        let (places, values) = unzip (map written (iota (p * width)))
        let queues = scatter queues places values
        let routes = map2 turned turns routes
        let queues =
          loop queues: *[p * (2 + n + n)]i32 = queues
          for _i < i64.bool again do
            let filled t old =
              #[unsafe]
              let c = t / (2 + n + n)
              in if agains[c] then all_waiting routes[c] (t % (2 + n + n)) else old
            in map2 filled (iota (p * (2 + n + n))) queues
        in (routes, queues, trials', on)
    in (routes, trials)

  -- | The climbers go on by a plan, their draws shared out among `count` thread blocks each.
  #[noinline]
  def climb [p] [n] [k]
            (data: M.data [n])
            (lists: [n][k]i32)
            (plan: plan)
            (count: i64)
            (population: population [p] [n]) : population [p] [n] =
    let count = assert (are_blocks count) count
    let links = T.links_of data (assert (are_lists lists) lists)
    let keys = map (\c -> rng.stream plan.given.seed (plan.given.first + c)) (iota p)
    let routes = map (\tour -> (tour ++ positions tour) :> [n + n]i32) population.tours
    let lengths = #[incremental_flattening(only_inner)] map (\tour -> L.tour_length data tour) population.tours
    let best_lengths = #[incremental_flattening(only_inner)] map (\tour -> L.tour_length data tour) population.bests
    let descents = i64.bool (plan.given.from == 0)
    let (routes, bests, lengths, best_lengths, steps) =
      loop (routes, bests, lengths, best_lengths, steps) = (routes, copy population.bests, lengths, best_lengths, copy population.steps)
      for i < descents + (if n < 5 then 0 else plan.given.iterations) do
        let is_trial = i >= descents
        let iteration = plan.given.from + i - descents
        let kick c =
          #[unsafe]
          let r = routes[c]
          let cuts = K.cuts data plan.kicks links r keys[c] iteration
          let made = is_trial && cuts.made
          let bridge = bridge_at r cuts
          let count = if made then bridge_exchanges else 0
          in (made, if made then K.cost data bridge else 0, bridge, reversals_of r count (bridge_exchange bridge))
        let (mades, costs, bridges, turns) = unzip4 (#[incremental_flattening(only_inner)] map kick (iota p))
        let kicked = map2 turned turns routes
        -- All cities wait for a descent, those of the kick in a trial.
        let filled t =
          #[unsafe]
          let r = routes[t / (2 + n + n)]
          in if is_trial then 0 else all_waiting r (t % (2 + n + n))
        let queues: *[p * (2 + n + n)]i32 = map filled (iota (p * (2 + n + n)))
        let rows = unflatten queues
        let width = changes 0
        let written t =
          #[unsafe]
          let c = t / width
          let (place, value) = change rows[c] 0 (if mades[c] then 8 else 0) (pier bridges[c]) (t % width)
          in (if is_trial && place >= 0 then c * (2 + n + n) + place else -1, value)
        let (places, values) = unzip (map written (iota (p * width)))
        let queues = scatter queues places values
        let begun made =
          { gain = 0i64
          , moves = 0i64
          , checked = 0i64
          , reversals = if made then bridge_exchanges else 0
          , failed = false
          , on = if is_trial then made else true
          }
        let (tried, trials) =
          search_on data links plan.choice count is_trial keys iteration kicked queues (map begun mades)
        let decide c =
          #[unsafe]
          let t = trials[c]
          in ended plan keys[c] iteration is_trial t.failed (costs[c] - t.gain) t.moves lengths[c] best_lengths[c]
        let (accepted, leaves, lengths, best_lengths, made) = unzip5 (#[incremental_flattening(only_inner)] map decide (iota p))
        let steps = map2 (+) steps made
        -- The best tour is written down when the climber leaves it: it is the one before the trial.
        let bests = map (\c -> map (\i -> #[unsafe] if leaves[c] then routes[c, i] else bests[c, i]) (iota n)) (iota p)
        let routes = map (\c -> map (\i -> #[unsafe] if accepted[c] then tried[c, i] else routes[c, i]) (iota (n + n))) (iota p)
        in (routes, bests, lengths, best_lengths, steps)
    let stays c = #[unsafe] lengths[c] <= best_lengths[c]
    in { tours = map (\r -> take n r) routes
       , bests = map (\c -> map (\i -> #[unsafe] if stays c then routes[c, i] else bests[c, i]) (iota n)) (iota p)
       , lengths = map (\c -> #[unsafe] i64.min lengths[c] best_lengths[c]) (iota p)
       , steps
       }

  -- | The same, by a plan from outside.
  def search [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (count: i64) : population [p] [n] =
    climb data lists (plan_of n (assert (plan.moves <= 1) plan)) count population

  -- | The best tours, after a descent over all cities; it has no iterations, whatever the plan says.
  def polish [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (population: population [p] [n]) (plan: search_plan) (count: i64) : population [p] [n] =
    search data lists (population with tours = copy population.bests) (polishing plan) count
}
