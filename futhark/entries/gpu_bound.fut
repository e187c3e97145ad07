-- | The GPU program for Held and Karp's bound and α-nearness, with trees by Borůvka's rounds.

import "../bound/alpha"
import "../bound/exact_tree"
import "../bound/near_graph"
import "../bound/one_tree"
import "../neighbours/nearest"

module penalties_ascent = mk_ascent boruvka
