-- | Local search of all tours at once, in rounds: every city proposes a move, the best moves at their edges are made together
-- whatever tour they leave, and the subtours are merged.

import "../core/metric"
import "apply"
import "exchange"
import "merging"
import "moves"
import "proposals"
import "segments"
import "unite"

-- | A local search: the places of neighbour lists that cities look at, the fewest proposals with which a tour goes on to
-- another round, and the most rounds.
type search = {wide: i32, least: i32, rounds: i32}

-- | The fewest cities of a tour that is searched: a move takes up to three cities and five others.
def fewest_cities : i64 = 8

module mk_improve (M: metric) (S: mergers with data [n] = M.data [n]) = {
  local module P = mk_proposals M

  -- Proposals as exchanges, in order of tours and positions.
  local
  def exchanges_of [p] [n] [k] (lists: [n][k]i32) ({tours, places, lengths = _}: population [p] [n]) (proposals: [p * n]proposal) : ?[c][m].exchanges [c] [m] =
    #[unsafe]
    let who = where_true (map (\x -> x.gain > 0) proposals)
    let move (x: i32) =
      let (a, q) = (i64.i32 x / n, i64.i32 x % n)
      let (j, side, l, other) = decode (get proposals x).code
      let t = get places[a] lists[i64.i32 tours[a, q], i64.i32 j]
      in move_of (i32.i64 n) (i32.i64 q) t side l other
    let gain = map (\x -> (get proposals x).gain) who
    in exchanges_of_moves (map (\x -> i32.i64 (i64.i32 x / n)) who) gain (map move who)

  -- | Make one round of the tours that go on; return which of them go on then.
  --
  -- A tour goes on where it had `search.least` proposals and has changed. **Work:** O(p n wide), and that of `merge`.
  def improve [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (search: search) (population: population [p] [n]) (goes: [p]bool) : (population [p] [n], [p]bool) =
    let wide = i32.min search.wide (i32.i64 k)
    let e = exchanges_of lists population (P.proposals data lists population wide goes)
    let counts = hist (+) 0 p (map i64.i32 e.pair) (map (const 1i32) e.pair)
    let united = unite p n e (map (const true) e.pair)
    let (united, left) = S.merge_unions data lists population.tours population.places united
    let (population, changed) = apply population united (are_good united left)
    in (population, map2 (\f count -> f && count >= search.least) changed counts)

  -- | Search until no tour goes on, each by itself. Tours of fewer than `fewest_cities` cities stay.
  --
  -- **Work:** that of `improve` a round.
  #[noinline]
  def search [p] [n] [k] (data: M.data [n]) (lists: [n][k]i32) (search: search) (population: population [p] [n]) : population [p] [n] =
    let (population, _, _) =
      loop (population, goes, round) = (population, replicate p (n >= fewest_cities), 0i32)
      while round < search.rounds && or goes do
        let (population, goes) = improve data lists search population goes
        in (population, goes, round + 1)
    in population
}
