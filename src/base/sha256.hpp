// SHA-256 of a stream of bytes (OpenSSL), as lower-case hexadecimal digits.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace lastbit {

class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(const void* data, std::size_t size);
  /// The 64 digits; the object takes no more data afterwards.
  std::string finish();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

}  // namespace lastbit
