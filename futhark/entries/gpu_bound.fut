-- | The program of the cuda and opencl backends for Held and Karp's bound and α-nearness. Trees come by Borůvka's rounds
-- instead of city by city.

import "../bound/alpha"
import "../bound/exact_tree"
import "../bound/near_graph"
import "../bound/one_tree"
import "../neighbours/nearest"

module penalties_ascent = mk_ascent boruvka
