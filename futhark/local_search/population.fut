-- | Many climbers of the iterated local search, and what goes on between them.

import "../core/instances"
import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/tour"
import "ils"
import "three_opt"

-- | Climbers in columns: tours; the shortest on their ways, with lengths, 0 before they climb; improvements accepted.
type population [p] [n] = {tours: [p][n]i32, bests: [p][n]i32, lengths: [p]i64, steps: [p]i64}

def are_indices [q] (p: i64) (indices: [q]i32) : bool = are_cities p indices

def are_distinct [q] (p: i64) (indices: [q]i32) : bool =
  all (<= 1) (hist (+) 0i32 p (map i64.i32 indices) (replicate q 1))

def are_lists [n] [k] (lists: [n][k]i32) : bool = all (are_cities n) lists

-- | Climbers on given tours.
def population_on [p] [n] (tours: [p][n]i32) : population [p] [n] =
  {tours, bests = copy tours, lengths = replicate p 0, steps = replicate p 0}

-- | The same, of tours from outside.
def given_population [p] [n] (tours: [p][n]i32) : population [p] [n] =
  assert (fits_32_bits n && are_climbers 0 p && all is_tour tours) (population_on tours)

-- | Two populations as one. **Work:** O((p + q) n).
def join [p] [q] [n] (a: population [p] [n]) (b: population [q] [n]) : population [p + q] [n] =
  { tours = a.tours ++ b.tours
  , bests = a.bests ++ b.bests
  , lengths = a.lengths ++ b.lengths
  , steps = a.steps ++ b.steps
  }

-- | The place of the shortest tour, the first among equals. **Work:** O(p).
def shortest [p] [n] (population: population [p] [n]) : i64 =
  let shorter (l, c) (m, d) = if l < m || (l == m && c < d) then (l, c) else (m, d)
  in (reduce_comm shorter (i64.highest, i64.highest) (zip population.lengths (iota p))).1

-- | Let the climbers `to`, all different, stand where those of `from` do, with steps of their own. **Work:** O(p n).
def follow [p] [n] [q] (population: population [p] [n]) (from: [q]i32) (to: [q]i32) : population [p] [n] =
  let from = assert (are_indices p from && are_indices p to && are_distinct p to) from
  let to = map i64.i32 to
  let taken 't (xs: [p]t): [q]t = map (\c -> #[unsafe] xs[i64.i32 c]) from
  in population with tours = scatter (copy population.tours) to (taken population.tours)
                with bests = scatter (copy population.bests) to (taken population.bests)
                with lengths = scatter (copy population.lengths) to (taken population.lengths)

-- | The climbers at these indices, in this order. **Work:** O(q n).
def select [p] [n] [q] (population: population [p] [n]) (indices: [q]i32) : population [q] [n] =
  let indices = assert (are_indices p indices) indices
  let taken 't (xs: [p]t): [q]t = map (\c -> #[unsafe] xs[i64.i32 c]) indices
  in { tours = taken population.tours
     , bests = taken population.bests
     , lengths = taken population.lengths
     , steps = taken population.steps
     }

-- | A plan without iterations: of a descent only.
def polishing (plan: search_plan) : search_plan =
  plan with from = 0 with iterations = 0 with kick = 0 with temperature = 0 with cooled = 0

-- | Climbers on some metric.
module type climbers = {
  type~ data [n]

  -- | The climbers go on by a plan; the one in place c is the stream `first + c` of the seed.
  val climb [p] [n] [k] : data [n] -> (lists: [n][k]i32) -> plan -> population [p] [n] -> population [p] [n]
}

module mk_population (M: metric) (I: climbing with data [n] = M.data [n]) (S: schedule) = {
  type~ data [n] = M.data [n]

  #[noinline]
  def climb [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (plan: plan) (population: population [p] [n]) : population [p] [n] =
    let links = I.links_of data (assert (are_lists lists) lists)
    let on c works =
      #[unsafe]
      let plan = if works then plan else plan with given.from = 1 with given.iterations = 0
      let key = rng.stream plan.given.seed (plan.given.first + c)
      let state = I.climb data links plan key population.tours[c] population.bests[c]
      in (state.tour, state.best, state.length, population.steps[c] + state.steps)
    let (tours, bests, lengths, steps) = unzip4 (S.each p n on)
    in {tours, bests, lengths, steps}

  -- | The same by a plan from outside; of a descent only the cities of a stretch of the tour wait, unless `window` is 0.
  def search [p] [n] [k]
             (data: M.data [n])
             (lists: [n][k]i32)
             (population: population [p] [n])
             (plan: search_plan)
             (begin: i64)
             (window: i64) : population [p] [n] =
    climb data lists (within n begin window (plan_of n (assert (plan.moves <= I.most_moves) plan))) population

  -- | The best tours after such a descent only, over all cities again.
  def polish [p] [n] [k]
             (data: M.data [n])
             (lists: [n][k]i32)
             (population: population [p] [n])
             (plan: search_plan)
             (begin: i64)
             (window: i64) : population [p] [n] =
    let plan = within n begin window (plan_of n (assert (plan.moves <= I.most_moves) (polishing plan))) with again = true
    in climb data lists plan (population with tours = copy population.bests)
}
