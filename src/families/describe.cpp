#include "families/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/error.hpp"
#include "base/quoted_text.hpp"

namespace lastbit::families {
namespace {

constexpr std::size_t kProblemsShown = 20;

// Namespaces of GGUF keys that say nothing about the arithmetic: general.* describes the file, quantize.* says how it
// was made.
constexpr std::string_view kInertNamespaces[] = {"general.", "quantize."};

// Read before: the one chose the family, the other the places of the data.
constexpr std::string_view kConsumedKeys[] = {"general.architecture", "general.alignment"};

// Every key of this namespace is consumed or refused by text::load_tokenizer.
constexpr std::string_view kTokenizerNamespace = "tokenizer.";

bool starts_with(std::string_view text, std::string_view prefix) { return text.substr(0, prefix.size()) == prefix; }

class Describer {
 public:
  Describer(const formats::GgufFile& file, const DescribeOptions& options) : file_(file), options_(options) {}

  Description run() {
    find_architecture();
    resolve_keys();
    check_unknown_keys();
    refuse_if_problems();
    assemble();
    refuse_if_problems();
    bind_tensors();
    check_unknown_tensors();
    refuse_if_problems();
    check_allowances();
    return std::move(description_);
  }

 private:
  void problem(std::string text) { problems_.push_back(std::move(text)); }

  void refuse_if_problems() const {
    if (problems_.empty()) return;
    std::string message =
        fmt::format("{}: the checkpoint does not fit the family {} ({} problem{}):", file_.path(),
                    description_.family->architecture, problems_.size(), problems_.size() == 1 ? "" : "s");
    for (std::size_t i = 0; i < std::min(problems_.size(), kProblemsShown); ++i) message += "\n  " + problems_[i];
    if (problems_.size() > kProblemsShown)
      message += fmt::format("\n  ... and {} more", problems_.size() - kProblemsShown);
    throw_input(message);
  }

  void find_architecture() {
    const auto architecture = file_.string("general.architecture");
    if (!architecture) throw_input(fmt::format("{}: the key general.architecture is missing", file_.path()));
    description_.family = find_family(*architecture);
    if (description_.family != nullptr)
      decide("family", std::string(description_.family->title), "file: general.architecture");
    if (description_.family == nullptr) {
      throw_input(fmt::format("{}: general.architecture is {}, a family that this version does not know (known: {})",
                              file_.path(), quoted_text(*architecture), known_architectures()));
    }
  }

  std::string full_key(std::string_view key) const {
    return fmt::format("{}.{}", description_.family->architecture, key);
  }

  void decide(std::string name, std::string value, std::string source) {
    description_.decisions.push_back({std::move(name), std::move(value), std::move(source)});
  }

  bool resolve_from_file(const KeyDeclaration& declaration, const std::string& key) {
    const std::string name(declaration.key);
    switch (declaration.type) {
      case KeyType::integer:
        if (const auto value = file_.unsigned_integer(key)) {
          keys_.set(name, *value);
          decide(name, fmt::to_string(*value), "file: " + key);
          return true;
        }
        return false;
      case KeyType::number:
        if (const auto value = file_.number(key)) {
          keys_.set(name, *value);
          decide(name, fmt::format("{:.9g}", *value), "file: " + key);
          return true;
        }
        return false;
      case KeyType::text:
        if (const auto value = file_.string(key)) {
          keys_.set(name, std::string(*value));
          decide(name, std::string(*value), "file: " + key);
          return true;
        }
        return false;
    }
    return false;
  }

  void resolve_key(const KeyDeclaration& declaration) {
    const std::string key = full_key(declaration.key);
    try {
      if (resolve_from_file(declaration, key)) return;
    } catch (const Error& error) {
      problem(error.what());
      return;
    }
    if (declaration.when_absent == WhenAbsent::refuse) problem(fmt::format("the key {} is missing", key));
    if (declaration.when_absent != WhenAbsent::take_default) return;
    if (declaration.type == KeyType::integer) {
      keys_.set(declaration.key, static_cast<std::uint64_t>(declaration.default_value));
    } else {
      keys_.set(declaration.key, declaration.default_value);
    }
    decide(std::string(declaration.key), fmt::format("{:.9g}", declaration.default_value),
           fmt::format("family default: {}", declaration.default_source));
  }

