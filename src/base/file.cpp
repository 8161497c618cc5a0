#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace lastbit {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }

 private:
  int value_;
};

std::string system_message() { return std::strerror(errno); }

/// A pattern for mkostemp in the folder of the path. Not the path's own name with an ending: it may be as long as names
/// can be.
std::string temporary_pattern(const std::string& path) {
  return (std::filesystem::path(path).parent_path() / ".lastbit-XXXXXX").string();
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe must not keep us waiting
  if (file.value() < 0) throw_input(fmt::format("{}: cannot open: {}", path, system_message()));
  struct stat status {};
  if (::fstat(file.value(), &status) != 0)
    throw_input(fmt::format("{}: cannot read its size: {}", path, system_message()));
  if (!S_ISREG(status.st_mode)) throw_input(fmt::format("{}: is not a regular file", path));
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* mapping = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (mapping == MAP_FAILED)
    throw_environment(fmt::format("{}: cannot map {} bytes: {}", path, size_, system_message()));
  data_ = static_cast<const std::byte*>(mapping);
}

MappedFile::~MappedFile() { release(); }

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    release();
    path_ = std::move(other.path_);
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

void MappedFile::release() noexcept {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  data_ = nullptr;
}

std::string read_file(const std::string& path, std::uint64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) throw_input(fmt::format("{}: cannot open: {}", path, system_message()));
  std::string content;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::read(file.value(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_input(fmt::format("{}: cannot read: {}", path, system_message()));
    if (count == 0) return content;
    if (content.size() + static_cast<std::size_t>(count) > limit) {
      throw_input(fmt::format("{}: is longer than the limit of {} bytes", path, limit));
    }
    content.append(buffer, static_cast<std::size_t>(count));
  }
}

AtomicFileWriter::AtomicFileWriter(const std::string& path) : path_(path) {
  std::error_code missing;
  if (const auto target = std::filesystem::canonical(path, missing); !missing) path_ = target.string();
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw_environment(fmt::format("{}: exists and is not a regular file", path));
  }
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  descriptor_ = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor_ >= 0) return;
  temporary_path_ = temporary_pattern(path_);
  descriptor_ = ::mkostemp(temporary_path_.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw_environment(fmt::format("{}: cannot create: {}", path, system_message()));
}

AtomicFileWriter::~AtomicFileWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_path_.empty()) ::unlink(temporary_path_.c_str());
}

void AtomicFileWriter::write(const void* data, std::size_t size) {
  const char* position = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::write(descriptor_, position, size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_environment(fmt::format("{}: cannot write: {}", path_, system_message()));
    position += count;
    size -= static_cast<std::size_t>(count);
  }
}

/// Gives the nameless file a name beside its destination: linking cannot replace a file, renaming can.
void AtomicFileWriter::name_temporary() {
  const std::string open_file = fmt::format("/proc/self/fd/{}", descriptor_);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string candidate = temporary_pattern(path_);
    const int reserved = ::mkostemp(candidate.data(), O_CLOEXEC);  // a name that is free; linking needs it gone again
    if (reserved < 0) break;
    ::close(reserved);
    ::unlink(candidate.c_str());
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, candidate.c_str(), AT_SYMLINK_FOLLOW) == 0) {
      temporary_path_ = candidate;
      return;
    }
    if (errno != EEXIST) break;
  }
  throw_environment(fmt::format("{}: cannot create: {}", path_, system_message()));
}

void AtomicFileWriter::commit() {
  struct stat existing {};
  const mode_t mask = ::umask(0);
  ::umask(mask);
  // The temporary file is private while it is written; the result gets the permissions it had, or the usual ones.
  ::fchmod(descriptor_, ::stat(path_.c_str(), &existing) == 0 ? existing.st_mode & 07777 : 0666 & ~mask);
  if (::fsync(descriptor_) != 0) throw_environment(fmt::format("{}: cannot flush: {}", path_, system_message()));
  if (temporary_path_.empty()) name_temporary();
  if (::rename(temporary_path_.c_str(), path_.c_str()) != 0) {
    throw_environment(fmt::format("{}: cannot rename into place: {}", path_, system_message()));
  }
  temporary_path_.clear();
  ::close(std::exchange(descriptor_, -1));
}

}  // namespace lastbit
