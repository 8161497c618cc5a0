#include "numerics/elementary/elementary.hpp"

#include "cpu/vector_emulated.hpp"
#include "numerics/elementary/vector_functions.hpp"

namespace lastbit::numerics {
namespace {

using OneLane = one_lane::Vector;

template <class Function>
float at_one_lane(Function function, float x) {
  return function(OneLane::broadcast(x)).lane[0];
}

}  // namespace

float exp(float x) { return at_one_lane(exp<OneLane>, x); }
float log(float x) { return at_one_lane(log<OneLane>, x); }
float tanh(float x) { return at_one_lane(tanh<OneLane>, x); }
float erf(float x) { return at_one_lane(erf<OneLane>, x); }
float sin(float x) { return at_one_lane(sin<OneLane>, x); }
float cos(float x) { return at_one_lane(cos<OneLane>, x); }
float sqrt(float x) { return at_one_lane(sqrt<OneLane>, x); }
float reciprocal(float x) { return at_one_lane(reciprocal<OneLane>, x); }

}  // namespace lastbit::numerics
