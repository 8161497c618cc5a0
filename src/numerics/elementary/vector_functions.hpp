// The elementary functions of rule A1 as templates over the vector wrapper: exp<Vector>(x) and so on. A translation
// unit compiled per instruction set includes LASTBIT_VECTOR_HEADER first. Everything here is a template over the
// wrapper of that unit's anonymous namespace, so no code compiled for a stronger set can leak into the baseline.
#pragma once

#include "numerics/elementary/error_function.hpp"
#include "numerics/elementary/exponential.hpp"
#include "numerics/elementary/hyperbolic_tangent.hpp"
#include "numerics/elementary/logarithm.hpp"
#include "numerics/elementary/sine_cosine.hpp"
#include "numerics/elementary/square_root.hpp"
