-- | A climber's work by the threads of a GPU's block, in its shared memory, which comes to what one thread does.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "route"
import "three_opt"
import "work_queue"
import "worker"

-- | Lanes that look at the moves of one city: half of them on each side of it.
def lanes_a_city : i64 = 32

-- | The number of cities that are looked at together.
module type group = {
  val cities : i64
}

-- | A draw: its number, its city, and the move. Without a gain it is none.
type drawn = {number: i32, city: i32, found: found}

-- | The better of two draws by gain, number, and place in an array.
def better_draw (g: i64, d: i32, t: i64) (h: i64, e: i32, u: i64) : (i64, i32, i64) =
  if g > h || (g == h && d <= e) then (g, d, t) else (h, e, u)

-- | The work of a block's threads, and what they find without changing anything: also for tours that lie elsewhere.
module type block_worker = {
  include worker

  -- | The best of the draws that fall to one of several blocks. **Work:** O(draws / blocks).
  val best_draw [n] [k] : data [n] -> links [n] [k] -> choice -> route [n] -> queue [n] -> rng.key -> (block: i32) -> (blocks: i32) -> drawn
}

module mk_block_worker (M: metric) (G: group) : block_worker with data [n] = M.data [n] = {
  module T = mk_three_opt M
  type~ data [n] = M.data [n]

  local def lanes : i64 = G.cities * lanes_a_city
  local def half : i32 = i32.i64 lanes_a_city / 2

  -- The number of rounds in which the lanes go through `count` things.
  local def rounds (count: i32) : i32 = (count + i32.i64 lanes - 1) / i32.i64 lanes

  -- The numbers of a round, one a lane.
  local def of_round (k: i32) : [lanes]i64 = map (\t -> i64.i32 k * lanes + t) (iota lanes)

  def reverse [n] (r: *route [n]) (first: i32) (count: i32) : *route [n] =
    let n32 = i32.i64 n
    let last = wrap_together n32 (first + count - 1)
    in loop r for k < rounds (count / 2) do
         let pair (s: i64): (i64, i64, i64, i64, (i32, i32, i32, i32)) =
           let on = s < i64.i32 (count / 2)
           let i = wrap_together n32 (first + i32.i64 s)
           let j = wrap_together n32 (last - i32.i64 s)
           let a = if on then at r i else 0
           let b = if on then at r j else 0
           in if on
              then (i64.i32 i, i64.i32 j, n + i64.i32 a, n + i64.i32 b, (i, j, a, b))
              else (-1, -1, -1, -1, (0, 0, 0, 0))
         let (is, js, as, bs, values) = unzip5 (map pair (of_round k))
         let r = scatter r is (map (.3) values)
         let r = scatter r js (map (.2) values)
         let r = scatter r as (map (.1) values)
         in scatter r bs (map (.0) values)

