-- | One huge tour, a piece of it a climber: each piece is a path between fixed ends that an iterated local search shortens.

import "../core/metric"
import "../core/rng"
import "../core/schedule"
import "../core/tour"
import "../local_search/ils"
import "../local_search/population"
import "../local_search/three_opt"
import "parallel_moves"

-- | Pieces first, …, first + count - 1 of `piece` cities, of which piece 0 begins at the position `offset` of the tour.
type piece_range = {offset: i64, piece: i64, first: i64, count: i64}

def are_pieces (n: i64) ({offset, piece, first, count}: piece_range) =
  offset >= 0 && offset < n && piece >= 2 && first >= 0 && count >= 1 && first + count <= n / piece

module mk_pieces (P: planar) (I: climbing with data [n] = P.data [n]) = {
  -- The neighbours of the city in place j of a piece, by their places in it; those outside are too far for any move.
  local
  def inner_links [n] [k] (links: links [n] [k]) (s: large [n]) (m: i64) (begin: i64) (j: i64) : [k]i64 =
    #[unsafe]
    let at = cyclic_64.wrap n (begin + j)
    let c = i64.i32 s.route[at]
    let none = (i64.i32 i32.highest << 32) | j
    let (inner, _) =
      loop (inner: *[k]i64, w) = (replicate k none, 0i64)
      for x < k do
        let link = links[c, x]
        let q = i64.i32 s.route[n + i64.i32 (city_of link)] - begin
        let q = if q < 0 then q + n else q
        let w' = i64.min w (k - 1)
        let inner = inner with [w'] = if q < m then (distance_of link << 32) | q else inner[w']
        in (inner, w + i64.bool (q < m))
    in inner

  -- | Let pieces climb, as streams `plan.given.first` + i of the seed; then all wait. **Work:** O(n), and the climbers'.
  def climb [n] [k]
            (data: P.data [n])
            (links: links [n] [k])
            (s: large [n])
            (plan: plan)
            (range: piece_range) : large [n] =
    let {offset, piece = m, first, count} = assert (are_pieces n range) range
    let position (i: i64) (j: i64): i64 = cyclic_64.wrap n (offset + (first + i) * m + j)
    let cities = flatten (tabulate_2d count m (\i j -> #[unsafe] s.route[position i j]))
    let points = P.gather data cities
    let inner = tabulate_2d count m (\i j -> inner_links links s m (position i 0) j)
    let start = map i32.i64 (iota m)
    let on i _ =
      #[unsafe]
      let key = rng.stream plan.given.seed (plan.given.first + first + i)
      in (I.climb (P.slice points (i * m) m) inner[i] plan key start start).tour
    let tours = cores.each count m on
    -- A climber's tour holds the edge between places 0 and m - 1: it is read from 0 on, away from m - 1.
    let zeros = map (\tour -> #[unsafe] (loop z = 0i64 while tour[z] != 0 do z + 1)) tours
    let path i j =
      #[unsafe]
      let z = zeros[i]
      let forth = i64.i32 tours[i, if z == 0 then m - 1 else z - 1] == m - 1
      let back = i64.i32 tours[i, cyclic_64.next m z] == m - 1
      let q = if forth then z + j else z - j
      let q = if q >= m then q - m else if q < 0 then q + m else q
      -- Climbers that are as warm as distances are long may part the ends: then their pieces stay as they were.
      in cities[i * m + (if forth || back then i64.i32 tours[i, q] else j)]
    let positions = flatten (tabulate_2d count m position)
    let new = flatten (tabulate_2d count m path)
    let r = #[unsafe] scatter (copy s.route) positions new
    let r = #[unsafe] scatter r (map (\c -> n + i64.i32 c) new) (map i32.i64 positions)
    in wake_all r s.progress

  -- | The same by a stretch of iterations, at a temperature, by `moves` as a `search_plan` has them and kicks along the tour.
  #[noinline]
  def search [n] [k]
             (data: P.data [n])
             (neighbours: neighbours [n] [k])
             (s: large [n])
             ({seed, first, from, iterations}: stretch)
             (temperature: f64)
             (moves: i32)
             (range: piece_range) : large [n] =
    let moves = assert (moves <= I.most_moves) moves
    let given = descent_plan with moves = moves with seed = seed with first = first with from = from with iterations = iterations with temperature = temperature
    in climb data neighbours.links s (plan_of n given) range
}
