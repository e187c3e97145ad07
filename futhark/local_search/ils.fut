-- | Iterated local search of one climber (Martin, Otto, Felten 1991): kick a tour, repair it, keep what is no worse.

import "../core/metric"
import "../core/rng"
import "kick"
import "lin_kernighan"
import "route"
import "three_opt"
import "tour_edits"
import "worker"

def is_flag (x: i32) = x == 0 || x == 1
def are_moves (x: i32) (pivot: i32) = is_flag x || ((x == 2 || x == 3) && pivot == 0)
def is_kick (x: i32) = x >= 0 && x <= most_kicks
def is_pivot (x: i32) (draws: i32) = x >= 0 && x <= 2 && draws >= 1
def are_numbers (first: i64) (from: i64) (iterations: i64) = first >= 0 && from >= 0 && iterations >= 0
def is_temperature (t: f64) = t >= 0 && t <= 1e12

def is_plan (first: i64) (from: i64) (iterations: i64) (kick: i32) (acceptance: i32) (temperature: f64) (cooled: i64) =
  are_numbers first from iterations && is_kick kick && is_flag acceptance && is_temperature temperature && cooled >= 0

-- | Iterations `iterations` from number `from` on, by climbers from number `first` on, of a seed.
type stretch = {seed: u64, first: i64, from: i64, iterations: i64}

-- | A plan in numbers: moves 0 are 2-opt and Or-opt, 1 3-opt, 2 chains, 3 straight chains of directed ways; pivot 0 is
-- the first move, 1 a city's best, 2 the best of `draws`; acceptance 0 is annealing, 1 takes shorter tours.
type search_plan =
  { seed: u64
  , first: i64
  , from: i64
  , iterations: i64
  , moves: i32
  , pivot: i32
  , draws: i32
  , kick: i32
  , acceptance: i32
  , temperature: f64
  , cooled: i64
  }

-- | A descent by 3-opt, each city by its first move.
def descent_plan : search_plan =
  { seed = 0
  , first = 0
  , from = 0
  , iterations = 0
  , moves = 1
  , pivot = 0
  , draws = 1
  , kick = 0
  , acceptance = 0
  , temperature = 0
  , cooled = 0
  }

-- | The tour neighbours on each side of a kick's ends that begin chains.
def kick_neighbours : i32 = 5

-- | The most positions between neighbouring cuts along the tour: chains mend changes in larger parts than moves do.
def most_apart (moves: i32) : i32 = if moves == 2 then 200 else if moves == 3 then 120 else 50

-- | A plan for some number of cities, behind a descent where it begins with iteration 0: choice of moves; moves of a chain; tour
-- neighbours that wait beside a kick's ends; whether a descent looks at all cities `again`; its `window` of the tour from
-- `begin` on, all where 0; and kicks.
type plan = {given: search_plan, choice: choice, depth: i32, woken: i32, again: bool, begin: i64, window: i64, kicks: kicks}

-- | The plan for n cities.
def plan_of (n: i64) (given: search_plan) : plan =
  let {seed = _, first, from, iterations, moves, pivot, draws, kick, acceptance, temperature, cooled} = given
  let moves = assert (are_moves moves pivot && is_pivot pivot draws) moves
  let segment = if moves == 0 then 3 else i32.i64 n
  let choice = {segment, best = pivot == 1, draws = if pivot == 2 then draws else 0, straight = moves == 3}
  let depth = if moves >= 2 then chain_depth else 0
  let woken = if moves >= 2 then kick_neighbours else 0
  let kicks = {kind = kick, apart = most_apart moves}
  in assert (is_plan first from iterations kick acceptance temperature cooled) {given, choice, depth, woken, again = depth == 0, begin = 0, window = 0, kicks}

-- | The same, of whose descents only the cities of a stretch of the tour wait, unless `window` is 0.
def within (n: i64) (begin: i64) (window: i64) (plan: plan) : plan =
  let is_stretch = begin >= 0 && begin < n && window >= 0 && window <= n
  in assert is_stretch (plan with begin = begin with window = window)

-- | A climber's tour; the shortest on its way, the last among equals, with its length; and the improvements accepted.
type climber_state [n] = {tour: [n]i32, best: [n]i32, length: i64, steps: i64}

-- | A standard exponential number, within 0.01, from a random word, the same on every device: with w = 2^(63 - z) (1 +
-- f), it is (z + 1 - log2 (1 + f)) ln 2, and log2 (1 + f) is nearly f + 0.344 f (1 - f).
def exponential (word: u64) : f64 =
  let word = word | 1
  let z = u64.i32 (u64.clz word)
  let f = ((word << z) << 1) >> 32
  let log = f + ((f * ((1 << 32) - f)) >> 32) * 352 / 1024
  in f64.u64 (((z + 1) << 32) - log) * 1.6138602721020555e-10

