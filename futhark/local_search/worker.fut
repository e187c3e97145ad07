-- | What a climber does its work with: one thread, here, or the threads of a block (`block_worker`), which come to the same.

import "../core/metric"
import "../core/positions"
import "../core/rng"
import "route"
import "three_opt"
import "work_queue"

-- | The work on tours, by one thread or by many.
module type worker = {
  -- | What the distances of `n` cities are computed from.
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

  -- | How many cities leave the queue up to the first one that has a move, or before the next ones are looked at; and its
  -- move. By one thread some must wait.
  val look [n] [k] : data [n] -> links [n] [k] -> choice -> route [n] -> queue [n] -> (i32, move)

  -- | Take cities from a queue that has some, up to the first one that has a move, or some that have none; and its move.
  val next [n] [k] : data [n] -> links [n] [k] -> choice -> route [n] -> *queue [n] -> (*queue [n], move)

  -- | The best of `choice.draws` moves, if it shortens the tour, the first among equals (random-k-best improvement: Delévacq,
  -- Delisle, Krajecki 2012). Each is drawn by a city that waits, a side, and two neighbours, all evenly. One must wait.
  --
  -- **Work:** O(draws).
  val draw [n] [k] : data [n] -> links [n] [k] -> choice -> route [n] -> queue [n] -> rng.key -> move
}

module mk_thread_worker (M: metric) : worker with data [n] = M.data [n] = {
  module L = mk_length M
  module T = mk_three_opt M
  type~ data [n] = M.data [n]

  def reverse [n] (r: *route [n]) (first: i32) (count: i32) : *route [n] =
    let n32 = i32.i64 n
    let swapped (r: *route [n]) (i: i32) (j: i32): *route [n] =
      let a = at r i
      let b = at r j
      let r = #[unsafe] r with [i64.i32 i] = b
      let r = #[unsafe] r with [i64.i32 j] = a
      let r = #[unsafe] r with [n + i64.i32 b] = i
      in #[unsafe] r with [n + i64.i32 a] = j
    let last = wrap n32 (first + count - 1)
    let (r, _, _) =
      loop (r, i, j) = (r, first, last)
      for _s < count / 2 do
        (swapped r i j, if i + 1 == n32 then 0 else i + 1, if j == 0 then n32 - 1 else j - 1)
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

  def next [n] [k] (data: data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: *queue [n]) : (*queue [n], move) =
    let (taken, move) = look data links choice r q
    in (loop q for _z < taken do (pop q).0, move)

  def draw [n] [k] (data: data [n]) (links: links [n] [k]) (choice: choice) (r: route [n]) (q: queue [n]) (key: rng.key) : move =
    let (best, t1) =
      loop (best, t1) = (nothing, 0)
      for d < (if k > 0 then choice.draws else 0) do
        let (drawn, c) = T.draw data links choice r q key d
        let better = drawn.gain > best.gain
        in (if better then drawn else best, if better then c else t1)
    in if best.kind == 0 then no_move else T.found_move links r t1 best
}
