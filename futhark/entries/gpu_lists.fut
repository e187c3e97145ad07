-- | The program of the cuda and opencl backends for neighbour lists of many cities in the plane.

import "../flat/rows"
import "../neighbours/along_curve"
import "../neighbours/connected"
import "../neighbours/nearest"
import "../neighbours/quadrants"
