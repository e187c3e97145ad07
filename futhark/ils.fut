-- | Iterated local search of one climber (Martin, Otto, Felten 1991): kick a tour, repair it where it was kicked, keep what
-- is no worse, take back what is.

import "kick"
import "metric"
import "queue"
import "rng"
import "route"
import "three_opt"

-- | A stretch of a climber's iterations: `iterations` from number `from` on, behind a descent where that is 0; how its moves
-- and kicks are chosen; the seed, and the first climber's number.
type plan =
  { from: i64
  , iterations: i64
  , choice: choice
  , walks: bool
  , temperature: f64
  , seed: u64
  , first: i64
  }

def is_flag (x: i32) = x == 0 || x == 1
def is_pivot (x: i32) (draws: i32) = x >= 0 && x <= 2 && draws >= 1
def are_numbers (first: i64) (from: i64) (iterations: i64) = first >= 0 && from >= 0 && iterations >= 0
def is_temperature (t: f64) = t >= 0 && t <= 1e12

def is_plan (first: i64) (from: i64) (iterations: i64) (kick: i32) (temperature: f64) =
  are_numbers first from iterations && is_flag kick && is_temperature temperature

-- | What numbers from outside stand for: moves = 0 for 2-opt and 3-opt with a segment of at most three cities, 1 for 3-opt;
-- pivot = 0 for the first move that shortens the tour, 1 for a city's best, 2 for the best of so many that are drawn.
def choice_of (n: i64) (moves: i32) (pivot: i32) (draws: i32) : choice =
  let segment = if moves == 0 then 3 else i32.i64 n
  in assert (is_flag moves && is_pivot pivot draws) { segment
                                                    , best = pivot == 1
                                                    , draws = if pivot == 2 then draws else 0
                                                    }

-- | The same, with kick = 0 for cuts that are near each other along the tour, 1 for random walks.
def plan_of (n: i64)
            (seed: u64)
            (first: i64)
            (from: i64)
            (iterations: i64)
            (moves: i32)
            (pivot: i32)
            (draws: i32)
            (kick: i32)
            (temperature: f64) : plan =
  let choice = choice_of n moves pivot draws
  let plan = {from, iterations, choice, walks = kick == 1, temperature, seed, first}
  in assert (is_plan first from iterations kick temperature) plan

-- | Where a climber stands: its tour; the shortest on its way, the last among equals, and its length; and how many
-- improvements it has accepted, of which each move of a descent is one.
type climber_state [n] = {tour: [n]i32, best: [n]i32, length: i64, steps: i64}

-- | A number of the standard exponential distribution, within 0.01, from a random word: the same on every device.
--
-- With the word w seen as a fraction u of 2^64, w = 2^(63 - z) (1 + f), it is -ln u = (z + 1 - log2 (1 + f)) ln 2, in 32 bits
-- behind the point; log2 (1 + f) is nearly f + 0.344 f (1 - f). All but the last product is in whole numbers.
def exponential (word: u64) : f64 =
  let word = word | 1
  let z = u64.i32 (u64.clz word)
  let f = ((word << z) << 1) >> 32
  let log = f + ((f * ((1 << 32) - f)) >> 32) * 352 / 1024
  in f64.u64 (((z + 1) << 32) - log) * 1.6138602721020555e-10

-- | By how much a tour may become longer in an iteration: by more than x with probability exp (-x / temperature).
def tolerance (key: rng.key) (iteration: i64) (temperature: f64) : i64 =
  i64.f64 (exponential (rng.word key (word_of iteration (words - 1))) * temperature)

-- | The random words by which a step of an iteration draws its moves; a descent is iteration -1, steps count from 0.
--
-- They are a stream of their own, of which an iteration's last word but one is the seed: an iteration has too few words for
-- them, and nothing else reads that one. Two such streams meet no sooner than those of two climbers do.
def draws_of (key: rng.key) (iteration: i64) (step: i64) : rng.key =
  rng.stream (rng.word key (word_of iteration (words - 2))) step

module mk_ils (M: metric) = {
  module T = mk_three_opt M
  module K = mk_kick M

  -- | The length of a closed tour. **Work:** O(n). **Span:** O(n).
  def length_of [n] (data: M.data [n]) (tour: [n]i32) : i64 =
    loop sum = 0
    for p < n do
      #[unsafe] sum + T.between data tour[p] tour[if p + 1 == n then 0 else p + 1]