  void resolve_keys() {
    for (const KeyDeclaration& declaration : description_.family->keys) resolve_key(declaration);
  }

  bool allowed(std::string_view name) {
    if (std::find(options_.allow_unknown.begin(), options_.allow_unknown.end(), name) == options_.allow_unknown.end())
      return false;
    description_.overlooked.emplace_back(name);
    return true;
  }

  void check_unknown_keys() {
    std::unordered_set<std::string> declared;
    for (const KeyDeclaration& declaration : description_.family->keys) declared.insert(full_key(declaration.key));
    for (const std::string_view key : file_.keys()) {
      if (declared.count(std::string(key)) != 0 || starts_with(key, kTokenizerNamespace)) continue;
      if (std::find(std::begin(kConsumedKeys), std::end(kConsumedKeys), key) != std::end(kConsumedKeys)) continue;
      const bool inert = std::any_of(std::begin(kInertNamespaces), std::end(kInertNamespaces),
                                     [&](std::string_view prefix) { return starts_with(key, prefix); });
      if (inert) {
        description_.inert_keys.emplace_back(key);
      } else if (!allowed(key)) {
        problem(fmt::format("the key {} is unknown to the family (--allow-unknown overlooks it)", quoted_text(key)));
      }
    }
  }

  /// Values that later code multiplies or allocates by are bounded before anything is built from them.
  void check_ranges() {
    for (const KeyDeclaration& declaration : description_.family->keys) {
      if (!keys_.has(declaration.key)) continue;
      if (declaration.type == KeyType::integer && keys_.integer(declaration.key) > kLargestDimension) {
        problem(fmt::format("{} is {}: more than {}", full_key(declaration.key), keys_.integer(declaration.key),
                            kLargestDimension));
      }
      if (declaration.type == KeyType::number && !std::isfinite(keys_.number(declaration.key))) {
        problem(fmt::format("{} is not finite", full_key(declaration.key)));
      }
    }
    if (keys_.integer("block_count") > kLargestLayerCount) {
      problem(fmt::format("{} is {}: more than {}", full_key("block_count"), keys_.integer("block_count"),
                          kLargestLayerCount));
    }
  }

  void assemble() {
    check_ranges();
    refuse_if_problems();
    AssemblyNotes notes;
    description_.config = description_.family->assemble(keys_, notes);
    check_config(notes);
    for (std::string& text : notes.problems) problem(std::move(text));
    for (Decision& decision : notes.decisions) description_.decisions.push_back(std::move(decision));
  }

  void check_config(AssemblyNotes& notes) const {
    const blocks::DecoderConfig& config = description_.config;
    const std::pair<const char*, std::size_t> sizes[] = {{"context length", config.context_length},
                                                         {"hidden size", config.hidden_size},
                                                         {"intermediate size", config.intermediate_size},
                                                         {"number of query heads", config.query_heads},
                                                         {"number of key-value heads", config.key_value_heads},
                                                         {"head size", config.head_dim},
                                                         {"number of layers", config.layers.size()}};
    for (const auto& [name, size] : sizes) {
      if (size == 0) notes.problems.push_back(fmt::format("the {} is 0", name));
    }
    if (config.key_value_heads != 0 && config.query_heads % config.key_value_heads != 0) {
      notes.problems.push_back(
          fmt::format("{} query heads cannot share {} key-value heads", config.query_heads, config.key_value_heads));
    }
    if (!(config.norm_epsilon > 0.0F) || !std::isfinite(config.norm_epsilon)) {
      notes.problems.push_back(
          fmt::format("the norm epsilon is {}: it must be positive and finite", config.norm_epsilon));
    }
  }

  std::uint64_t symbol(std::string_view name) const {
    const blocks::DecoderConfig& config = description_.config;
    if (name == "hidden") return config.hidden_size;
    if (name == "intermediate") return config.intermediate_size;
    if (name == "query") return config.query_size();
    if (name == "key_value") return config.key_value_size();
    if (name == "head_dim") return config.head_dim;
    if (name == "vocabulary") return config.vocabulary_size;
    throw std::logic_error(fmt::format("family declaration: the symbol {} is unknown", name));
  }

