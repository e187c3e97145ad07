-- | Lin–Kernighan search by moves of 3-opt (Lin, Kernighan 1973; Helsgaun 2000): a move that leaves most goes on from
-- its last edge, up to some depth; a chain that comes to nothing is taken back.

import "../core/metric"
import "route"
import "three_opt"
import "tour_edits"
import "worker"

-- | A climber on its way: its tour, the log of its reversals, the cities that wait, and the memory of its search.
type way [n] [m] 's = {r: route [n], l: log [m], q: queue [n], scratch: s}

-- | A search for what shortens a climber's tour: a step of its repair.
module type searching = {
  -- | The data from which distances of `n` cities are computed.
  type~ data [n]

  -- | The memory of a search besides the tour, and its first value.
  type scratch

  val scratch : () -> *scratch

  -- | The largest number of `search_plan.moves` that it knows.
  val most_moves : i32

  -- | The reversals that a climber's log has room for; and whether that of a trial, with so many, has room for a step.
  val log_size : i64

  val has_room : (depth: i32) -> (logged: i32) -> bool

  -- | Take cities from a queue that has some, up to one with an improvement, and make it: its ends wait, the log tells
  -- of it. Last comes the gain. A `depth` of 0 stands for moves without chains.
  val step [n] [k] [m] : data [n] -> links [n] [k] -> choice -> (depth: i32) -> *way [n] [m] scratch -> (*way [n] [m] scratch, i64)
}

-- | Moves of 2-opt, Or-opt and 3-opt only.
module mk_moves (M: metric) (W: worker with data [n] = M.data [n]) : searching with data [n] = M.data [n] = {
  module E = mk_edits W
  type~ data [n] = M.data [n]
  type scratch = ()

  def scratch () = ()
  def most_moves : i32 = 1
  def log_size : i64 = i64.i32 log_capacity
  def has_room _ (logged: i32) : bool = logged + 3 <= log_capacity

  def step [n] [k] [m] (data: data [n]) (links: links [n] [k]) (choice: choice) (_: i32) ({r, l, q, scratch}: *way [n] [m] scratch) : (*way [n] [m] scratch, i64) =
    let (taken, move) = W.look data links choice r q
    let q = loop q for _z < taken do (pop q).0
    let (r, l) = E.make (r, l) move
    let q = loop q for i < ends move do push q (end move i)
    in ({r, l, q, scratch}, move.gain)
}

-- | The most moves of a chain.
def chain_depth : i32 = 25

-- | The neighbours of a city that are looked at, but for a chain's first move.
def chain_breadth : i32 = 8

-- | A move that does not shorten the tour is not made where it turns more cities about.
def most_turned : i32 = 1000

-- | The cities t1, …, t6 of a chain's moves, t4 thrice for two edges; and bits for the last six bits of each.
type chain = ([150]i32, u64)

-- | A word of such bits, and that of a city besides.
#[inline]
def touch (touched: u64) (c: i32) : u64 = touched | (1 << u64.i32 (c & 63))

-- | Tell whether an edge did not come by the first moves of a chain.
def is_old ((cities, touched): chain) (moves: i32) (a: i32) (b: i32) : bool =
  let is_edge (x: i32) (y: i32) = (a == x && b == y) || (a == y && b == x)
  -- Most edges have a city that no move has touched.
  let last = if touch (touch touched a) b == touched then 6 * i64.i32 moves else 0
  let (old, _) =
    loop (old, i) = (true, 0i64)
    while old && i < last do
      #[unsafe]
      (!(is_edge cities[i + 1] cities[i + 2] || is_edge cities[i + 3] cities[i + 4]), i + 6)
  in old

-- | The cities of the longest reversal of a move, of a tour of n cities.
def turned_about (n: i32) (kind: i32) (o3: i32) (o5: i32) : i32 =
  let side (count: i32) = i32.min count (n - count)
  in if kind == 1
     then side o3
     else if kind == 2
     then i32.max (side o3) (side (if o5 < o3 then o3 - 1 - o5 else o5))
     else if kind == 3
     then i32.max (side (o3 + 1)) (i32.max (side (o3 - o5)) (side (o5 + 1)))
     else i32.max (side o5) (side (o3 - o5 + 1))

