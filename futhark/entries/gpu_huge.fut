-- | The entry points of the cuda and opencl backends for one huge tour: those of `cpu.fut`, where a climber has a thread
-- block of its own.

import "../core/instances"
import "../core/metric"
import "../core/planar"
import "../core/schedule"
import "../neighbours/nearest"
import "../large/parallel_moves"
import "../large/pieces"
import "../local_search/block_look"
import "../local_search/block_worker"
import "../local_search/ils"
import "../local_search/population"
import "../local_search/three_opt"

-- How many cities a climber of the iterated local search looks at together.
module few_cities = {def cities = 4i64}

module grid_passes = mk_passes planar_grid wide
module plane_passes = mk_passes planar_plane wide
module grid_path = mk_path planar_grid
module plane_path = mk_path planar_plane
module grid_pieces = mk_pieces planar_grid (mk_deep_ils grid_path (mk_block_worker grid_path few_cities) (mk_block_look grid_path few_cities)) blocks
module plane_pieces = mk_pieces planar_plane (mk_deep_ils plane_path (mk_block_worker plane_path few_cities) (mk_block_look plane_path few_cities)) blocks

-- An instance on the device.
entry grid_load [n] (xs: [n]i32) (ys: [n]i32) : grid_instance [n] = load_grid xs ys
entry plane_load [n] (xs: [n]f64) (ys: [n]f64) (up: bool) : plane_instance [n] = load_plane xs ys up

-- The nearest cities of some, where all stand in order of a space-filling curve.
entry boxes_around [n] (xs: [n]f64) (ys: [n]f64) : ?[m].boxed [n] [m] = build_boxes xs ys
entry boxes_nearest [n] [m] [q] (boxed: boxed [n] [m]) (k: i64) (cities: [q]i32) : [q][k]i32 = nearest_of boxed k cities

-- One huge tour: links are neighbour lists with their distances, in order of these; they stay on the device, and are given
-- some cities at a time, from number `first` on. What is huge holds the tour.
entry links_blank (n: i64) (k: i64) : neighbours [n] [k] = blank_links n k
entry grid_links [n] [k] [m] (instance: grid_instance [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] = grid_passes.put_links instance.grid neighbours first lists
entry plane_links [n] [k] [m] (instance: plane_instance [n]) (neighbours: *neighbours [n] [k]) (first: i64) (lists: [m][k]i32) : neighbours [n] [k] = plane_passes.put_links instance.plane neighbours first lists
entry huge_given [n] (tour: [n]i32) : huge [n] = given_huge tour
entry huge_tour [n] (huge: huge [n]) : [n]i32 = tour_of huge
entry huge_done [n] (huge: huge [n]) : bool = huge.progress.done
entry huge_counts [n] (huge: huge [n]) : [3]i64 = work_of huge
entry grid_huge_length [n] (instance: grid_instance [n]) (huge: huge [n]) : i64 = grid_passes.length_of instance.grid huge
entry plane_huge_length [n] (instance: plane_instance [n]) (huge: huge [n]) : i64 = plane_passes.length_of instance.plane huge

-- Passes over the neighbourhood of the whole tour, at most `limit` of them, and none more once they cost as much as `most`.
entry grid_huge_descend [n] [k] (instance: grid_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (seed: u64) (limit: i64) (most: i64) : huge [n] = grid_passes.descend instance.grid neighbours.links seed limit most huge
entry plane_huge_descend [n] [k] (instance: plane_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (seed: u64) (limit: i64) (most: i64) : huge [n] = plane_passes.descend instance.plane neighbours.links seed limit most huge

-- Some pieces climb by a stretch of iterations, behind a descent where it begins with 0. The climber of piece 0 is the stretch's
-- first stream.
entry grid_climb_pieces [n] [k] (instance: grid_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (stretch: stretch) (temperature: f64) (moves: i32) (pieces: piece_range) : huge [n] = grid_pieces.search instance.grid neighbours huge stretch temperature moves pieces
entry plane_climb_pieces [n] [k] (instance: plane_instance [n]) (neighbours: neighbours [n] [k]) (huge: huge [n]) (stretch: stretch) (temperature: f64) (moves: i32) (pieces: piece_range) : huge [n] = plane_pieces.search instance.plane neighbours huge stretch temperature moves pieces