  /// The vocabulary size is what the token embedding's rows say; a vocab_size key and the tokenizer must agree.
  void bind_vocabulary() {
    const formats::TensorView* embedding = file_.tensors().find("token_embd.weight");
    if (embedding == nullptr || embedding->shape.size() != 2) return;  // reported as missing or misshapen
    description_.config.vocabulary_size = embedding->shape[0];
    decide("vocabulary size", fmt::to_string(embedding->shape[0]), "file: shape of token_embd.weight");
    const std::vector<std::string_view>* pieces = file_.string_array("tokenizer.ggml.tokens");
    if (pieces != nullptr && pieces->size() != embedding->shape[0]) {
      problem(fmt::format("token_embd.weight has {} rows, but tokenizer.ggml.tokens has {} pieces", embedding->shape[0],
                          pieces->size()));
    }
    if (keys_.has("vocab_size") && keys_.integer("vocab_size") != embedding->shape[0]) {
      problem(fmt::format("token_embd.weight has {} rows, but {} is {}", embedding->shape[0], full_key("vocab_size"),
                          keys_.integer("vocab_size")));
    }
  }

  void bind_tensor(const TensorDeclaration& declaration, const std::string& name, std::size_t layer) {
    const formats::TensorView* tensor = file_.tensors().find(name);
    std::vector<std::uint64_t> shape{symbol(declaration.rows)};
    if (!declaration.columns.empty()) shape.push_back(symbol(declaration.columns));
    if (tensor == nullptr) {
      if (!declaration.optional) problem(fmt::format("the tensor {} {} is missing", name, formats::shape_text(shape)));
      return;
    }
    bound_.insert(name);
    if (tensor->shape != shape) {
      problem(fmt::format("the tensor {} has shape {}, the family needs {} (at byte {})", name,
                          formats::shape_text(tensor->shape), formats::shape_text(shape), tensor->file_offset));
      return;
    }
    description_.tensors.push_back({&declaration, tensor, layer});
  }

  void bind_tensors() {
    bind_vocabulary();
    for (const TensorDeclaration& declaration : description_.family->tensors) {
      const std::string_view placeholder = "{layer}";
      const std::size_t position = declaration.name.find(placeholder);
      if (position == std::string_view::npos) {
        bind_tensor(declaration, std::string(declaration.name), 0);
        continue;
      }
      for (std::size_t layer = 0; layer < description_.config.layers.size(); ++layer) {
        std::string name(declaration.name);
        bind_tensor(declaration, name.replace(position, placeholder.size(), fmt::to_string(layer)), layer);
      }
    }
    description_.tied_output = file_.tensors().find("output.weight") == nullptr;
    decide("output head", description_.tied_output ? "tied to the token embedding" : "output.weight",
           description_.tied_output ? "file: output.weight is absent" : "file: output.weight");
  }

  void check_unknown_tensors() {
    for (const formats::TensorView& tensor : file_.tensors().all()) {
      if (bound_.count(tensor.name) != 0 || allowed(tensor.name)) continue;
      problem(fmt::format("the tensor {} {} is unknown to the family (at byte {}; --allow-unknown overlooks it)",
                          quoted_text(tensor.name), formats::shape_text(tensor.shape), tensor.file_offset));
    }
  }

  /// A name that overlooks nothing is a typing mistake.
  void check_allowances() const {
    for (const std::string& name : options_.allow_unknown) {
      const auto& used = description_.overlooked;
      if (starts_with(name, kTokenizerNamespace) || std::find(used.begin(), used.end(), name) != used.end()) continue;
      throw_usage(fmt::format("--allow-unknown {}: {} has no unknown key or tensor of that name", quoted_text(name),
                              file_.path()));
    }
  }

  const formats::GgufFile& file_;
  const DescribeOptions& options_;
  Description description_;
  ResolvedKeys keys_;
  std::unordered_set<std::string> bound_;
  std::vector<std::string> problems_;
};

}  // namespace

Description describe(const formats::GgufFile& file, const DescribeOptions& options) {
  return Describer(file, options).run();
}

}  // namespace lastbit::families
