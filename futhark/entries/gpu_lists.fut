-- | The entry points of the cuda and opencl backends for neighbour lists of many cities in the plane: those of `cpu.fut`.

import "../flat/rows"
import "../neighbours/along_curve"
import "../neighbours/connected"
import "../neighbours/nearest"
import "../neighbours/quadrants"

-- Cities in order along a curve, with their places along it.
entry plane_along [n] (xs: [n]f64) (ys: [n]f64) : ([n]i32, [n]i64) = along_curve xs ys

-- The nearest cities of some, overall or in each quadrant, where all stand in order of the curve.
entry boxes_around [n] (xs: [n]f64) (ys: [n]f64) (zs: [n]f64) : ?[m].boxed [n] [m] = build_boxes xs ys zs
entry boxes_nearest [n] [m] [q] (boxed: boxed [n] [m]) (k: i64) (cities: [q]i32) : [q][k]i32 = nearest_of boxed k cities
entry boxes_quadrants [n] [m] [q] (boxed: boxed [n] [m]) (numbers: [n]i32) (k: i64) (most: i64) (cities: [q]i32) : [q][k]i32 = around_each boxed numbers k most cities

-- Whether neighbour lists join all cities of each instance.
entry many_connected [n] [k] [b] (lists: [n][k]i32) (sizes: [b]i32) : [b]bool = are_connected (rows_of n sizes (replicate b true)) lists :> [b]bool
