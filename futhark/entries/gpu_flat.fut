-- | The GPU program for edge assembly crossover, all tours at once: one copy of the code for all forms of distances.

import "../core/anywhere"
import "../core/instances"
import "../core/space"
import "../core/tour"
import "../flat/crossing"
import "../flat/curve"
import "../flat/many"
import "../flat/plans"
import "../flat/rows"
import "../local_search/population"

module any_crossing = mk_crossing anywhere
