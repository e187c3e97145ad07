-- | Tours that go on to a near city that is left, on which the climbers of a population start.

import "../core/instances"
import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "population"

def are_passes (passes: i32) = passes >= 0 && passes <= 256

-- | Go on to a city that is left. Cities left are the last ones of the tour so far; `place` has where each is. **Work:** O(1).
#[inline]
def visit [n] (tour: *[n]i32) (place: *[n]i32) (at: i32) (c: i32) : (*[n]i32, *[n]i32) =
  #[unsafe]
  let from = place[i64.i32 c]
  let d = tour[i64.i32 at]
  let tour = tour with [i64.i32 at] = c
  let tour = tour with [i64.i32 from] = d
  let place = place with [i64.i32 d] = from
  in (tour, place with [i64.i32 c] = at)

module mk_near_tours (M: metric) (S: schedule) = {
  -- | The nearest of the cities left, in places from `from` on, the smallest among equals. **Work:** O(n).
  #[inline]
  def nearest_left [n] (data: M.data [n]) (tour: [n]i32) (c: i32) (from: i32) : i32 =
    let (best, _) =
      loop (best, length) = (-1, i32.highest)
      for t < i32.i64 n - from do
        let d = #[unsafe] tour[i64.i32 (from + t)]
        let l = M.dist data (M.point data c) (M.point data d)
        in if l < length || (l == length && d < best) then (d, l) else (best, length)
    in best

  -- | A tour that goes on to the nearest city left of the lists, each passed over with probability passes / 256 if
  -- another is left and it is not at distance 0; else to the nearest of all. **Work:** O(n k), O(n) where none is left.
  def near_tour [n] [k] (data: M.data [n]) (lists: [n][k]i32) (key: rng.key) (passes: u64) (first: i32) : [n]i32 =
    #[unsafe]
    let n32 = i32.i64 n
    let dist (a: i32) (b: i32) = M.dist data (M.point data a) (M.point data b)
    let (tour, place) = visit (map i32.i64 (iota n)) (map i32.i64 (iota n)) 0 first
    let (tour, _) =
      loop (tour, place) for done < n32 - 1 do
        let c = tour[i64.i32 done]
        let (next, passed, _) =
          loop (next, passed, j) = (-1, -1, 0)
          while next < 0 && j < i32.i64 k do
            let d = lists[i64.i32 c, i64.i32 j]
            let step = i64.i32 done * k + i64.i32 j
            let pass = rng.word key (step + 1) >> 56 < passes && dist c d > 0
            in if place[i64.i32 d] <= done
               then (-1, passed, j + 1)
               else if pass then (-1, if passed < 0 then d else passed, j + 1) else (d, passed, j + 1)
        let next = if next >= 0 then next else if passed >= 0 then passed else nearest_left data tour c (done + 1)
        in visit tour place (done + 1) next
    in tour

  -- | Climbers of a seed on near tours from random cities, with `spread` threads each. The host waits for checks.
  #[noinline]
  def start [n] [k]
            (data: M.data [n])
            (lists: [n][k]i32)
            (seed: u64)
            (first: i64)
            (count: i64)
            (passes: i32)
            (spread: i64) : population [count] [n] =
    let first = assert (are_climbers first count && are_passes passes) first
    let tour_of (t: i64) =
      let key = rng.stream seed (first + t / spread)
      in near_tour data lists key (u64.i32 passes) (rng.below key 0 (i32.i64 n))
    in if are_lists lists
       then let starts = S.over tour_of (iota (count * spread))
            in population_on (map (\c -> #[unsafe] starts[c * spread]) (iota count))
       else assert false (population_on (replicate count (replicate n 0)))
}
