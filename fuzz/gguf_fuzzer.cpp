// Fuzzes the GGUF reader and, where a file gets that far, the tokenizer that its keys declare. The one allowed outcome
// besides success is lastbit::Error of kind input: anything else (a crash, another exception, a hang, memory on the
// word of a header) is a finding.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.hpp"
#include "formats/gguf/gguf.hpp"
#include "tests/support/gguf_exercise.hpp"
#include "text/tokenizer.hpp"

namespace {

void use_tokenizer(const lastbit::formats::GgufFile& file) {
  const auto tokenizer = lastbit::text::load_tokenizer(file);
  // Words, doubled spaces, a code point that most vocabularies lack, a control token's text, and a byte that is no
  // UTF-8.
  const std::string_view text = "The  decimal system \xF0\x9F\xA7\xAE<bos>\xFF\n";
  for (const bool parse_special : {false, true}) {
    const auto ids = tokenizer->encode(text, {.add_special = true, .parse_special = parse_special});
    (void)tokenizer->decode(ids, parse_special);
    const auto decoder = tokenizer->streaming_decoder(parse_special);
    for (const auto id : ids) (void)decoder->push(id);
    (void)decoder->finish();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  try {
    const lastbit::formats::GgufFile file("input.gguf", std::vector<std::byte>(bytes, bytes + size));
    (void)lastbit::test::exercise_gguf(file);
    use_tokenizer(file);
  } catch (const lastbit::Error& error) {
    if (error.kind() != lastbit::ErrorKind::input) std::abort();
  }
  return 0;
}
