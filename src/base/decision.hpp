// What a loader decided, for `lastbit inspect` and the run header: each value with the place that it came from.
#pragma once

#include <string>

namespace lastbit {

/// One decision. `source` is a key of the file ("tokenizer.ggml.bos_token_id"), or says that it is a written default.
struct Decision {
  std::string name;
  std::string value;
  std::string source;
};

}  // namespace lastbit