-- | The temperature of an iteration: the square of what is left, by products and a quotient, rounded alike everywhere.
def warmth (plan: plan) (iteration: i64) : f64 =
  let (temperature, cooled) = (plan.given.temperature, plan.given.cooled)
  let left = f64.i64 (i64.max 0 (cooled - iteration)) / f64.i64 cooled
  in if cooled == 0 then temperature else temperature * left * left

-- | By how much a tour may become longer in an iteration: by more than x with probability exp (-x / temperature).
def tolerance (key: rng.key) (iteration: i64) (temperature: f64) : i64 =
  i64.f64 (exponential (rng.word key (word_of iteration (words - 1))) * temperature)

-- | The length by which a trial may exceed a climber's tour: random, as in annealing, or -1 for shorter tours only.
def allowed (plan: plan) (key: rng.key) (iteration: i64) : i64 =
  if plan.given.acceptance == 1 then -1 else tolerance key iteration (warmth plan iteration)

-- | The end of an iteration whose tour is so much longer: whether it is accepted, and whether the climber leaves its best tour
-- then; the lengths of both tours; and the steps. A descent is no trial.
#[inline]
def ended (plan: plan) (key: rng.key) (iteration: i64) (trial: bool) (failed: bool) (longer: i64) (moves: i64) (length: i64) (best_length: i64) : (bool, bool, i64, i64, i64) =
  let accepted = !failed && longer <= (if trial then allowed plan key iteration else 0)
  let leaves = accepted && longer > 0 && length <= best_length
  in ( accepted
     , leaves
     , if accepted then length + longer else length
     , if leaves then length else best_length
     , if trial then i64.bool (accepted && longer < 0) else moves
     )

-- | The random words by which a step of an iteration draws its moves, a descent being iteration -1: a stream of its
-- own, seeded by the iteration's last word but one.
def draws_of (key: rng.key) (iteration: i64) (step: i64) : rng.key =
  rng.stream (rng.word key (word_of iteration (words - 2))) step

-- | Climbers on some metric, by some worker.
module type climbing = {
  type~ data [n]

  -- | The largest number of `search_plan.moves` that they know.
  val most_moves : i32

  -- | Neighbour lists with their distances. **Work:** O(n k).
  val links_of [n] [k] : data [n] -> (lists: [n][k]i32) -> links [n] [k]

  -- | A climber goes on from a tour, the best so far beside it. **Work:** O(n) a call, besides iterations.
  val climb [n] [k] : data [n] -> links [n] [k] -> plan -> rng.key -> (tour: [n]i32) -> (best: [n]i32) -> climber_state [n]
}

-- | Climbers whose worker makes moves by some search.
module mk_climber (M: metric) (W: worker with data [n] = M.data [n]) (S: searching with data [n] = M.data [n]) : climbing with data [n] = M.data [n] = {
  module T = mk_three_opt M
  module K = mk_kick M
  module E = mk_edits W
  type~ data [n] = M.data [n]

  def most_moves : i32 = S.most_moves

  def links_of [n] [k] (data: data [n]) (lists: [n][k]i32) : links [n] [k] = T.links_of data lists

  -- | Make moves of waiting cities, whose ends wait again. A `trial` fails where the log is full; else all cities wait again
  -- after moves, if the plan says so, until none has one. Return the gain, the number of moves, and whether it has failed.
  def repair [n] [k] [m] (data: M.data [n]) (links: links [n] [k]) (plan: plan) (trial: bool) ({r, l, q, scratch}: *way [n] [m] S.scratch) : (*way [n] [m] S.scratch, i64, i64, bool) =
    let is_full (l: log [m]) = trial && !S.has_room plan.depth (logged l)
    let again = !trial && plan.window == 0 && plan.again
    let ({r, l, q, scratch}, gain, moves, _) =
      loop ({r, l, q, scratch}, gain, moves, checked) = ({r, l, q, scratch}, 0, 0, 0i64)
      while plan.choice.draws == 0 && waiting q > 0 && !is_full l do
        let l = l with [0] = if trial then logged l else 0
        let ({r, l, q, scratch}, gained) = S.step data links plan.choice plan.depth {r, l, q, scratch}
        let moves = moves + i64.bool (gained > 0)
        let all = again && waiting q == 0 && moves > checked
        let q = W.wait all r q
        in ({r, l, q, scratch}, gain + gained, moves, if all then moves else checked)
    let failed = plan.choice.draws == 0 && waiting q > 0
    in ({r, l, q = if failed then clear q else q, scratch}, gain, moves, failed)