-- | Tell whether a chain may go on from t6 with `g`: by a shorter edge, and if few cities turn.
def may_leave [n] [k] (links: links [n] [k]) (g: i64) (t6: i32) (cities: i32) : bool =
  if cities <= most_turned then g > distance_of (#[unsafe] links[i64.i32 t6, 0]) else false

-- | Tell whether a move of three edges leaves one tour; `inside`: with t5 between t2 and t3.
#[inline]
def reconnects (kind: i32) (inside: bool) (o5: i32) (t1: i32) (t4: i32) (t5: i32) (t6: i32) : bool =
  if kind == 2 then t6 != t4 && t5 != t1 else inside && (kind == 3 || o5 > 0)

-- | The neighbours of a city that count behind some moves of a chain.
def breadth (k: i64) (moves: i32) : i32 = if moves == 0 then i32.i64 k else i32.min chain_breadth (i32.i64 k)

-- | The aim of a look: moves with first edge (t1, t2), t2 on the side s, behind `moves` of a chain; without reversals
-- if `straight`; that `may_open` the tour; `g0` is the gain before the chain closes, or the length of its first edge.
type aim = {straight: bool, moves: i32, may_open: bool, t1: i32, s: i32, g0: i64}

-- | The look for a chain's next move: by one thread, or by a block's lanes (`block_look`), with the same result.
module type looking = {
  type~ data [n]

  -- | The best move of t2's first neighbour with one, else the best that `may_open` the tour. **Work:** O(k^2).
  val look [n] [k] : data [n] -> links [n] [k] -> route [n] -> chain -> aim -> (found, found)
}

module mk_thread_look (M: metric) : looking with data [n] = M.data [n] = {
  module T = mk_three_opt M
  type~ data [n] = M.data [n]

  -- As `turned_about`; a function of its own in the generated C, or every loop would begin with it.
  local
  #[noinline]
  def turned (n: i32) (kind: i32) (o3: i32) (o5: i32) : i32 = turned_about n kind o3 o5

  -- The better of an open move and another.
  def opened [n] [k] (links: links [n] [k]) (best: found) (other: found) (t6: i32) (cities: i32) : found =
    if other.gain > best.gain && may_leave links other.gain t6 cities then other else best

  def look [n] [k] (data: data [n]) (links: links [n] [k]) (r: route [n]) (chain: chain) (aim: aim) : (found, found) =
    let {straight, moves, may_open, t1, s, g0} = aim
    let k32 = breadth k moves
    let d x y = T.between data x y
    let may_close data x y most = M.may_be_below data (M.point data x) (M.point data y) most
    let v = {n = i32.i64 n, s, p = position r t1}
    let t2 = at r (next v v.p)
    let (closing, left, _) =
      loop (closing, left, i) = (nothing, nothing, 0)
      while i < k32 && closing.gain <= 0 do
        let link = #[unsafe] links[i64.i32 t2, i64.i32 i]
        let g1 = g0 - distance_of link
        in if g1 <= 0
           then (closing, left, k32)
           else let t3 = city_of link
                let p3 = position r t3
                let o3 = order v p3
                -- t4 before t3, then behind it.
                let (closing, left, _) =
                  loop (closing, left, behind) = (closing, left, i32.bool straight)
                  while behind < 2 do
                    let t4 = at r (if behind == 1 then next v p3 else back v p3)
                    let is_move = t3 != t1 && (behind == 1 || t4 != t2) && is_old chain moves t3 t4
                    let g = if is_move then g1 + d t3 t4 else 0
                    let closing = if is_move && behind == 0 then closed closing {gain = g - d t1 t4, s, kind = 1, i, j = 0} else closing
                    let left = if is_move && behind == 0 && may_open then opened links left {gain = g, s, kind = 1, i, j = 0} t4 (turned v.n 1 o3 0) else left
                    let (closing, left, _) =
                      loop (closing, left, j) = (closing, left, if is_move then 0 else k32)
                      while j < k32 do
                        let link = #[unsafe] links[i64.i32 t4, i64.i32 j]
                        let g2 = g - distance_of link
                        in if g2 <= 0
                           then (closing, left, k32)
                           else let t5 = city_of link
                                let p5 = position r t5
                                let o5 = order v p5
                                let last = if behind == 0 then 2 else if o5 < o3 then (if straight then 3 else 4) else 0
                                let (closing, left, _) =
                                  loop (closing, left, kind) = (closing, left, 2 + behind)
                                  while kind <= last do
                                    let t6 = at r (if is_ahead kind o3 o5 then next v p5 else back v p5)
                                    let g3 = g2 + d t5 t6
                                    let opens = may_open && g3 > left.gain
                                    in if opens || may_close data t1 t6 (g3 - closing.gain)
                                       then let is_tour = reconnects kind true o5 t1 t4 t5 t6
                                            let counts = if is_tour then is_old chain moves t5 t6 else false
                                            let cities = turned v.n kind o3 o5
                                            in ( if counts then closed closing {gain = g3 - d t1 t6, s, kind, i, j} else closing
                                               , if counts && opens then opened links left {gain = g3, s, kind, i, j} t6 cities else left
                                               , kind + 1
                                               )
                                       else (closing, left, kind + 1)
                                in (closing, left, j + 1)
                    in (closing, left, behind + 1)
                in (closing, left, i + 1)
    in (closing, left)
}

-- | Chains, and moves alone where the depth is 0.
module mk_chains (M: metric) (W: worker with data [n] = M.data [n]) (L: looking with data [n] = M.data [n]) : searching with data [n] = M.data [n] = {
  module E = mk_edits W
  module T = mk_three_opt M
  type~ data [n] = M.data [n]
  type scratch = chain

  def scratch () : *chain = (replicate 150 0, 0)
  def most_moves : i32 = 3
  def log_size : i64 = 1000

  def has_room (depth: i32) (logged: i32) : bool =
    logged + 3 * i32.max 1 depth <= (if depth == 0 then log_capacity else i32.i64 log_size)

  -- Make a chain from t1's edge on side s, up to a shorter tour; the number of moves, and the gain or 0.
  def extend [n] [k] [m] (data: data [n]) (links: links [n] [k]) (straight: bool) (depth: i32) (t1: i32) (s: i32) ({r, l, q, scratch = chain}: *way [n] [m] scratch) : (*way [n] [m] scratch, i32, i64) =
    let n32 = i32.i64 n
    let first = at r (wrap n32 (position r t1 + s))
    let (r, l, chain, _, _, moves, gain, _) =
      loop (r, l, chain, s, g, moves, _gain, on) = (r, l, (chain.0, 0), s, T.between data t1 first, 0i32, 0i64, true)
      while on do
        let (closing, left) = L.look data links r chain {straight, moves, may_open = moves + 1 < depth, t1, s, g0 = g}
        let found = if closing.kind > 0 then closing else left
        let move = if found.kind == 0 then no_move else T.found_move links r t1 found
        let (r, l) = E.make (r, l) move
        let last = i64.i32 (ends move) - 1
        let begin = 6 * i64.i32 moves
        let chain =
          loop (cities, touched) = chain
          for i < (if last < 0 then 0 else 6) do
            let c = end move (i32.i64 (i64.min i last))
            in (#[unsafe] cities with [begin + i] = c, touch touched c)
        let t6 = if found.kind == 1 then move.t4 else move.t6
        let s = if at r (wrap n32 (position r t1 + 1)) == t6 then 1 else -1
        let on = closing.kind == 0 && left.kind > 0
        in (r, l, chain, s, found.gain, moves + i32.bool (found.kind > 0), closing.gain, on)
    in ({r, l, q, scratch = chain}, moves, gain)

  -- Without an `if` between arrays: those that a block's threads share would be written over while they are read.
  def step [n] [k] [m] (data: data [n]) (links: links [n] [k]) (choice: choice) (depth: i32) ({r, l, q, scratch = chain}: *way [n] [m] scratch) : (*way [n] [m] scratch, i64) =
    let t1 = peek q 0
    let (taken, move) = if depth == 0 then W.look data links choice r q else (1, no_move)
    let q = loop q for _z < taken do (pop q).0
    let (r, l) = E.make (r, l) move
    let ({r, l, q, scratch = chain}, moves, gain, _) =
      loop ({r, l, q, scratch}, _moves, gain, s) = ({r, l, q, scratch = chain}, 0i32, 0i64, if depth == 0 then -3 else 1i32)
      while s >= -1 && gain == 0 do
        let mark = logged l
        let ({r, l, q, scratch}, moves, gain) = extend data links choice.straight depth t1 s {r, l, q, scratch}
        let made = logged l
        let back = if gain == 0 then made - mark else 0
        let r = E.replay r l (made - back) back true
        let l = l with [0] = made - back
        in ({r, l, q, scratch}, moves, gain, s - 2)
    let q = loop q for i < ends move do push q (end move i)
    let q = loop q for i < (if gain > 0 then 6 * i64.i32 moves else 0) do push q (#[unsafe] chain.0[i])
    in ({r, l, q, scratch = chain}, move.gain + gain)
}
