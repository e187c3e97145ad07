-- | Merging of the subtours that exchanges leave, in rounds: every subtour but the largest takes its best joint with a
-- larger one; those whose edges nobody else claims are made, a forest that leaves as many subtours less.

import "../core/metric"
import "exchange"
import "joints"
import "rows"

-- | Limits of merging: the most cuts of an exchange at first, the most cities of a subtour that looks, and the most rounds.
type limits = {most: i64, cap: i32, rounds: i32}

-- | The most rounds in which the union of a tour's children is merged.
def union_rounds : i32 = 20

-- | Exchanges on their way: the subtour of each segment, by one of its segments; how many subtours are left, and which exchanges go on.
type merging [c] [m] = {e: exchanges [c] [m], subtour: [m]i32, left: [c]i32, goes: [c]bool}

-- | Tell which exchanges leave one tour and save something. **Work:** O(c).
def are_good [c] [m] (e: exchanges [c] [m]) (left: [c]i32) : [c]bool = map2 (\l g -> l == 1 && g > 0) left e.gain

-- Tell whether an exchange still has several subtours and saves something.
local def is_open (left: i32) (gain: i64) : bool = left > 1 && gain > 0

-- | Merging on some metric.
module type mergers = {
  type~ data [n]

  -- | Merge the subtours of exchanges; return these, and how many subtours are left.
  val merge [n] [k] [p] [c] [m] : rows -> data [n] -> (lists: [n][k]i32) -> (tours: [p][n]i32) -> (places: [p][n]i32) -> limits -> exchanges [c] [m] -> ?[l].(exchanges [c] [l], [c]i32)

  -- | Merge the subtours of one exchange for each row, whatever their sizes; return these, and how many subtours are left.
  val merge_unions [n] [k] [p] [r] [m] : rows -> data [n] -> (lists: [n][k]i32) -> (tours: [p][n]i32) -> (places: [p][n]i32) -> exchanges [r] [m] -> ?[l].(exchanges [r] [l], [r]i32)
}

module mk_merging (M: metric) = {
  type~ data [n] = M.data [n]

  local module J = mk_joints M

  -- One round. An exchange that makes no joint makes none later. **Work:** O(m log most + s k log m) for s cities that look.
  local
  def round [n] [k] [p] [c] [m] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (places: [p][n]i32) (limits: limits) ({e, subtour, left, goes}: merging [c] [m]) : ?[l].merging [c] [l] =
    let joints = J.joints rows data lists tours places (rings_of rows limits.cap e subtour goes)
    let (e, subtour, joined) = splice e subtour joints
    let left = map2 (-) left joined
    in {e, subtour, left, goes = map4 (\f j l g -> f && j > 0 && is_open l g) goes joined left e.gain}

  -- **Work:** O(m log most + s k log m) a round for s cities that look. **Span:** O(log most + k log m) a round.

  #[noinline]
  def merge [n] [k] [p] [c] [m] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (places: [p][n]i32) (limits: limits) (e: exchanges [c] [m]) : ?[l].(exchanges [c] [l], [c]i32) =
    let subtour = subtours limits.most e
    let left = count_subtours e subtour
    let first = {e, subtour, left, goes = map2 is_open left e.gain}
    let (last, _, _) =
      loop (now: merging [c] [], go, done) = (first, true, 0i32)
      while go && done < limits.rounds do
        let now = round rows data lists tours places limits now
        in (now, or now.goes, done + 1)
    in (last.e, last.left)

  -- **Work, Span:** those of `merge`.
  def merge_unions [n] [k] [p] [r] [m] (rows: rows) (data: M.data [n]) (lists: [n][k]i32) (tours: [p][n]i32) (places: [p][n]i32) (e: exchanges [r] [m]) : ?[l].(exchanges [r] [l], [r]i32) =
    let most = i64.i32 (i32.max 1 (i32.maximum e.size))
    -- By another name for their number the compiler takes the `merge` that there is; it would make a second one.
    let c = r + 0
    let (e, left) = merge rows data lists tours places {most, cap = i32.i64 n, rounds = union_rounds} (e :> exchanges [c] [m])
    in (e :> exchanges [r] [], left :> [r]i32)
}
