-- | The entry points of the cuda and opencl backends for Held and Karp's bound and α-nearness: those of `cpu.fut`, where trees come
-- by Borůvka's rounds instead of city by city.

import "../bound/alpha"
import "../bound/exact_tree"
import "../bound/near_graph"
import "../bound/one_tree"
import "../neighbours/nearest"

module penalties_ascent = mk_ascent boruvka

-- Boxes around cities that stand in order of a space-filling curve, and the nearest cities of some.
entry boxes_around [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) : ?[m].boxed [n] [m] = build_boxes xs ys zs
entry boxes_nearest [n] [m] [q] (boxed: boxed [n] [m]) (k: i64) (cities: [q]i32) : [q][k]i32 = nearest_of boxed k cities

-- A graph of near cities, its edges in rows, with lengths in units as fine as is wanted: each way between two of
-- them twice. Lengths are given, or computed between cities of the plane that stand in order of a curve, as `exact_tree` computes them;
-- or the rows alone, of edges without lengths.
entry near_graph_load [n] [e] (ends: [n]i32) (others: [e]i32) (lengths: [e]i64) : near_graph [n] [e] = load_near_graph ends others lengths
entry near_rows_load [n] [e] (ends: [n]i32) (others: [e]i32) : near_rows [n] [e] = load_near_rows ends others
entry near_graph_between [n] [m] [e] (boxed: boxed [n] [m]) (rounding: i32) (scale: i64) (most: f64) (rows: near_rows [n] [e]) : near_graph [n] [e] = near_graph_between boxed rounding scale most rows

-- The 1-tree of a graph under penalties: its cost without them, the edges of each city, and in how many parts the graph is.
entry one_tree [n] [e] (graph: near_graph [n] [e]) (penalties: [n]i64) : (i64, [n]i32, i64) = penalties_ascent.one_tree_of graph penalties

-- An ascent from penalties, by so many steps more, in 64ths of a unit; its best penalties; what they prove of the graph, and whether
-- its 1-tree is a tour.
entry ascent_given [n] (penalties: [n]i64) : *ascent [n] = given_ascent penalties
entry ascend [n] [e] [t] (graph: near_graph [n] [e]) (ascent: *ascent [n]) (steps: [t]i64) : *ascent [n] = penalties_ascent.ascend graph ascent steps
entry ascent_best [n] (ascent: ascent [n]) : [n]i64 = map (.best) ascent.cities
entry ascent_bound [n] (ascent: ascent [n]) : (i64, bool) = (ascent.bound, ascent.done)

-- The α of each edge under penalties, as the graph has it in its rows; and lists of neighbours, `near` nearest ones and those of
-- least α besides, k in all.
entry alphas [n] [e] (graph: near_graph [n] [e]) (penalties: [n]i64) : [e]i64 = alphas graph penalties
entry alpha_lists [n] [e] (graph: near_graph [n] [e]) (penalties: [n]i64) (near: i64) (k: i64) : [n][k]i32 = alpha_lists graph penalties near k

-- The minimum spanning tree of all pairs of cities in the plane under penalties, of boxes around cities in order of a curve and rows of a
-- graph that say where to begin: its cost, the highest cost of a city's second edge, the tree's edges.
entry exact_tree [n] [m] [e] (boxed: boxed [n] [m]) (rounding: i32) (scale: i64) (most: f64) (rows: near_rows [n] [e]) (penalties: [n]i64) : (i64, i64, [n]i32, [n]i32) = exact_tree boxed rounding scale most rows penalties
