#include "numerics/activation.hpp"

#include "numerics/elementary/elementary.hpp"

// Plain loops' form of rule A8, one operation a line, against which the vector templates are tested.
namespace lastbit::numerics {
namespace {

using namespace activation_constants;

float gelu_tanh(float x) {
  const float cube = (x * x) * x;
  const float inner = x + kGeluTanhCubic * cube;
  return (0.5F * x) * (1.0F + tanh(kRootTwoOverPi * inner));
}

float gelu_erf(float x) { return (0.5F * x) * (1.0F + erf(x * kRootHalf)); }

float gelu_quick(float x) { return x * (1.0F / (1.0F + exp(-(kGeluQuickSlope * x)))); }

float gelu_10(float x) {
  const float value = gelu_erf(x);
  if (value > 10.0F) return 10.0F;
  return value < -10.0F ? -10.0F : value;
}

float silu(float x) { return x / (1.0F + exp(-x)); }

float relu(float x) { return x > 0.0F || x != x ? x : 0.0F; }

float evaluate(Activation activation, float x) {
  switch (activation) {
    case Activation::gelu_erf:
      return gelu_erf(x);
    case Activation::gelu_tanh:
      return gelu_tanh(x);
    case Activation::gelu_quick:
      return gelu_quick(x);
    case Activation::gelu_10:
      return gelu_10(x);
    case Activation::silu:
      return silu(x);
    case Activation::relu:
      return relu(x);
    case Activation::relu2:
      return relu(x) * relu(x);
    case Activation::identity:
      return x;
  }
  __builtin_unreachable();
}

}  // namespace

std::string_view activation_name(Activation activation) {
  switch (activation) {
    case Activation::gelu_erf:
      return "gelu_erf";
    case Activation::gelu_tanh:
      return "gelu_tanh";
    case Activation::gelu_quick:
      return "gelu_quick";
    case Activation::gelu_10:
      return "gelu_10";
    case Activation::silu:
      return "silu";
    case Activation::relu:
      return "relu";
    case Activation::relu2:
      return "relu2";
    case Activation::identity:
      return "identity";
  }
  __builtin_unreachable();
}

float activate(Activation activation, float x) {
  const float value = evaluate(activation, x);
  return value == value ? value : __builtin_nanf("");  // the canonical 0x7FC00000, whatever the sign and payload were
}

}  // namespace lastbit::numerics
