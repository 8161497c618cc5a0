// The two ways out of the program: results on stdout, where a failed write is an error, and messages on stderr, where
// it is not.
#pragma once

#include <string_view>

namespace lastbit::cli {

/// Makes sure that the descriptors 0 to 2 are taken, so that no file of ours is opened as one of them. A stream that
/// the caller closed stays unusable: reading or writing it fails.
void reserve_standard_streams();

/// Writes to stdout; ErrorKind::environment when it cannot. `flush`: now, as for streamed text.
void write_result(std::string_view text, bool flush = false);

/// What was written must have left the process: ErrorKind::environment otherwise. Once, at the end of every command.
void flush_results();

/// Writes to stderr and never fails: there is nobody left to tell.
void write_message(std::string_view text);

}  // namespace lastbit::cli
