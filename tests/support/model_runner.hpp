// Runs a checkpoint in the engine the way the tests of bits and of values need it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "blocks/execution.hpp"
#include "cpu/isa.hpp"
#include "engine/engine.hpp"
#include "engine/generation.hpp"
#include "engine/model.hpp"

namespace lastbit::test {

std::unique_ptr<engine::Model> load_test_model(const std::string& path);

/// One way to compute: none of it may change a bit.
struct Setting {
  cpu::Isa isa = cpu::Isa::scalar;
  int threads = 1;
  std::size_t chunk = 0;  // 0: all at once
};
std::string setting_text(const Setting& setting);

/// What shows that an axis was really exercised.
struct RunEvidence {
  std::string hash;  // SHA-256 of the logits of every position
  std::uint64_t passes = 0;
  std::vector<std::uint64_t> tasks_by_worker;
};
RunEvidence run_logits(const engine::Model& model, const Setting& setting, const std::vector<std::int32_t>& tokens);

/// The logits [tokens, vocabulary] of every position.
std::vector<float> all_logits(const engine::Model& model, const Setting& setting,
                              const std::vector<std::int32_t>& tokens);

/// The instruction sets that this machine grants, scalar first.
std::vector<cpu::Isa> supported_isas();

/// The strongest of them.
cpu::Isa best_isa();

}  // namespace lastbit::test
