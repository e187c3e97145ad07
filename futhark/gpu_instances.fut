-- | Instances as the programs for GPUs hold them that compute each distance as it is defined, and checks that they share.

import "metric"

type matrix_instance [n] = {matrix: matrix.data [n]}
type grid_instance [n] = {grid: grid.data [n]}
type plane_instance [n] = {plane: plane.data [n]}

def fits_32_bits (n: i64) = n >= 1 && n <= i64.i32 i32.highest
def are_climbers (first: i64) (count: i64) = first >= 0 && count >= 1
