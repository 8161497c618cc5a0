// A checkpoint checked against its family's declaration: configuration, tensors and decisions, before anything is
// packed.
#pragma once

#include <string>
#include <vector>

#include "base/decision.hpp"
#include "families/family.hpp"
#include "formats/gguf/gguf.hpp"

namespace lastbit::families {

struct DescribeOptions {
  /// Keys or tensors that a person chose to overlook (--allow-unknown).
  std::vector<std::string> allow_unknown;
};

/// A declared tensor found in the file.
struct TensorBinding {
  const TensorDeclaration* declaration = nullptr;
  const formats::TensorView* tensor = nullptr;
  std::size_t layer = 0;  // where the declaration is per layer
};

struct Description {
  const Family* family = nullptr;
  blocks::DecoderConfig config;
  std::vector<TensorBinding> tensors;
  bool tied_output = false;
  std::vector<Decision> decisions;
  std::vector<std::string> inert_keys;  // known, without influence on the answer
  std::vector<std::string> overlooked;  // unknown, allowed by DescribeOptions
};

/// Throws ErrorKind::input with every problem of the file in one message: unknown architecture, missing, mistyped or
/// unknown keys, values out of range, missing, misshapen or unknown tensors. The file must outlive the description.
Description describe(const formats::GgufFile& file, const DescribeOptions& options);

}  // namespace lastbit::families
