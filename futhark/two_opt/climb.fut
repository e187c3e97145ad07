-- | The climb of best-improvement 2-opt on a GPU, by a thread or a block: make best moves while they shorten.

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
}
