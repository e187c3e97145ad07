-- | Distances of cities wherever they are: in a plane, beyond it, or in a matrix, by one copy of the code.

import "metric"
import "space"

-- | That cities are in a matrix, and no places: beside the kinds of places.
def in_matrix : kind = 3

-- | The distances of `space`, and of `matrix`.
module anywhere
  : {
      include metric

      -- | Cities that are given by coordinates. **Work:** O(1).
      val of_places [n] : places [n] -> data [n]

      -- | Cities of a plane or of a matrix, which stands row behind row: coordinates or distances, those that the kind has no
      -- use for, are any. **Work:** O(1).
      val of_kind [n] [w] : kind -> (xs: [n]f64) -> (ys: [n]f64) -> (distances: [w]i32) -> data [n]
    } = {
  type~ data [n] = {places: places [n], distances: []i32}
  type point = space.point

  def point [n] (data: data [n]) (c: i32) : point = space.point data.places c
  def city (p: point) = space.city p

  -- What most cities are is asked first: in another order distances in a plane take longer.

  #[inline]
  def dist [n] ({places, distances}: data [n]) (a: point) (b: point) : i32 =
    if places.kind == plane_rounded
    then space.dist (places with kind = plane_rounded) a b
    else if places.kind == in_matrix
    then #[unsafe] distances[i64.i32 (city a) * n + i64.i32 (city b)]
    else space.dist places a b

  #[inline]
  def may_be_below [n] ({places, distances}: data [n]) (a: point) (b: point) (most: i64) : bool =
    if places.kind <= plane_rounded_up
    then space.may_be_below (places with kind = plane_rounded) a b most
    else i64.i32 (dist {places, distances} a b) < most

  #[inline]
  def of_places [n] (places: places [n]) : data [n] = {places, distances = []}

  #[inline]
  def of_kind [n] [w] (kind: kind) (xs: [n]f64) (ys: [n]f64) (distances: [w]i32) : data [n] =
    {places = in_space (xs, ys, 0) with kind = kind, distances}
}

-- | The cities of a plane. **Work:** O(1).
#[inline]
def plane_anywhere [n] (plane: ([n]f64, [n]f64, f64)) : anywhere.data [n] = anywhere.of_places (in_space plane)

-- | The cities of a matrix. **Work:** O(n).
#[inline]
def matrix_anywhere [n] (distances: [n][n]i32) : anywhere.data [n] =
  let nowhere = replicate n 0
  in anywhere.of_kind in_matrix nowhere nowhere (flatten distances)
