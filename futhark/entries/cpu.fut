-- | The program of the c and multicore backends: the searches that its entry points (`entries.fut.in`) use.

import "../bound/alpha"
import "../bound/exact_tree"
import "../bound/near_graph"
import "../bound/one_tree"
import "../comparators/annealing"
import "../comparators/ants"
import "../core/anywhere"
import "../core/instances"
import "../core/metric"
import "../core/schedule"
import "../core/space"
import "../core/tour"
import "../flat/crossing"
import "../flat/many"
import "../flat/plans"
import "../flat/rows"
import "../large/fragments"
import "../large/parallel_moves"
import "../large/pieces"
import "../local_search/ils"
import "../local_search/lin_kernighan"
import "../local_search/many_starts"
import "../local_search/near_tours"
import "../local_search/population"
import "../local_search/three_opt"
import "../local_search/worker"
import "../neighbours/along_curve"
import "../neighbours/connected"
import "../neighbours/exits"
import "../neighbours/nearest"
import "../neighbours/quadrants"
import "../two_opt/bands"
import "../two_opt/cpu_climbs"
import "../two_opt/descent"
import "../two_opt/pairs"
import "../two_opt/restarts"

module penalties_ascent = mk_ascent prim
module matrix_climbs = mk_cpu_climbs matrix
module grid_climbs = mk_cpu_climbs grid
module plane_climbs = mk_cpu_climbs plane
module bands_of = {def width = 1024i64 def depth = 64i64}
module matrix_descent = mk_descent (mk_bands matrix bands_of)
module grid_descent = mk_descent (mk_bands grid bands_of)
module plane_descent = mk_descent (mk_bands plane bands_of)
module any_worker = mk_thread_worker anywhere
module any_climbing = mk_deep_ils anywhere any_worker (mk_thread_look anywhere)
module any_population = mk_population anywhere any_climbing cores
module any_near_tours = mk_near_tours anywhere cores
module any_crossing = mk_crossing anywhere
module any_many_starts = mk_many_starts anywhere any_climbing cores
module space_passes = mk_passes space wide
module space_path = mk_path space
module space_pieces = mk_pieces space (mk_deep_ils space_path (mk_thread_worker space_path) (mk_thread_look space_path))
module any_annealing = mk_annealing anywhere any_worker cores
module any_ants = mk_ants anywhere any_population cores
