-- | The GPU program for iterated local search and many instances; a climber has a thread block or a thread.

import "../core/anywhere"
import "../core/instances"
import "../core/metric"
import "../core/schedule"
import "../core/tour"
import "../flat/rows"
import "../local_search/block_worker"
import "../local_search/ils"
import "../local_search/lin_kernighan"
import "../local_search/many_starts"
import "../local_search/near_tours"
import "../local_search/population"
import "../local_search/three_opt"
import "../local_search/worker"
import "../neighbours/connected"

-- How many cities a climber of the iterated local search looks at together.
module few_cities = {def cities = 4i64}

module matrix_population_block = mk_population matrix (mk_deep_ils matrix (mk_block_worker matrix few_cities) (mk_block_look matrix few_cities)) blocks
module grid_population_block = mk_population grid (mk_deep_ils grid (mk_block_worker grid few_cities) (mk_block_look grid few_cities)) blocks
module plane_population_block = mk_population plane (mk_deep_ils plane (mk_block_worker plane few_cities) (mk_block_look plane few_cities)) blocks
module matrix_population_thread = mk_population matrix (mk_ils matrix (mk_thread_worker matrix)) spread_threads
module grid_population_thread = mk_population grid (mk_ils grid (mk_thread_worker grid)) spread_threads
module plane_population_thread = mk_population plane (mk_ils plane (mk_thread_worker plane)) spread_threads
module any_climbing_thread = mk_deep_ils anywhere (mk_thread_worker anywhere) (mk_thread_look anywhere)
module any_many_starts = mk_many_starts anywhere any_climbing_thread threads
module matrix_near_tours = mk_near_tours matrix threads
module grid_near_tours = mk_near_tours grid threads
module plane_near_tours = mk_near_tours plane threads
