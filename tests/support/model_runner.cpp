#include "tests/support/model_runner.hpp"

#include "base/sha256.hpp"

namespace lastbit::test {

std::unique_ptr<engine::Model> load_test_model(const std::string& path) {
  ThreadPool pool(2);
  return std::make_unique<engine::Model>(path, engine::LoadOptions{}, pool);
}

std::string setting_text(const Setting& setting) {
  return std::string(cpu::isa_name(setting.isa)) + ", " + std::to_string(setting.threads) + " threads, chunk " +
         (setting.chunk == 0 ? "all" : std::to_string(setting.chunk));
}

namespace {

RunEvidence run(const engine::Model& model, const Setting& setting, const std::vector<std::int32_t>& tokens,
                const engine::LogitsSink& sink) {
  blocks::Execution execution(setting.isa, setting.threads);
  engine::Engine engine(model, execution);
  engine::Sequence sequence(engine.pages());
  engine::read_prompt(engine, sequence, tokens, setting.chunk, engine::LogitsOf::all, sink, {});
  return {"", engine.passes(), execution.pool().tasks_by_worker()};
}

}  // namespace

RunEvidence run_logits(const engine::Model& model, const Setting& setting, const std::vector<std::int32_t>& tokens) {
  Sha256 hash;
  const std::size_t vocabulary = model.config().vocabulary_size;
  RunEvidence evidence =
      run(model, setting, tokens, [&](std::size_t, std::size_t, std::size_t rows, const float* logits) {
        hash.update(logits, rows * vocabulary * sizeof(float));
      });
  evidence.hash = hash.finish();
  return evidence;
}

std::vector<float> all_logits(const engine::Model& model, const Setting& setting,
                              const std::vector<std::int32_t>& tokens) {
  std::vector<float> values;
  const std::size_t vocabulary = model.config().vocabulary_size;
  run(model, setting, tokens, [&](std::size_t, std::size_t, std::size_t rows, const float* logits) {
    values.insert(values.end(), logits, logits + rows * vocabulary);
  });
  return values;
}

std::vector<cpu::Isa> supported_isas() {
  std::vector<cpu::Isa> isas;
  for (const cpu::Isa isa : cpu::all_isas()) {
    if (cpu::isa_supported(isa)) isas.push_back(isa);
  }
  return isas;
}

cpu::Isa best_isa() { return supported_isas().back(); }

}  // namespace lastbit::test