  def begin [n] (tour: [n]i32) (best: [n]i32) : (*route [n], *queue [n], *[n]i32) =
    let r: *route [n] = replicate (n + n) 0
    let b: *[n]i32 = replicate n 0
    let (r, b) =
      loop (r, b) for k < rounds (i32.i64 n) do
        let ps = of_round k
        let cs = #[unsafe] map (\p -> if p < n then tour[p] else 0) ps
        let there = map (\p -> if p < n then p else -1) ps
        let cities = map2 (\p c -> if p < n then n + i64.i32 c else -1) ps cs
        let r = scatter r there cs
        let r = scatter r cities (map i32.i64 ps)
        in (r, scatter b there (map (\p -> #[unsafe] if p < n then best[p] else 0) ps))
    in (r, empty_queue n, b)

  def length_of [n] (data: data [n]) (tour: [n]i32) : i64 =
    let share (t: i64) =
      loop sum = 0i64
      for k < rounds (i32.i64 (n - t)) do
        #[unsafe]
        let p = i64.i32 k * lanes + t
        in sum + T.between data tour[p] tour[cyclic_64.next n p]
    in i64.sum (map share (iota lanes))

  def wait [n] (all: bool) (r: route [n]) (q: *queue [n]) : *queue [n] =
    let q =
      loop q for k < (if all then rounds (i32.i64 n) else 0) do
        let ps = of_round k
        let places = map (\p -> if p < n then 2 + p else -1) ps
        let q = scatter q places (map (\p -> if p < n then at r (i32.i64 p) else 0) ps)
        let flags = map (\p -> if p < n then 2 + n + p else -1) ps
        in scatter q flags (map (const 1) flags)
    let q = q with [0] = if all then 0 else q[0]
    in q with [1] = if all then i32.i64 n else q[1]

  def write [n] (wanted: bool) (to: *[n]i32) (r: route [n]) : *[n]i32 =
    loop to for k < (if wanted then rounds (i32.i64 n) else 0) do
      let ps = of_round k
      in scatter to ps (map (\p -> if p < n then at r (i32.i64 p) else 0) ps)

  -- A lane has a waiting city, a side and every sixteenth neighbour. The first city with a move counts, by one thread's
  -- choice. Of an empty queue no city leaves.
  def look [n] [k] (data: data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: queue [n]) : (i32, move) =
    let k32 = i32.i64 k
    let count = i32.min (waiting q) (i32.i64 G.cities)
    let lane (t: i64): (i32, i32, found) =
      let slot = i32.i64 (t / lanes_a_city)
      let u = i32.i64 (t % lanes_a_city)
      let s = if u < half then 1 else -1
      let c = peek q (i32.min slot (count - 1))
      let v = {n = i32.i64 n, s, p = position r c}
      let (best, _) =
        loop (best, i) = (nothing, u % half)
        while slot < count && i < k32 && (choice.best || best.gain <= 0) do
          let (best, more) = T.by_neighbour data links choice r v c best i
          in (best, if more then i + half else k32)
      let code = (slot * 2 + i32.bool (s < 0)) * k32 + best.i
      in (if best.kind > 0 then slot else i32.highest, code, best)
    let (slots, codes, founds) = unzip3 (map lane (iota lanes))
    let gains = map (\(f: found) -> f.gain) founds
    let better (a: i32, g: i64, x: i32, t: i64) (b: i32, h: i64, y: i32, u: i64): (i32, i64, i32, i64) =
      let first = a < b || (a == b && (if choice.best then g > h || (g == h && x <= y) else x <= y))
      in if first then (a, g, x, t) else (b, h, y, u)
    let (slot, _, _, t) = reduce_comm better (i32.highest, 0, i32.highest, 0) (zip4 slots gains codes (iota lanes))
    let has = slot < i32.highest
    let f = #[unsafe] founds[t]
    let c = peek q (if has then slot else 0)
    let move = if has then T.found_move links r c f else no_move
    in (if has then slot + 1 else count, move)

  def best_draw [n] [k] (data: data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: queue [n]) (key: rng.key) (block: i32) (blocks: i32) : drawn =
    let draws = if k > 0 then choice.draws else 0
    let lane (t: i64): (i32, i32, found) =
      let (best, first, city, _) =
        loop (best, first, city, d) = (nothing, i32.highest, 0, block * i32.i64 lanes + i32.i64 t)
        while d < draws do
          let (drawn, c) = T.draw data links choice r q key d
          let better = drawn.gain > best.gain
          in ( if better then drawn else best
             , if better then d else first
             , if better then c else city
             , d + blocks * i32.i64 lanes
             )
      in (first, city, best)
    let (firsts, cities, founds) = unzip3 (map lane (iota lanes))
    let gains = map (\(f: found) -> f.gain) founds
    let (_, first, t) = reduce_comm better_draw (0, i32.highest, 0) (zip3 gains firsts (iota lanes))
    in #[unsafe] {number = first, city = cities[t], found = founds[t]}

  def draw [n] [k] (data: data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: queue [n]) (key: rng.key) : move =
    let best = best_draw data links choice r q key 0 1
    in if best.found.gain > 0 then T.found_move links r best.city best.found else no_move
}
