#include "numerics/activation.hpp"

#include "numerics/elementary/elementary.hpp"

// Plain loops' form of rule A8, one operation a line, against which the vector templates are tested.
namespace lastbit::numerics {
namespace {

float gelu_tanh(float x) {
  constexpr float c = 0x1.988454p-1F;  // sqrt(2 / pi)
  constexpr float k = 0x1.6e4e26p-5F;  // 0.044715
  const float cube = (x * x) * x;
  const float inner = x + k * cube;
  return (0.5F * x) * (1.0F + tanh(c * inner));
}

float gelu_erf(float x) {
  constexpr float r = 0x1.6a09e6p-1F;  // 1 / sqrt(2)
  return (0.5F * x) * (1.0F + erf(x * r));
}

float gelu_quick(float x) {
  constexpr float slope = 0x1.b3b646p+0F;  // 1.702
  return x * (1.0F / (1.0F + exp(-(slope * x))));
}

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
