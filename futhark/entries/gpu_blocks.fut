-- | The GPU program for random restarts by a fixed number of thread blocks of chosen lanes and rows.

import "../core/gpu_metric"
import "../core/tour"
import "../two_opt/fixed_blocks"
import "../two_opt/gpu_climbs"
import "../two_opt/restarts"

module grid_blocks = mk_shaped_blocks coarse_grid
module plane_blocks = mk_shaped_blocks any_plane
module matrix_blocks = mk_shaped_blocks gpu_matrix
