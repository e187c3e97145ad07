-- | Climbs of 2-opt on a GPU, by a thread or a block, and the tours that they change in place: in a block's shared memory,
-- where no map is wider than the block, or in device memory by loops only, as a `map` in a thread's loop is not safe everywhere.

import "../core/gpu_metric"
import "../core/tour"
import "restarts"

-- | A tour that changes in place, its points, and the lengths of the edges that leave its positions.
module type tour_in_place = {
  type~ data [n]
  type point
  module weight: numeric

  -- | Copy a tour and its points.
  val load [n] : data [n] -> (start: [n]i32) -> (*[n]i32, *[n]point)

  -- | Set the lengths of the edges that leave positions first, …, last.
  val link [n] : data [n] -> (points: [n]point) -> (succ: *[n]weight.t) -> (first: i32) -> (last: i32) -> *[n]weight.t

  -- | Reverse the positions i + 1, …, j.
  val reverse [n] : (*[n]i32, *[n]point) -> (i: i32) -> (j: i32) -> (*[n]i32, *[n]point)

  -- | The sum of the edges.
  val length [n] : (succ: [n]weight.t) -> i64
}

-- | The layout of a climber on its thread block.
module type shape = {
  -- | Cities in a tile; odd, at most 11.
  val rows : i64

  -- | Threads in the block, a multiple of 32.
  val lanes : i64
}

-- | The number from 1 to `most` of the least cost, the smallest among equals.
def cheapest (most: i32) (cost: i32 -> i32) : i32 =
  let (best, _) =
    loop (best, least) = (1, cost 1)
    for c < most - 1 do
      if cost (c + 2) < least then (c + 2, cost (c + 2)) else (best, least)
  in best

-- | A tour in the shared memory of a thread block.
module mk_block_tour (M: gpu_metric) (S: shape) = {
  type~ data [n] = M.data [n]
  type point = M.point
  module weight = M.weight
  module W = weight

  local def lanes = i32.i64 S.lanes

  def load [n] (data: M.data [n]) (start: [n]i32) : (*[n]i32, *[n]M.point) =
    loop (tour: *[n]i32, points: *[n]M.point) = (replicate n 0, replicate n M.origin)
    for k < (i32.i64 n + lanes - 1) / lanes do
      let ps = map (\l -> i64.i32 (k * lanes) + l) (iota S.lanes)
      let cs = #[unsafe] map (\p -> if p < n then start[p] else 0) ps
      let ms = map (M.point data) cs
      in (scatter tour ps cs, scatter points ps ms)

  def link [n] (data: M.data [n]) (points: [n]M.point) (succ: *[n]W.t) (first: i32) (last: i32) : *[n]W.t =
    loop succ for k < (last - first + lanes) / lanes do
      let edge (l: i64) =
        #[unsafe]
        let p = i64.i32 (first + k * lanes) + l
        in if p > i64.i32 last then (-1, W.i32 0) else (p, M.dist data points[p] points[cyclic_64.next n p])
      let (ps, ds) = unzip (map edge (iota S.lanes))
      in scatter succ ps ds

  def reverse [n] (tour: *[n]i32, points: *[n]M.point) (i: i32) (j: i32) : (*[n]i32, *[n]M.point) =
    let pairs = (j - i) / 2
    in loop (tour: *[n]i32, points: *[n]M.point) = (tour, points)
       for k < (pairs + lanes - 1) / lanes do
         let ends (l: i64) =
           let r = k * lanes + i32.i64 l
           in if r < pairs then (i64.i32 (i + 1 + r), i64.i32 (j - r)) else (-1, -1)
         let (ps, qs) = unzip (map ends (iota S.lanes))
         let exchange 'a (xs: *[n]a): *[n]a =
           let front = #[unsafe] map (\p -> xs[i64.max 0 p]) ps
           let back = #[unsafe] map (\q -> xs[i64.max 0 q]) qs
           in scatter (scatter xs ps back) qs front
         in (exchange tour, exchange points)

