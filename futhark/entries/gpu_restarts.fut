-- | The GPU program for random restarts and one large tour; a climber has a thread block or a thread.

import "../core/gpu_metric"
import "../core/metric"
import "../core/tour"
import "../two_opt/descent"
import "../two_opt/gpu_climbs"
import "../two_opt/restarts"
import "../two_opt/rows"
import "../two_opt/screen"

module few_rows = {
  def rows = 5i64
  def units = 524288i64
  def least = 4i64
  def most = 256i64
  def proposing_units = 131072i64
}

-- Enough units to fill a GPU once, and columns enough for what a unit costs before the first: see docs/benchmarks.md.
module many_rows = {
  def rows = 11i64
  def units = 131072i64
  def least = 4i64
  def most = 96i64
  def proposing_units = 131072i64
}

module gpu_matrix_descent = mk_descent (mk_rows screened_matrix few_rows)
module gpu_plane_descent = mk_descent (mk_rows screened_plane many_rows)
