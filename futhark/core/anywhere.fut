-- | Distances of cities wherever they are, in a plane, beyond it, or in a matrix, for one copy of the code.

import "instances"
import "metric"
import "space"

-- | The data of an instance for `space`. **Work:** O(1), of a grid O(n).
def grid_places [n] (instance: grid_instance [n]) : places [n] = in_space (plane_of_grid instance)
def plane_places [n] (instance: plane_instance [n]) : places [n] = in_space instance.plane
def space_places [n] (instance: space_instance [n]) : places [n] = instance.space

-- | That cities are in a matrix, and no places: beside the kinds of places.
def in_matrix : kind = 3

-- | The distances of `space`, and of `matrix`.
module anywhere
  : {
      include sliced

      -- | Cities that are given by coordinates. **Work:** O(1).
      val of_places [n] : places [n] -> data [n]

      -- | Cities of matrices, which stand one behind another, row behind row: the distance of cities a and b is behind
      -- firsts[a] + b others; without `firsts` it is one matrix. **Work:** O(1).
      val of_matrices [n] [f] [w] : (firsts: [f]i64) -> (distances: [w]i32) -> data [n]
    } = {
  type~ data [n] = {places: places [n], firsts: []i64, distances: []i32}
  type point = space.point

  def point [n] (data: data [n]) (c: i32) : point = space.point data.places c
  def city (p: point) = space.city p

  -- What most cities are is asked first: in another order distances in a plane take longer.

  #[inline]
  def dist [n] ({places, firsts, distances}: data [n]) (a: point) (b: point) : i32 =
    if places.kind == plane_rounded
    then space.dist (places with kind = plane_rounded) a b
    else if places.kind == in_matrix
    then #[unsafe]
         let c = i64.i32 (city a)
         in distances[(if length firsts == 0 then c * n else firsts[c]) + i64.i32 (city b)]
    else space.dist places a b

  #[inline]
  def may_be_below [n] ({places, firsts, distances}: data [n]) (a: point) (b: point) (most: i64) : bool =
    if places.kind <= plane_rounded_up
    then space.may_be_below (places with kind = plane_rounded) a b most
    else i64.i32 (dist {places, firsts, distances} a b) < most

  #[inline]
  def of_places [n] (places: places [n]) : data [n] = {places, firsts = [], distances = []}

  #[inline]
  def of_matrices [n] [f] [w] (firsts: [f]i64) (distances: [w]i32) : data [n] =
    let nowhere = replicate n 0
    in {places = in_space (nowhere, nowhere, 0) with kind = in_matrix, firsts, distances}

  def slice [n] ({places, firsts, distances}: data [n]) (first: i64) (m: i64) : data [m] =
    #[unsafe]
    let at (c: i64) = firsts[first + c] + first
    in { places = space.slice places first m
       , firsts = if length firsts == 0 then [] else tabulate m at
       , distances
       }
}

-- | The data of an instance for `anywhere`. **Work:** O(1), of a matrix O(n^2), of a grid O(n).
def matrix_data [n] ({matrix}: matrix_instance [n]) : anywhere.data [n] = anywhere.of_matrices [] (flatten matrix)
def matrices_data [n] [w] ({firsts, matrices}: matrices_instance [n] [w]) : anywhere.data [n] = anywhere.of_matrices firsts matrices
def grid_data [n] (instance: grid_instance [n]) : anywhere.data [n] = anywhere.of_places (grid_places instance)
def plane_data [n] (instance: plane_instance [n]) : anywhere.data [n] = anywhere.of_places (plane_places instance)
def space_data [n] (instance: space_instance [n]) : anywhere.data [n] = anywhere.of_places (space_places instance)