  -- | What a lane keeps of a tile: the points of `rows` + 1 positions from i0 on, the edges that leave them, and by how much
  -- these exceed the distances to the point of position j.
  def tile [n] (data: M.data [n]) (points: [n]M.point) (succ: [n]W.t) (i0: i32) (j: i32) : ([S.rows + 1]M.point, [S.rows]W.t, [S.rows]W.t) =
    #[unsafe]
    let wrap = cyclic.wrap (i32.i64 n)
    let row = map (\r -> points[i64.i32 (wrap (i0 + i32.i64 r))]) (iota (S.rows + 1))
    let s = map (\r -> succ[i64.i32 (wrap (i0 + i32.i64 r))]) (iota S.rows)
    let p = points[i64.i32 j]
    in (row, s, map (\r -> s[r] W.- M.dist data row[r] p) (iota S.rows))

  -- | A lane on its way along columns: its largest gain, the first and last column that reached it, by their codes; by how
  -- much edges exceed the distances to the point of a position; and that position.
  type seen = (W.t, i32, i32, [S.rows]W.t, i32)

  -- | Meet the next column, of such a code, by the rows that have a move there.
  def meet [n] (data: M.data [n]) (points: [n]M.point) (succ: [n]W.t) (row: [S.rows + 1]M.point, s: [S.rows]W.t) ((best, first, last, prev, j): seen) (is_move: i32 -> bool) (code: i32) : seen =
    #[unsafe]
    -- Less than any gain. Not W.lowest, which CUDA computes as 1 / 0, each time.
    let least = W.i32 i32.lowest
    let sj = succ[i64.i32 j]
    let j = cyclic.next (i32.i64 n) j
    let p = points[i64.i32 j]
    let d = M.dists data row p
    let gain r = if is_move (i32.i64 r) then prev[r] W.- d[r + 1] else least
    let most = (#[sequential] reduce W.max least (map gain (iota S.rows))) W.+ sj
    in ( W.max best most
       , if most W.> best then code else first
       , if most W.>= best then code else last
       , map (\r -> s[r] W.- d[r]) (iota S.rows)
       , j
       )

  -- | The largest gain, and the first move that has it; 0, 0 if none gains. Each lane has reached its largest in
  -- columns first, …, last; `place` tells, by lane and number, the positions of a column's first row and of the column.
  def first_best [n]
                 (data: M.data [n])
                 (points: [n]M.point)
                 (succ: [n]W.t)
                 (place: i32 -> i32 -> (i32, i32))
                 (found: [S.lanes](W.t, i32, i32)) : (W.t, i32, i32) =
    let (bests, firsts, lasts) = unzip3 found
    let most = reduce_comm W.max (W.i32 0) bests
    let n32 = i32.i64 n
    let next = cyclic.next n32
    let gain (i: i32) (j: i32) =
      #[unsafe]
      succ[i64.i32 i]
      W.+ succ[i64.i32 j]
      W.- M.dist data points[i64.i32 i] points[i64.i32 j]
      W.- M.dist data points[i64.i32 (next i)] points[i64.i32 (next j)]
    let first_of (l: i64) (best: W.t) (first: i32) (last: i32): i32 =
      #[unsafe]
      if best W.< most || most W.<= W.i32 0
      then i32.highest
      else let (order, _) =
             loop (order, number) = (i32.highest, first)
             while number <= last do
               let (i0, j) = place (i32.i64 l) number
               let order =
                 loop order for r < i32.i64 S.rows do
                   let i = cyclic.wrap n32 (i0 + r)
                   in if i != j && gain i j W.== most
                      then i32.min order ((i32.min i j << 16) | i32.max i j)
                      else order
               in (order, number + 1)
           in order
    let order = reduce_comm i32.min i32.highest (map4 first_of (iota S.lanes) bests firsts lasts)
    in if most W.<= W.i32 0 then (most, 0, 0) else (most, order >> 16, order & 0xffff)

  def length [n] (succ: [n]W.t) : i64 =
    let share (l: i64) =
      #[unsafe]
      loop sum = 0i64
      for k < (i32.i64 (n - l) + lanes - 1) / lanes do
        sum + W.to_i64 succ[l + i64.i32 (k * lanes)]
    in i64.sum (map share (iota S.lanes))
}

-- | A tour in device memory of one thread.
module mk_thread_tour (M: gpu_metric) = {
  type~ data [n] = M.data [n]
  type point = M.point
  module weight = M.weight
  module W = weight

  def load [n] (data: M.data [n]) (start: [n]i32) : (*[n]i32, *[n]M.point) =
    #[unsafe]
    let tour = loop tour = replicate n 0i32 for p < n do tour with [p] = start[p]
    let points = loop points = replicate n M.origin for p < n do points with [p] = M.point data start[p]
    in (tour, points)

