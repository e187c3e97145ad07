-- | Simulated annealing of many chains (Kirkpatrick, Gelatt, Vecchi 1983), by random moves of 2-opt and Or-opt.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../local_search/ils"
import "../local_search/kick"
import "../local_search/population"
import "../local_search/route"
import "../local_search/three_opt"
import "../local_search/tour_edits"
import "../local_search/worker"

-- | A stretch of iterations from number `from` on: trials each, with Or-opt if `moves` is 1; seed; first chain.
type annealing_plan = {seed: u64, first: i64, from: i64, trials: i64, moves: i32}

def are_trials (trials: i64) (from: i64) = trials >= 1 && from >= 0 && from <= 1 << 50 && trials <= 1 << 40

def is_annealing ({seed = _, first, from, trials, moves}: annealing_plan) = first >= 0 && are_trials trials from && is_flag moves

-- | The number of random words of a trial.
def trial_words : i64 = 4

-- | The first random word of a trial: behind those that random tours are made of. Trials are counted through all iterations.
def word_of_trial (trial: i64) : i64 = (1 << 32) + trial * trial_words

-- | A drawn move: it puts `a` beside `b`. With `count` = 0 both lose their edges in the direction s (2-opt). Else the
-- `count` cities from a on, away from s, go beside b, on the side r; fewer in tours below eight cities.
type draw = {a: i32, b: i32, s: i32, r: i32, count: i32}

-- | The cities of a drawn move, beside it: `p` follows a in the direction s; the segment ends with `e`, which `q` follows away
-- from s; `f` follows b in the direction r. Whether it is one at all, and by how much the tour becomes longer.
type change = {draw: draw, p: i32, e: i32, q: i32, f: i32, possible: bool, longer: i64}

-- | The city that is drawn with `a` where there are no lists: any other one.
def other (n: i32) (a: i32) (draw: i32) : i32 = if draw < a then draw else i32.min (n - 1) (draw + 1)

-- | Draw a move. Six kinds are equally likely: three times one of 2-opt, and segments of one, two and three cities.
def draw_at [n] [k] (links: links [n] [k]) (segments: bool) (key: rng.key) (word: i64) : draw =
  let n32 = i32.i64 n
  let a = rng.below key word n32
  let low = rng.word key word & 0xffffffff
  let kind = i32.u64 (((low >> 16) * 6) >> 16)
  let side (bit: u64) = 1 - 2 * i32.u64 ((low >> bit) & 1)
  let b =
    if k == 0
    then other n32 a (rng.below key (word + 1) (n32 - 1))
    else city_of (#[unsafe] links[i64.i32 a, i64.i32 (rng.below key (word + 1) (i32.i64 k))])
  let count = if segments then i32.max 0 (i32.min (kind - 2) (n32 - 3)) else 0
  in {a, b, s = side 0, r = side 1, count}

module mk_annealing (M: metric) (W: worker with data [n] = M.data [n]) (S: schedule) = {
  module T = mk_three_opt M
  module E = mk_edits W

  -- | The result of a drawn move. **Work:** O(1).
  def change_of [n] (data: M.data [n]) (tour: route [n]) (draw: draw) : change =
    let n32 = i32.i64 n
    let d x y = T.between data x y
    let beside (c: i32) (way: i32) = at tour (wrap n32 (position tour c + way))
    let {a, b, s, r, count} = draw
    let p = beside a s
    in if count == 0
       then let f = beside b s
            let possible = b != a && b != p && f != a
            in {draw, p, e = a, q = a, f, possible, longer = d a b + d p f - d a p - d b f}
       else let e = beside a ((1 - count) * s)
            let q = beside e (-s)
            let f = beside b r
            -- How far b lies behind a, away from s: in the segment or behind it.
            let o = s * (position tour a - position tour b)
            let o = if o < 0 then o + n32 else o
            let possible = o >= count && f != a && f != e
            in {draw, p, e, q, f, possible, longer = d p q + d a b + d e f - d p a - d e q - d b f}

  -- | Make it, if it is `accepted`, by exchanges of two edges. **Work:** O(s), where the stretch between a and b, or the rest, has s cities.
  def make_change [n] [m] (accepted: bool) (r: *route [n]) (l: *log [m]) ({draw, p, e, q, f, possible = _, longer = _}: change) : (*route [n], *log [m]) =
    let {a, b, s, r = beside, count} = draw
    let turned = beside == s
    let l = l with [0] = 0
    let exchanges = if !accepted then 0i32 else if count == 0 then 1 else if turned then 2 else 3
    in loop (r, l) for i < exchanges do
         E.exchange (r, l)
                    (if count == 0
                     then (a, p, f, b)
                     else if turned
                     then (if i == 0 then (p, a, b, f) else (p, f, e, q))
                     else (if i == 0 then (p, a, q, e) else if i == 1 then (p, e, f, b) else (p, b, a, q)))

  -- | A chain goes on from a tour by an iteration at each temperature; `best` is the best tour so far, steps are moves
  -- made. **Work:** O(n) a call, and O(1) a trial besides its move.
  def chain [n] [k] [t]
            (data: M.data [n])
            (links: links [n] [k])
            (plan: annealing_plan)
            (temperatures: [t]f64)
            (key: rng.key)
            (tour: [n]i32)
            (best: [n]i32) : climber_state [n] =
    let (r, _, best) = W.begin tour best
    let l = empty_log (i64.i32 log_capacity)
    let length = W.length_of data tour
    let best_length = W.length_of data best
    let (r, _, best, length, best_length, steps) =
      loop (r, l, best, length, best_length, steps) = (r, l, best, length, best_length, 0i64)
      for i < (if n < 5 then 0 else t) do
        let temperature = #[unsafe] temperatures[i]
        in loop (r, l, best, length, best_length, steps)
           for j < plan.trials do
             let word = word_of_trial ((plan.from + i) * plan.trials + j)
             let change = change_of data r (draw_at links (plan.moves == 1) key word)
             let warm (longer: i64) = longer <= i64.f64 (exponential (rng.word key (word + 2)) * temperature)
             let accepted = change.possible && (change.longer <= 0 || warm change.longer)
             -- The best tour is written down when the chain leaves it.
             let leaves = accepted && change.longer >= 0 && length < best_length
             let best = W.write leaves best r
             let (r, l) = make_change accepted r l change
             in ( r
                , l
                , best
                , if accepted then length + change.longer else length
                , if leaves then length else best_length
                , steps + i64.bool accepted
                )
    let stays = length < best_length
    let best = W.write stays best r
    let tour = W.write true (replicate n 0) r
    in {tour, best, length = if stays then length else best_length, steps}

  -- | The chains go on, as streams `first + c` of the seed. Without neighbours in lists any pairs are drawn.
  #[noinline]
  def anneal [p] [n] [k] [t]
             (data: M.data [n])
             (lists: [n][k]i32)
             (population: population [p] [n])
             (plan: annealing_plan)
             (temperatures: [t]f64) : population [p] [n] =
    let links = T.links_of data (assert (are_lists lists) lists)
    let temperatures = assert (all is_temperature temperatures) temperatures
    let plan = assert (is_annealing plan) plan
    let on c works =
      #[unsafe]
      let plan = if works then plan else plan with trials = 0
      let key = rng.stream plan.seed (plan.first + c)
      let state = chain data links plan temperatures key population.tours[c] population.bests[c]
      in (state.tour, state.best, state.length, population.steps[c] + state.steps)
    let (tours, bests, lengths, steps) = unzip4 (S.each p n on)
    in {tours, bests, lengths, steps}
}
