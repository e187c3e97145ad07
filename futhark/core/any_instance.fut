-- | Instances of each form as data of one form, so that one copy of the code serves all.

import "anywhere"
import "instances"
import "space"

-- | The data of an instance for `anywhere`. **Work:** O(1), of a matrix O(n^2), of a grid O(n).
def matrix_data [n] (instance: matrix_instance [n]) : anywhere.data [n] = matrix_anywhere instance.matrix
def grid_data [n] (instance: grid_instance [n]) : anywhere.data [n] = plane_anywhere (plane_of_grid instance)
def plane_data [n] (instance: plane_instance [n]) : anywhere.data [n] = plane_anywhere instance.plane
def space_data [n] (instance: space_instance [n]) : anywhere.data [n] = anywhere.of_places instance.space
def matrices_data [n] [w] (instance: matrices_instance [n] [w]) : anywhere.data [n] = matrices_anywhere instance

-- | The data of an instance for `space`. **Work:** O(1), of a grid O(n).
def grid_places [n] (instance: grid_instance [n]) : places [n] = in_space (plane_of_grid instance)
def plane_places [n] (instance: plane_instance [n]) : places [n] = in_space instance.plane
def space_places [n] (instance: space_instance [n]) : places [n] = instance.space