  def link [n] (data: M.data [n]) (points: [n]M.point) (succ: *[n]W.t) (first: i32) (last: i32) : *[n]W.t =
    #[unsafe]
    loop succ: *[n]W.t = succ
    for l < last - first + 1 do
      let p = first + l
      in succ with [i64.i32 p] = M.dist data points[i64.i32 p] points[i64.i32 (cyclic.next (i32.i64 n) p)]

  def reverse [n] (tour: *[n]i32, points: *[n]M.point) (i: i32) (j: i32) : (*[n]i32, *[n]M.point) =
    #[unsafe]
    loop (tour: *[n]i32, points: *[n]M.point) = (tour, points)
    for l < (j - i) / 2 do
      let a = i64.i32 (i + 1 + l)
      let b = i64.i32 (j - l)
      let ta = tour[a]
      let tb = tour[b]
      let pa = copy points[a]
      let pb = copy points[b]
      in (tour with [a] = tb with [b] = ta, points with [a] = pb with [b] = pa)

  def length [n] (succ: [n]W.t) : i64 =
    #[unsafe] loop sum = 0i64 for p < n do sum + W.to_i64 succ[p]
}

module mk_climb (T: tour_in_place) = {
  module W = T.weight

  -- | Make the moves that `best` finds in a tour's points and edges: the gain, i and j; with a gain of 0 both are 0.
  def climb [n]
            (data: T.data [n])
            (best: (points: [n]T.point) -> (succ: [n]W.t) -> (W.t, i32, i32))
            (limit: i32)
            (start: [n]i32) : state [n] =
    let (tour, points) = T.load data start
    let succ = T.link data points (replicate n (W.i32 0)) 0 (i32.i64 n - 1)
    let (tour, _, succ, passes, done) =
      loop (tour: *[n]i32, points: *[n]T.point, succ: *[n]W.t, passes, done) = (tour, points, succ, 0i32, false)
      while !done && passes < limit do
        let (most, i, j) = best points succ
        let done = most W.<= W.i32 0
        let (tour, points) = T.reverse (tour, points) i j
        let succ = T.link data points succ i (if done then i - 1 else j)
        in (tour, points, succ, passes + 1, done)
    in {tour, length = T.length succ, steps = passes - i32.bool done, passes, done}

  -- | Make up to k moves a pass, by gains, of those that all positions propose: their gains, 0 for none, and q. `best` finds
  -- the gain, i and j of the best that is left, or zeros; `forget` leaves out those that overlap a move.
  def climb_many [n]
                 (data: T.data [n])
                 (propose: (points: [n]T.point) -> (succ: [n]W.t) -> *[n]W.t -> *[n]i32 -> (*[n]W.t, *[n]i32))
                 (best: (gains: [n]W.t) -> (qs: [n]i32) -> (W.t, i32, i32))
                 (forget: *[n]W.t -> (qs: [n]i32) -> (i: i32) -> (j: i32) -> *[n]W.t)
                 (k: i32)
                 (limit: i32)
                 (start: [n]i32) : state [n] =
    let zero = W.i32 0
    let (tour, points) = T.load data start
    let succ = T.link data points (replicate n zero) 0 (i32.i64 n - 1)
    let (tour, _, succ, _, _, steps, passes, done) =
      loop (tour: *[n]i32, points: *[n]T.point, succ: *[n]W.t, gains: *[n]W.t, qs: *[n]i32, steps, passes, done) =
             (tour, points, succ, replicate n zero, replicate n 0i32, 0i32, 0i32, false)
      while !done && passes < limit do
        let (gains, qs) = propose points succ gains qs
        let (tour, points, gains, made, _) =
          loop (tour: *[n]i32, points: *[n]T.point, gains: *[n]W.t, made, more) = (tour, points, gains, 0i32, true)
          while more && made < k do
            let (most, i, j) = best gains qs
            let more = most W.> zero
            let (tour, points) = T.reverse (tour, points) i j
            let gains = forget gains qs i j
            in (tour, points, gains, made + i32.bool more, more)
        let succ = T.link data points succ 0 (i32.i64 n - 1)
        in (tour, points, succ, gains, qs, steps + made, passes + 1, made == 0)
    in {tour, length = T.length succ, steps, passes, done}
}