  -- | Make moves of the cities that wait until none waits: the ends of a move wait again. In a `trial`, the log must tell of
  -- all moves: where it is full, the trial has failed. Else all cities wait again after moves, since a move may turn others
  -- about, which lets them do what they could not: only where none finds a move, the tour is a local optimum.
  --
  -- What comes back: the gain of all moves, how many they were, and whether the trial has failed.
  def repair [n] [k]
             (data: M.data [n])
             (links: links [n] [k])
             (choice: choice)
             (trial: bool)
             (r: *route [n])
             (l: *log)
             (q: *queue [n]) : (*route [n], *log, *queue [n], i64, i64, bool) =
    let (r, l, q, gain, moves, _, failed) =
      loop (r, l, q, gain, moves, checked, failed) = (r, l, q, 0, 0, 0i64, false)
      while choice.draws == 0 && waiting q > 0 do
        let (q, c) = pop q
        let failed = failed || (trial && logged l + 3 > log_room)
        let l = l with [0] = if trial then logged l else 0
        let move = if failed then no_move else T.move_of data links choice r c
        let (r, l) = make (r, l) move
        let q = loop q for i < ends move do push q (end move i)
        let moves = moves + i64.bool (move.kind > 0)
        let again = !trial && waiting q == 0 && moves > checked
        let q = loop q for p < (if again then i32.i64 n else 0) do push q (at r p)
        in (r, l, q, gain + move.gain, moves, if again then moves else checked, failed)
    in (r, l, q, gain, moves, failed)

  -- | Go on from there by moves that are drawn, if any are: the best of a step is made, and its ends wait too; a step that
  -- finds none is the last one, and leaves no city waiting.
  def redraw [n] [k]
             (data: M.data [n])
             (links: links [n] [k])
             (choice: choice)
             (trial: bool)
             (key: rng.key)
             (iteration: i64)
             (r: *route [n])
             (l: *log)
             (q: *queue [n])
             (gain: i64)
             (moves: i64)
             (failed: bool) : (*route [n], *log, *queue [n], i64, i64, bool) =
    let is_full (l: log) = trial && logged l + 3 > log_room
    let draws = choice.draws > 0
    let (r, l, q, gain, moves, _) =
      loop (r, l, q, gain, moves, on) = (r, l, q, gain, moves, draws && waiting q > 0)
      while on do
        let l = l with [0] = if trial then logged l else 0
        let move = T.best_drawn data links choice r q (draws_of key iteration moves)
        let (r, l) = make (r, l) move
        let q = loop q for i < ends move do push q (end move i)
        let on = move.kind > 0 && !is_full l
        in (r, l, q, gain + move.gain, moves + i64.bool (move.kind > 0), on)
    in (r, l, clear q, gain, moves, failed || (draws && is_full l))

  -- | A climber goes on from a tour. **Work:** O(n) a call; the descent and the iterations depend on the instance.
  def climb [n] [k]
            (data: M.data [n])
            (links: links [n] [k])
            (plan: plan)
            (key: rng.key)
            (tour: [n]i32)
            (best: [n]i32) : climber_state [n] =
    let descents = i64.bool (plan.from == 0)
    let r = route_of tour
    let q = empty_queue n
    let l = empty_log ()
    let best = loop b: *[n]i32 = replicate n 0 for p < n do #[unsafe] b with [p] = best[p]
    let length = length_of data tour
    let best_length = length_of data best
    let (r, _, _, best, length, best_length, steps) =
      loop (r, l, q, best, length, best_length, steps) = (r, l, q, best, length, best_length, 0i64)
      for i < descents + (if n < 5 then 0 else plan.iterations) do
        let trial = i >= descents
        let iteration = plan.from + i - descents
        let l = l with [0] = 0
        -- All cities wait for a descent, those of the kick in a trial.
        let cuts = if plan.walks then walked_cuts links r key iteration else near_cuts n key iteration
        let made = trial && cuts.made
        let bridge = bridge_at r cuts
        let cost = if made then K.cost data bridge else 0
        let (r, l) = build (r, l) made bridge
        let q = rewind q
        let q = loop q for p < (if trial then 0 else i32.i64 n) do push q (at r p)
        let q = loop q for i < (if made then 8 else 0) do push q (pier bridge i)
        let (r, l, q, gain, moves, failed) = repair data links plan.choice trial r l q
        let (r, l, q, gain, moves, failed) = redraw data links plan.choice trial key iteration r l q gain moves failed
        let longer = cost - gain
        let accepted = !failed && longer <= (if trial then tolerance key iteration plan.temperature else 0)
        -- The best tour is written down when the climber leaves it, before the trial that made a longer one.
        let leaves = accepted && longer > 0 && length <= best_length
        let r = replay r l (if leaves || !accepted then logged l else 0) true
        let best = loop best for p < (if leaves then i32.i64 n else 0) do #[unsafe] best with [i64.i32 p] = at r p
        let r = replay r l (if leaves then logged l else 0) false
        in ( r
           , l
           , q
           , best
           , if accepted then length + longer else length
           , if leaves then length else best_length
           , steps + (if trial then i64.bool (accepted && longer < 0) else moves)
           )
    let stays = length <= best_length
    let best = loop best for p < (if stays then i32.i64 n else 0) do #[unsafe] best with [i64.i32 p] = at r p
    let tour = loop t: *[n]i32 = replicate n 0 for p < n do #[unsafe] t with [p] = at r (i32.i64 p)
    in {tour, best, length = if stays then length else best_length, steps}
}
