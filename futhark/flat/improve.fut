-- | Local search in rounds: cities propose moves, the best at their edges are made together, subtours are merged.

import "../core/metric"
import "apply"
import "exchange"
import "merging"
import "plans"
import "proposals"
import "rows"
import "unite"

-- | The fewest cities of a row that is searched: a move takes up to three cities and five others.
def fewest_cities : i32 = 8

module mk_improve (M: metric) (S: mergers with data [n] = M.data [n]) = {
  local module P = mk_proposals M

  -- Proposals as exchanges, in order of rows and positions.
  local
  def exchanges_of [p] [n] [r] [k] (rows: rows) (lists: [n][k]i32) ({tours, places, lengths = _}: population [p] [n] [r]) (proposals: [p * n]proposal) : ?[c][m].exchanges [c] [m] =
    #[unsafe]
    let who = where_true (map (\x -> x.gain > 0) proposals)
    let move (x: i32) =
      let (a, q) = (i64.i32 x / n, i64.i32 x % n)
      let (j, side, l, other) = decode (get proposals x).code
      let t = get places[a] lists[i64.i32 tours[a, q], i64.i32 j]
      in move_of (bounds_at rows (i32.i64 q)) (i32.i64 q) t side l other
    let gain = map (\x -> (get proposals x).gain) who
    let row (x: i32) = row_at rows (i64.i32 x / n) (i32.i64 (i64.i32 x % n))
    in exchanges_of_moves (map row who) gain (map move who)

  -- | Make a round; rows with `plan.least` proposals that change go on. **Work:** O(p n wide), and that of `merge`.
  def improve [p] [n] [r] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (plan: bulk_plan) (population: population [p] [n] [r]) (goes: [r]bool) : (population [p] [n] [r], [r]bool) =
    let wide = i32.min plan.wide (i32.i64 k)
    let e = exchanges_of rows lists population (P.proposals rows data lists population wide goes)
    let counts = sums r (map i64.i32 e.row) (map (const 1i32) e.row)
    let united = unite rows p e (map (const true) e.row) :> exchanges [r] []
    let (united, left) = S.merge_unions rows data lists population.tours population.places united
    let (population, changed) = apply rows population united (are_good united left)
    in (population, map2 (\f count -> f && count >= plan.least) changed counts)

  -- | Search until no row of `fewest_cities` or more goes on, each by itself. **Work:** that of `improve` a round.
  #[noinline]
  def search [p] [n] [r] [k] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (plan: bulk_plan) (population: population [p] [n] [r]) : population [p] [n] [r] =
    let (population, _, _) =
      loop (population, goes, round) = (population, tabulate r (\row -> (bounds_of_row rows (i32.i64 row)).size >= fewest_cities), 0i32)
      while round < plan.rounds && or goes do
        let (population, goes) = improve rows data lists plan population goes
        in (population, goes, round + 1)
    in population
}
