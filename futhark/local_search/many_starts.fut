-- | Neighbour lists of many instances, by a look at all cities of each instance, and tours at their local optima.

import "../core/instances"
import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../flat/rows"
import "ils"
import "near_tours"
import "population"

module mk_many_starts (M: sliced) (I: climbing with data [n] = M.data [n]) (S: schedule) = {
  local module N = mk_near_tours M S

  -- | The k nearest cities of each city in its instance, equals by number; the furthest once more where there are
  -- fewer, and a lone city is its own. **Work:** O(m k) at most for each city, O(m) in random order. **Span:** O(m k).
  #[noinline]
  def lists [n] (rows: rows) (data: M.data [n]) (k: i64) : [n][k]i32 =
    let nearest (c: i64): [k]i32 =
      #[unsafe]
      let {start, size} = bounds_at rows (i32.i64 c)
      let place = M.point data (i32.i64 c)
      let cities: *[k]i32 = replicate k (i32.i64 c)
      let dists: *[k]i32 = replicate k i32.highest
      let (cities, _) =
        loop (cities, dists) for e < size do
          let d = start + e
          let l = M.dist data place (M.point data d)
          let enters = i64.i32 d != c && l < dists[k - 1]
          let (cities, dists, j) =
            loop (cities, dists, j) = (cities, dists, k - 1)
            while enters && j > 0 && dists[i64.max 0 (j - 1)] > l do
              let cities = cities with [j] = cities[j - 1]
              let dists = dists with [j] = dists[j - 1]
              in (cities, dists, j - 1)
          let cities = cities with [j] = if enters then d else cities[j]
          let dists = dists with [j] = if enters then l else dists[j]
          in (cities, dists)
      let last = i64.max 0 (i64.min k (i64.i32 size - 1) - 1)
      in tabulate k (\j -> cities[i64.min j last])
    in map nearest (iota n)

  -- | Return `count` tours of each instance at their local optima by chains: near tours by the lists `near` that climb
  -- by `lists`. All have n cities: other sizes from thread to thread take the compiler hours. **Work:** that of a climb
  -- for each tour. **Span:** that of a climb.
  #[noinline]
  def climbed [t] [k] (data: M.data [t]) (n: i64) (near: [t][k]i32) (lists: [t][k]i32) (seed: u64) (count: i64) (passes: i32) : [][n]i32 =
    let fits = n >= 1 && t % n == 0 && are_climbers 0 count && are_passes passes && are_lists near && are_lists lists
    let key = rng.word (rng.stream seed (assert fits 0)) 0
    let plan = plan_of n (descent_plan with moves = 2)
    let own (lists: [t][k]i32) (i: i64): [n][k]i32 = #[unsafe] map (map (\c -> c - i32.i64 (i * n))) (lists[i * n:i * n + n] :> [n][k]i32)
    let near = tabulate (t / n) (own near)
    let links = tabulate (t / n) (\i -> I.links_of (M.slice data (i * n) n) (own lists i))
    let climb (x: i64): [n]i32 =
      #[unsafe]
      let i = x / count
      let data = M.slice data (i * n) n
      let mine = rng.stream key (x % count)
      let start = N.near_tour data near[i] mine (u64.i32 passes) (rng.below mine 0 (i32.i64 n))
      in (I.climb data links[i] plan mine start start).tour
    in S.over climb (iota (t / n * count))
}
