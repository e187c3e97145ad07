-- | The GPU program for annealing and ants, a thread each. A chain takes 24 bytes a city, and 16 more for each thread
-- that only goes along (`spread_threads`); an ant 8, with a local search 36; a colony 24 a neighbour of each city.

import "../comparators/annealing"
import "../comparators/ants"
import "../core/instances"
import "../core/metric"
import "../core/schedule"
import "../core/tour"
import "../local_search/ils"
import "../local_search/population"
import "../local_search/worker"

module matrix_annealing = mk_annealing matrix (mk_thread_worker matrix) spread_threads
module grid_annealing = mk_annealing grid (mk_thread_worker grid) spread_threads
module plane_annealing = mk_annealing plane (mk_thread_worker plane) spread_threads
module matrix_ants = mk_ants matrix (mk_population matrix (mk_ils matrix (mk_thread_worker matrix)) spread_threads) spread_threads
module grid_ants = mk_ants grid (mk_population grid (mk_ils grid (mk_thread_worker grid)) spread_threads) spread_threads
module plane_ants = mk_ants plane (mk_population plane (mk_ils plane (mk_thread_worker plane)) spread_threads) spread_threads
