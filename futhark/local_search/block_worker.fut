-- | A climber's work by the threads of a GPU's block, in its shared memory, which comes to what one thread does; and the look
-- of a block's lanes for the next move of a chain, by pairs of t3 and t5.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "lin_kernighan"
import "route"
import "three_opt"
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

  def lanes : i64 = G.cities * lanes_a_city
  def half : i32 = i32.i64 lanes_a_city / 2

  -- The number of rounds in which the lanes go through `count` things.
  def rounds (count: i32) : i32 = (count + i32.i64 lanes - 1) / i32.i64 lanes

  -- The numbers of a round, one a lane.
  def of_round (k: i32) : [lanes]i64 = map (\t -> i64.i32 k * lanes + t) (iota lanes)

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

-- | Neighbours of t4 that have lanes of their own; and lanes for a neighbour of t2, with t4 on either side of it.
def lanes_a_side : i64 = 8

def lanes_a_neighbour : i64 = 2 * lanes_a_side

-- | A lane's best closing move, by gain and number in one thread's order, and best open one; `i32.highest`: none.
type seen = (i64, i32, i64, i32)

def unseen : seen = (0, i32.highest, 0, i32.highest)

-- | The number of a move: by the neighbour i of t2, the side of t4, and the neighbour j of t4, or -1 where it has two edges.
def number_of (i: i32) (behind: i32) (j: i32) (kind: i32) : i32 =
  (i << 17) | (behind << 16) | ((j + 1) << 1) | i32.bool (kind == 4)

-- | The neighbour of t2 to which a move's number leads.
def neighbour_of (number: i32) : i32 = number >> 17

-- | A move by its number, which leaves or gains so much.
def found_of (gain: i64) (s: i32) (number: i32) : found =
  let behind = (number >> 16) & 1
  let j = ((number & 0xffff) >> 1) - 1
  let kind = if j < 0 then 1 else 2 + behind + (number & 1)
  in if number == i32.highest then nothing else {gain, s, kind, i = neighbour_of number, j = i32.max 0 j}

-- | The joint result of two lanes: the best closing move of the first neighbour that has any, and the best open one.
def both ((g, x, h, y): seen) ((g', x', h', y'): seen) : seen =
  let (i, i') = (neighbour_of x, neighbour_of x')
  let closes = i < i' || (i == i' && (g > g' || (g == g' && x <= x')))
  let opens = h > h' || (h == h' && y <= y')
  in (if closes then g else g', if closes then x else x', if opens then h else h', if opens then y else y')

module mk_block_look (M: metric) (G: group) : looking with data [n] = M.data [n] = {
  module T = mk_three_opt M
  type~ data [n] = M.data [n]

  def look [n] [k] (data: data [n]) (links: links [n] [k]) (r: route [n]) (chain: chain) (aim: aim) : (found, found) =
    let {straight, moves, may_open, t1, s, g0} = aim
    let lanes = G.cities * lanes_a_city
    let k32 = breadth k moves
    let d x y = T.between data x y
    let n32 = i32.i64 n
    -- As of a `view`, but without branches.
    let next p = wrap_together n32 (p + s)
    let back p = wrap_together n32 (p - s)
    let p2 = next (position r t1)
    let order p = wrap_together n32 (s * (p - p2))
    let t2 = at r p2
    -- With a move whose last edge is (t5, t6), if that did not come by the chain, and which leaves `left` before it closes.
    let with_move ((g, x, h, y): seen) (left: i64) (t5: i32) (t6: i32) (kind: i32) (o3: i32) (o5: i32) (number: i32): seen =
      let gain = left - d t6 t1
      let may_count = gain > g || (may_open && left > h)
      let counts = if may_count then is_old chain moves t5 t6 else false
      let closes = counts && gain > g
      let opens = if counts && may_open && left > h then may_leave links left t6 (turned_about n32 kind o3 o5) else false
      in (if closes then gain else g, if closes then number else x, if opens then left else h, if opens then number else y)
    let lane (t: i64): seen =
      let first = i32.i64 (t % lanes_a_side)
      let behind = i32.i64 (t / lanes_a_side % 2)
      let (found, _) =
        loop (found, i) = (unseen, i32.i64 (t / lanes_a_neighbour))
        while i < k32 && found.1 == i32.highest do
          let link = #[unsafe] links[i64.i32 t2, i64.i32 i]
          let g1 = g0 - distance_of link
          let t3 = city_of link
          let p3 = position r t3
          let o3 = order p3
          let t4 = at r (if behind == 1 then next p3 else back p3)
          let is_move = g1 > 0 && t3 != t1 && (behind == 1 || (!straight && t4 != t2))
          let is_move = if is_move then is_old chain moves t3 t4 else false
          let g = g1 + d t3 t4
          let found =
            if is_move && behind == 0 && first == 0
            then with_move found g t3 t4 1 o3 0 (number_of i 0 (-1) 1)
            else found
          let (found, _) =
            loop (found, j) = (found, if is_move then first else k32)
            while j < k32 do
              let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
              let g2 = g - distance_of link
              in if g2 <= 0
                 then (found, k32)
                 else let t5 = city_of link
                      let p5 = position r t5
                      let o5 = order p5
                      let (found, _) =
                        loop (found, kind) = (found, 2 + behind)
                        while kind <= (if straight then 3 else 2 + 2 * behind) do
                          let t6 = at r (if is_ahead kind o3 o5 then next p5 else back p5)
                          let is_tour = reconnects kind (o5 < o3) o5 t1 t4 t5 t6
                          let found =
                            if is_tour
                            then with_move found (g2 + d t5 t6) t5 t6 kind o3 o5 (number_of i behind j kind)
                            else found
                          in (found, kind + 1)
                      in (found, j + i32.i64 lanes_a_side)
          in (found, if g1 > 0 then i + i32.i64 (lanes / lanes_a_neighbour) else k32)
      in found
    let (g, x, h, y) = reduce_comm both unseen (map lane (iota lanes))
    in (found_of g s x, found_of h s y)
}