  -- | Go on by drawn moves: the best of a step is made, its ends wait; a step without one clears the queue. In a trial the log
  -- tells of all moves.
  def redraw [n] [k] [m] (data: M.data [n]) (links: links [n] [k]) (plan: plan) (trial: bool) (key: rng.key) (iteration: i64) ({r, l, q, scratch}: *way [n] [m] S.scratch, gain: i64, moves: i64, failed: bool) : (*way [n] [m] S.scratch, i64, i64, bool) =
    let is_full (l: log [m]) = trial && logged l + 3 > log_capacity
    let draws = plan.choice.draws > 0
    let (r, l, q, gain, moves, _) =
      loop (r, l, q, gain, moves, on) = (r, l, q, gain, moves, draws && waiting q > 0)
      while on do
        let move = W.draw data links plan.choice r q (draws_of key iteration moves)
        let l = l with [0] = if trial then logged l else 0
        let (r, l) = E.make (r, l) move
        let q = loop q for i < ends move do push q (end move i)
        let on = move.kind > 0 && !is_full l
        in (r, l, q, gain + move.gain, moves + i64.bool (move.kind > 0), on)
    in ({r, l, q = clear q, scratch}, gain, moves, failed || (draws && is_full l))

  def climb [n] [k]
            (data: M.data [n])
            (links: links [n] [k])
            (plan: plan)
            (key: rng.key)
            (tour: [n]i32)
            (best: [n]i32) : climber_state [n] =
    let descents = i64.bool (plan.given.from == 0)
    let (r, q, best) = W.begin tour best
    let l = empty_log S.log_size
    let scratch = S.scratch ()
    let length = W.length_of data tour
    let best_length = W.length_of data best
    let (r, _, _, _, best, length, best_length, steps) =
      loop (r, l, q, scratch, best, length, best_length, steps) = (r, l, q, scratch, best, length, best_length, 0i64)
      for i < descents + (if n < 5 then 0 else plan.given.iterations) do
        let trial = i >= descents
        let iteration = plan.given.from + i - descents
        let l = l with [0] = 0
        -- All cities wait for a descent, or those of the window, and those of the kick in a trial.
        let cuts = K.cuts data plan.kicks links r key iteration
        let made = trial && cuts.made
        let bridge = bridge_at r cuts
        let cost = if made then K.cost data bridge else 0
        let (r, l) = E.build (r, l) made bridge
        let q = rewind q
        let q = W.wait (!trial && plan.window == 0) r q
        let q =
          loop q for i < (if trial then 0 else i32.i64 plan.window) do
            push q (at r (wrap (i32.i64 n) (i32.i64 plan.begin + i)))
        let q =
          loop q for i < (if made then 8 * (2 * plan.woken + 1) else 0) do
            push q (at r (wrap (i32.i64 n) (position r (pier bridge (i % 8)) + i / 8 - plan.woken)))
        let ({r, l, q, scratch}, gain, moves, failed) = repair data links plan trial {r, l, q, scratch}
        let ({r, l, q, scratch}, gain, moves, failed) =
          redraw data links plan trial key iteration ({r, l, q, scratch}, gain, moves, failed)
        let (accepted, leaves, length, best_length, made) =
          ended plan key iteration trial failed (cost - gain) moves length best_length
        -- The best tour is written down when the climber leaves it, before the trial that made a longer one.
        let r = E.replay r l 0 (if leaves || !accepted then logged l else 0) true
        let best = W.write leaves best r
        let r = E.replay r l 0 (if leaves then logged l else 0) false
        in (r, l, q, scratch, best, length, best_length, steps + made)
    let stays = length <= best_length
    let best = W.write stays best r
    in {tour = take n r, best, length = if stays then length else best_length, steps}
}

-- | Climbers by moves of 2-opt, Or-opt and 3-opt.
module mk_ils (M: metric) (W: worker with data [n] = M.data [n]) : climbing with data [n] = M.data [n] =
  mk_climber M W (mk_moves M W)

-- | The same, and by chains of such moves.
module mk_deep_ils (M: metric) (W: worker with data [n] = M.data [n]) (L: looking with data [n] = M.data [n]) : climbing with data [n] = M.data [n] =
  mk_climber M W (mk_chains M W L)
