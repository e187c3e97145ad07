-- | Many climbers of the iterated local search, and what goes on between them.

import "ils"
import "metric"
import "rng"
import "three_opt"

-- | Climbers in columns: their tours; the shortest on their ways, the lengths of these, 0 before they have climbed; and how
-- many improvements they have accepted.
type population [p] [n] = {tours: [p][n]i32, bests: [p][n]i32, lengths: [p]i64, steps: [p]i64}

-- | Climbers on given tours.
def population_on [p] [n] (tours: [p][n]i32) : population [p] [n] =
  {tours, bests = copy tours, lengths = replicate p 0, steps = replicate p 0}

-- | Two populations as one. **Work:** O((p + q) n).
def joined [p] [q] [n] (a: population [p] [n]) (b: population [q] [n]) : population [p + q] [n] =
  { tours = a.tours ++ b.tours
  , bests = a.bests ++ b.bests
  , lengths = a.lengths ++ b.lengths
  , steps = a.steps ++ b.steps
  }

-- | The place of the shortest tour, the first among equals. **Work:** O(p).
def shortest [p] [n] (population: population [p] [n]) : i64 =
  let shorter (l, c) (m, d) = if l < m || (l == m && c < d) then (l, c) else (m, d)
  in (reduce_comm shorter (i64.highest, i64.highest) (zip population.lengths (iota p))).1

-- | Let the climbers at the places `to`, all different, stand where those at the places `from` do; the steps remain their own.
--
-- **Work:** O(p n).
def follow [p] [n] [q] (population: population [p] [n]) (from: [q]i32) (to: [q]i32) : population [p] [n] =
  let to = map i64.i32 to
  let taken 't (xs: [p]t): [q]t = map (\c -> #[unsafe] xs[i64.i32 c]) from
  in population with tours = scatter (copy population.tours) to (taken population.tours)
                with bests = scatter (copy population.bests) to (taken population.bests)
                with lengths = scatter (copy population.lengths) to (taken population.lengths)

-- | The climbers at these places, in this order. **Work:** O(q n).
def chosen [p] [n] [q] (population: population [p] [n]) (places: [q]i32) : population [q] [n] =
  let taken 't (xs: [p]t): [q]t = map (\c -> #[unsafe] xs[i64.i32 c]) places
  in { tours = taken population.tours
     , bests = taken population.bests
     , lengths = taken population.lengths
     , steps = taken population.steps
     }

def are_places [q] (p: i64) (places: [q]i32) : bool = all (\c -> c >= 0 && i64.i32 c < p) places

def are_distinct [q] (p: i64) (places: [q]i32) : bool =
  all (<= 1) (hist (+) 0i32 p (map i64.i32 places) (replicate q 1))

def are_lists [n] [k] (lists: [n][k]i32) : bool = all (are_places n) lists

-- | How climbers are laid out on the machine.
module type crew = {
  -- | What each of `p` climbers on n cities comes to; one that does not work may come to anything.
  val each 'a : (p: i64) -> (n: i64) -> (climber: i64 -> (works: bool) -> a) -> [p]a
}

-- | One a thread.
module alone : crew = {
  def each p _ climber = #[incremental_flattening(only_inner)] map (\c -> climber c true) (iota p)
}

-- | How many threads are started for a climber of which one works: on a GPU, threads that go together wait for each other, and
-- climbers take ways of their own. As many as go together, as far as memory allows.
def threads_a_climber (p: i64) (n: i64) : i64 = i64.max 1 (i64.min 32 (5000000 / (p * n)))

-- | One in so many threads.
module apart : crew = {
  def each p n climber =
    let spread = threads_a_climber p n
    let all =
      #[incremental_flattening(only_inner)]
      map (\t -> climber (t / spread) (t % spread == 0)) (iota (p * spread))
    in map (\c -> #[unsafe] all[c * spread]) (iota p)
}

-- | One a block of threads, which work together.
module blocks_of_hands : crew = {
  def each p _ climber = #[incremental_flattening(only_intra)] map (\c -> climber c true) (iota p)
}

module mk_population (M: metric) (I: climbing with data [n] = M.data [n]) (C: crew) = {
  -- | The climbers go on by a plan; the one in place c is the stream `first + c` of the seed.
  #[noinline]
  def climb [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (plan: plan) (population: population [p] [n]) : population [p] [n] =
    let links = I.links_of data (assert (are_lists lists) lists)
    let on c works =
      #[unsafe]
      let plan = if works then plan else plan with from = 1 with iterations = 0
      let key = rng.stream plan.seed (plan.first + c)
      let state = I.climb data links plan key population.tours[c] population.bests[c]
      in (state.tour, state.best, state.length, population.steps[c] + state.steps)
    let (tours, bests, lengths, steps) = unzip4 (C.each p n on)
    in {tours, bests, lengths, steps}

  -- | The best tours, after a descent over all cities.
  def polish [p] [n] [k]
             (data: M.data [n])
             (lists: [n][k]i32)
             (seed: u64)
             (first: i64)
             (moves: i32)
             (pivot: i32)
             (draws: i32)
             (population: population [p] [n]) : population [p] [n] =
    let plan = plan_of n seed first 0 0 moves pivot draws 0 0 0
    in climb data lists plan (population with tours = copy population.bests)
}
