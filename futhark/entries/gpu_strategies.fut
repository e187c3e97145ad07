-- | The GPU program for iterated local search by climbers in step with each other.

import "../core/instances"
import "../core/metric"
import "../core/tour"
import "../local_search/ils"
import "../local_search/lockstep"
import "../local_search/population"

-- How many cities a climber looks at together.
module few_cities = {def cities = 4i64}

module matrix_lockstep = mk_lockstep matrix few_cities
module grid_lockstep = mk_lockstep grid few_cities
module plane_lockstep = mk_lockstep plane few_cities
