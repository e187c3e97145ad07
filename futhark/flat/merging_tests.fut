-- Merging: two rings of a ladder of eight cities, from the joint to the tour. More is tested from Python.

import "../core/metric"
import "../core/testing"
import "apply"
import "exchange"
import "joints"
import "merging"
import "rows"

module J = mk_joints matrix
module S = mk_merging matrix

-- Two rows of four cities, one above the other; the tour goes along one and back along the other.
def data : [8][8]i32 = taxicab ([0, 1, 2, 3, 3, 2, 1, 0], [0, 0, 0, 0, 1, 1, 1, 1])
def tour : [8]i32 = map i32.i64 (iota 8)

-- The edges 1 to 2 and 5 to 6 go, and each half closes into a ring.
def halves : exchanges [1] [2] =
  {row = [0], off = [0], size = [2], gain = [0], cut = [1, 5], own = [0, 0], link = [(3, 2), (1, 0)]}

-- Each city has all others in its list, in order of distance, equals by number.
def lists : [8][7]i32 =
  let nearest (a: i64) =
    let key (b: i64) = if b == a then i64.highest else i64.i32 data[a, b] * 8 + b
    let rank (b: i64) = if b == a then -1 else i64.sum (map (\c -> i64.bool (key c < key b)) (iota 8))
    in scatter (replicate 7 0i32) (map rank (iota 8)) (map i32.i64 (iota 8))
  in map nearest (iota 8)

-- The rings have equal sizes, so the first one looks. It joins the other one at no cost by its first city, 2, where the
-- exchange saves something: that loses its link to 5.
-- ==
-- entry: first_joint
-- input { 1i64 } output { true false 0 1 }
-- input { 0i64 } output { false false 0 0 }
entry first_joint (gain: i64) : (bool, bool, i32, i32) =
  let halves = halves with gain = [gain]
  let rings = rings_of (one_row 8) 8 halves (subtours 2 halves) [true]
  let joints = J.joints (one_row 8) data lists [tour] [tour] rings
  in (joints[0].is, joints[1].is, joints[0].gain, joints[0].there)

-- The first of two joints at one edge is made.
-- ==
-- entry: claims
-- input { } output { [true, false] }
entry claims : [2]bool =
  let x claim = no_joint.x with claim = claim
  let joint claim other = no_joint with is = true with x = x claim with y = x other
  let joints = [joint 4 5, joint 5 3]
  in map (is_made {joints, claims = claims_of joints}) [0, 1]

-- One tour is left where subtours of four cities look, with a gain of 2; and no joint where they do not, or nothing is saved.
-- ==
-- entry: merged
-- input { 4 2i64 } output { [1] [2i64] true }
-- input { 3 2i64 } output { [2] [2i64] false }
-- input { 4 0i64 } output { [2] [0i64] false }
entry merged (cap: i32) (gain: i64) : ([]i32, []i64, bool) =
  let (e, left) = S.merge (one_row 8) data lists [tour] [tour] {most = 2, cap, rounds = 3} (halves with gain = [gain])
  let (_, made) = apply (one_row 8) {tours = [tour], places = [tour], lengths = [8]} e (are_good e left)
  in (copy left, copy e.gain, made[0])
