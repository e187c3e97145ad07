-- | Many instances of equal size at once: each has a population of its own, which descends and recombines in one go.

import "../core/instances"
import "../core/metric"
import "../core/positions"
import "../core/rng"
import "../core/schedule"
import "../local_search/ils"
import "../local_search/population"
import "../local_search/near_tours"
import "eax"
import "edge_exchange"

-- | The best tour of each instance, and its length.
type many [b] [n] = {tours: [b][n]i32, lengths: [b]i64}

def are_counts (climbers: i64) (generations: i64) (children: i32) (spread: i64) =
  climbers >= 1 && generations >= 0 && children >= 0 && spread >= 1 && spread <= 32

-- | How many instances are solved: with so many climbers each, which take over edges for so many generations; of how many
-- children a pair has the best; how many threads are started for a pair, of which the first one works: threads of a GPU that go
-- together wait for each other, and pairs take their own ways; and what `near_tours` takes besides.
type many_plan =
  {seed: u64, climbers: i64, generations: i64, children: i32, spread: i64, passes: i32}

module mk_many (M: metric) (I: climbing with data [n] = M.data [n]) (S: schedule) = {
  module N = mk_near_tours M S
  module X = mk_eax M

  -- | The k < n nearest cities of each city, in the order of their distances, equals by number. **Work:** O(n^2 k) at most,
  -- O(n^2) for cities in random order.
  def nearest [n] (data: M.data [n]) (k: i64) (c: i32) : [k]i32 =
    #[unsafe]
    let cities: *[k]i32 = replicate k 0
    let dists: *[k]i32 = replicate k i32.highest
    let (cities, _) =
      loop (cities, dists) for d < i32.i64 n do
        let l = M.dist data (M.point data c) (M.point data d)
        let enters = d != c && l < dists[k - 1]
        let (cities, dists, j) =
          loop (cities, dists, j) = (cities, dists, k - 1)
          while enters && j > 0 && dists[i64.max 0 (j - 1)] > l do
            let cities = cities with [j] = cities[j - 1]
            let dists = dists with [j] = dists[j - 1]
            in (cities, dists, j - 1)
        let cities = cities with [j] = if enters then d else cities[j]
        let dists = dists with [j] = if enters then l else dists[j]
        in (cities, dists)
    in cities

  -- | The lists of the k nearest of b instances, 0 < k < n.
  def lists [n] (b: i64) (data: i64 -> M.data [n]) (k: i64) : [b][n][k]i32 =
    let cities = assert (fits_32_bits n && k >= 1 && k < n) (map i32.i64 (iota n))
    in map (\i -> map (nearest (data i) k) cities) (iota b)

  -- | Solve b instances by neighbour lists in order of distance; each as if it were alone. Each of its climbers starts from a
  -- nearest-neighbour tour by the lists `near`, descends by 3-opt, and takes over edges from another one in each generation.
  def solve [b] [n] [k] [j]
            (data: i64 -> M.data [n])
            (near: [b][n][j]i32)
            (lists: [b][n][k]i32)
            ({seed, climbers, generations, children, spread, passes}: many_plan) : many [b] [n] =
    let p =
      assert (fits_32_bits n && b >= 1 && all are_lists near && all are_lists lists && are_counts climbers generations children spread && are_passes passes) climbers
    let links = map2 (\i l -> I.links_of (data i) l) (iota b) lists
    let key = rng.word (rng.stream seed 0) 0
    let plan = plan_of n descent_plan
    let descend t =
      #[unsafe]
      let i = t / p
      let own = rng.stream key (t % p)
      let start = N.near_tour (data i) near[i] own (u64.i32 passes) (rng.below own 0 (i32.i64 n))
      let state = I.climb (data i) links[i] plan own start start
      in (state.tour, state.length)
    let (tours, lengths) = unzip (S.over descend (iota (b * p)))
    let (tours, lengths) =
      loop (tours, lengths) for g < generations do
        let places = map positions tours
        let cross t =
          #[unsafe]
          let a = t / spread
          let i = a / p
          let own = rng.stream key (p * (g + 1) + a % p)
          -- All of an instance go as far round for the other parent.
          let step = if p == 1 then 0 else 1 + i64.i32 (rng.below (rng.stream key (-1 - g)) 0 (i32.i64 p - 1))
          let other = i * p + (a % p + step) % p
          let (mine, theirs) = ((tours[a], places[a]), (tours[other], places[other]))
          in X.cross (data i) lists[i] own (if t % spread == 0 then children else 0) mine theirs (difference mine theirs)
        let (exchanges, gains) = unzip (S.over cross (iota (b * p * spread)))
        let tours = map (\a -> #[unsafe] apply_exchange tours[a] exchanges[a * spread]) (iota (b * p))
        let lengths = map (\a -> #[unsafe] lengths[a] - gains[a * spread]) (iota (b * p))
        in (tours, lengths)
    let best i =
      #[unsafe]
      loop best = i * p
      for c < p do
        if lengths[i * p + c] < lengths[best] then i * p + c else best
    let bests = map best (iota b)
    in { tours = map (\c -> #[unsafe] tours[c]) bests
       , lengths = map (\c -> #[unsafe] lengths[c]) bests
       }
}
