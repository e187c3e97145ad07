-- | The worker of a climber: one thread, here, or the threads of a block (`block_worker`), with the same results.

import "../core/metric"
import "../core/rng"
import "../core/tour"
import "route"
import "three_opt"

-- | The work on tours, by one thread or by many.
module type worker = {
  -- | The data from which distances of `n` cities are computed.
  type~ data [n]

  -- | Reverse `count` positions, from `first` on, past the end of the tour as well. **Work:** O(count).
  val reverse [n] : *route [n] -> (first: i32) -> (count: i32) -> *route [n]

  -- | The route of a tour; an empty queue; and a copy of another tour. **Work:** O(n).
  val begin [n] : (tour: [n]i32) -> (best: [n]i32) -> (*route [n], *queue [n], *[n]i32)

  -- | The length of a closed tour. **Work:** O(n).
  val length_of [n] : data [n] -> (tour: [n]i32) -> i64

  -- | Let all cities wait in an empty queue, in the order of the tour, if `all`. **Work:** O(n).
  val wait [n] : (all: bool) -> route [n] -> *queue [n] -> *queue [n]

  -- | Write the tour down, if that is `wanted`. **Work:** O(n).
  val write [n] : (wanted: bool) -> *[n]i32 -> route [n] -> *[n]i32

  -- | The number of cities that leave the queue with this look, and the last one's move. By one thread some must wait.
  val look [n] [k] : data [n] -> links [n] [k] -> choice -> route [n] -> queue [n] -> (i32, move)

  -- | The best of `choice.draws` moves that shortens the tour, the first among equals (random-k-best: Delévacq,
  -- Delisle, Krajecki 2012): drawn by a city of those that wait, a side, and two neighbours. **Work:** O(draws).
  val draw [n] [k] : data [n] -> links [n] [k] -> choice -> route [n] -> queue [n] -> rng.key -> move
}

module mk_thread_worker (M: metric) : worker with data [n] = M.data [n] = {
  module L = mk_length M
  module T = mk_three_opt M
  type~ data [n] = M.data [n]

  -- Within the tour four cities a side change places at a time, which a processor writes together; others singly.
  def reverse [n] (r: *route [n]) (first: i32) (count: i32) : *route [n] =
    let n32 = i32.i64 n
    let put (r: *route [n]) (p: i32) (c: i32): *route [n] =
      let r = #[unsafe] r with [i64.i32 p] = c
      in #[unsafe] r with [n + i64.i32 c] = p
    let end = first + count - 1
    let fours = if end < n32 then count / 8 else 0
    let r =
      loop r for s < fours do
        let i = first + 4 * s
        let j = end - 4 * s
        let (a0, a1, a2, a3) = (at r i, at r (i + 1), at r (i + 2), at r (i + 3))
        let (b0, b1, b2, b3) = (at r (j - 3), at r (j - 2), at r (j - 1), at r j)
        let r = #[unsafe] r with [i64.i32 i] = b3
        let r = #[unsafe] r with [i64.i32 i + 1] = b2
        let r = #[unsafe] r with [i64.i32 i + 2] = b1
        let r = #[unsafe] r with [i64.i32 i + 3] = b0
        let r = #[unsafe] r with [i64.i32 j - 3] = a3
        let r = #[unsafe] r with [i64.i32 j - 2] = a2
        let r = #[unsafe] r with [i64.i32 j - 1] = a1
        let r = #[unsafe] r with [i64.i32 j] = a0
        let r = #[unsafe] r with [n + i64.i32 b3] = i
        let r = #[unsafe] r with [n + i64.i32 b2] = i + 1
        let r = #[unsafe] r with [n + i64.i32 b1] = i + 2
        let r = #[unsafe] r with [n + i64.i32 b0] = i + 3
        let r = #[unsafe] r with [n + i64.i32 a3] = j - 3
        let r = #[unsafe] r with [n + i64.i32 a2] = j - 2
        let r = #[unsafe] r with [n + i64.i32 a1] = j - 1
        in #[unsafe] r with [n + i64.i32 a0] = j
    let (r, _, _) =
      loop (r, i, j) = (r, first + 4 * fours, wrap n32 (end - 4 * fours))
      for _s < count / 2 - 4 * fours do
        let a = at r i
        let b = at r j
        in (put (put r i b) j a, cyclic.next n32 i, if j == 0 then n32 - 1 else j - 1)
    in r

  def begin [n] (tour: [n]i32) (best: [n]i32) : (*route [n], *queue [n], *[n]i32) =
    let best = loop b: *[n]i32 = replicate n 0 for p < n do #[unsafe] b with [p] = best[p]
    in (route_of tour, empty_queue n, best)

  def length_of [n] (data: data [n]) (tour: [n]i32) : i64 = L.tour_length data tour

  def wait [n] (all: bool) (r: route [n]) (q: *queue [n]) : *queue [n] =
    loop q for p < (if all then i32.i64 n else 0) do push q (at r p)

  def write [n] (wanted: bool) (to: *[n]i32) (r: route [n]) : *[n]i32 =
    loop to for p < (if wanted then i32.i64 n else 0) do #[unsafe] to with [i64.i32 p] = at r p

  def look [n] [k] (data: data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: queue [n]) : (i32, move) =
    (1, T.move_of data links choice r (peek q 0))

  def draw [n] [k] (data: data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: queue [n]) (key: rng.key) : move =
    let (best, t1) =
      loop (best, t1) = (nothing, 0)
      for d < (if k > 0 then choice.draws else 0) do
        let (drawn, c) = T.draw data links choice r q key d
        let better = drawn.gain > best.gain
        in (if better then drawn else best, if better then c else t1)
    in if best.kind == 0 then no_move else T.found_move links r t1 best
}
