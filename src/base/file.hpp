// Files: a read-only mapping for checkpoints, whole small files, and a writer that leaves either the old or the new
// file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lastbit {

/// A file mapped read-only. Refuses (ErrorKind::input) a missing file, a folder and anything that is not a regular
/// file.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  const std::string& path() const { return path_; }

 private:
  void release() noexcept;
  std::string path_;
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The content of a regular file or of a pipe, at most `limit` bytes (more is ErrorKind::input).
std::string read_file(const std::string& path, std::uint64_t limit);

/// Writes a file so that a reader sees the old content or the whole new one: a temporary file in the same folder,
/// fsync, rename. Where the file system can do it (O_TMPFILE) the temporary file has no name until commit(), so that
/// nothing is left behind however the process ends; elsewhere the destructor removes it unless commit() succeeded. An
/// existing file keeps its permissions, a symbolic link stays one and its target is replaced. Errors are
/// ErrorKind::environment.
class AtomicFileWriter {
 public:
  explicit AtomicFileWriter(const std::string& path);
  ~AtomicFileWriter();
  AtomicFileWriter(const AtomicFileWriter&) = delete;
  AtomicFileWriter& operator=(const AtomicFileWriter&) = delete;

  void write(const void* data, std::size_t size);
  void commit();

 private:
  void name_temporary();

  std::string path_;            // links followed
  std::string temporary_path_;  // empty: the temporary file has no name
  int descriptor_ = -1;
};

}  // namespace lastbit
