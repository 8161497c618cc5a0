// Files, checked sizes, the floating-point state and the thread pool.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <stdexcept>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/floating_point_state.hpp"
#include "base/quoted_text.hpp"
#include "base/sha256.hpp"
#include "base/thread_pool.hpp"
#include "tests/support/data.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace lastbit {
namespace {

constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(CheckedArithmetic, GivesNothingOnOverflow) {
  EXPECT_EQ(checked_add(kLargest - 1, 1), kLargest);
  EXPECT_EQ(checked_add(kLargest, 1), std::nullopt);
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 31), std::uint64_t{1} << 63);
  EXPECT_EQ(checked_multiply(std::uint64_t{1} << 32, std::uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_align_up(33, 32), 64U);
  EXPECT_EQ(checked_align_up(kLargest, 32), std::nullopt);
}

TEST(Sha256, OfAKnownText) {
  Sha256 hash;
  hash.update("a", 1);
  hash.update("bc", 2);
  EXPECT_EQ(hash.finish(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(AtomicFileWriter, LeavesTheOldFileUntilCommitAndNoTemporaryFileAfterwards) {
  const std::string folder = test::temporary_path("writer");
  std::filesystem::create_directory(folder);
  const std::string path = folder + "/result";
  {
    AtomicFileWriter writer(path);
    writer.write("old", 3);
    writer.commit();
  }
  {
    AtomicFileWriter writer(path);
    writer.write("half of the new con", 19);
    EXPECT_EQ(read_file(path, 100), "old");
  }  // never committed
  EXPECT_EQ(read_file(path, 100), "old");
  const auto entries =
      std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  EXPECT_EQ(entries, 1);
}

TEST(AtomicFileWriter, ReplacesTheTargetOfALinkAndKeepsItsPermissions) {
  const std::string folder = test::temporary_path("link");
  std::filesystem::create_directory(folder);
  const std::string target = folder + "/target";
  {
    AtomicFileWriter writer(target);
    writer.write("old", 3);
    writer.commit();
  }
  std::filesystem::permissions(target, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("target", folder + "/link");
  AtomicFileWriter writer(folder + "/link");
  writer.write("new", 3);
  writer.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "/link"));
  EXPECT_EQ(read_file(target, 100), "new");
  EXPECT_EQ(std::filesystem::status(target).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(AtomicFileWriter, RefusesAFolderThatIsMissing) {
  try {
    AtomicFileWriter writer(test::temporary_path("missing/result"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::environment);
  }
}

TEST(ReadFile, RefusesMoreThanTheLimitAndAMissingFile) {
  const std::string path = test::temporary_path("long");
  AtomicFileWriter writer(path);
  writer.write("0123456789", 10);
  writer.commit();
  EXPECT_EQ(read_file(path, 10), "0123456789");
  EXPECT_THROW(read_file(path, 9), Error);
  EXPECT_THROW(read_file(path + ".missing", 9), Error);
}

TEST(MappedFile, RefusesAFolderAndAMissingFileAndTakesAnEmptyOne) {
  EXPECT_THROW(MappedFile(std::filesystem::temp_directory_path().string()), Error);
  EXPECT_THROW(MappedFile("/nonexistent/file"), Error);
  const std::string path = test::temporary_path("empty");
  AtomicFileWriter(path).commit();
  EXPECT_TRUE(MappedFile(path).bytes().empty());
}

#if defined(__x86_64__)
constexpr unsigned kFlushToZero = 0x8000;
constexpr unsigned kDenormalsAreZero = 0x0040;

TEST(FloatingPointScope, ClearsFlushAndDirectedRoundingAndRestoresThem) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlushToZero | kDenormalsAreZero);
  std::fesetround(FE_UPWARD);
  const std::uint64_t hostile = floating_point_control();
  {
    const FloatingPointScope scope;
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_EQ(floating_point_control() & (kFlushToZero | kDenormalsAreZero), 0U);
    volatile float subnormal = 3e-39F;
    EXPECT_NE(subnormal * 1.0F, 0.0F);
  }
  EXPECT_EQ(floating_point_control(), hostile);
  std::fesetround(FE_TONEAREST);
  _mm_setcsr(before);
}

TEST(ThreadPool, WorkersComputeWithoutFlushWhateverTheCreatorHad) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | kFlushToZero | kDenormalsAreZero);
  {
    ThreadPool pool(3);  // threads inherit the creator's flush state
    std::atomic<int> flushed{0};
    pool.run(300, [&](std::size_t, int) {
      volatile float subnormal = 3e-39F;
      if (subnormal * 1.0F == 0.0F) ++flushed;
    });
    EXPECT_EQ(flushed.load(), 0);
  }
  EXPECT_NE(_mm_getcsr() & kFlushToZero, 0U);
  _mm_setcsr(before);
}
#endif

TEST(ThreadPool, RunsEachIndexOnceWithWorkersThatNeverOverlap) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> calls(count);
      std::vector<std::atomic<int>> inside(static_cast<std::size_t>(threads));
      std::atomic<bool> overlapped{false};
      pool.run(count, [&](std::size_t index, int worker) {
        if (inside[static_cast<std::size_t>(worker)].fetch_add(1) != 0) overlapped = true;
        ++calls[index];
        inside[static_cast<std::size_t>(worker)].fetch_sub(1);
      });
      EXPECT_FALSE(overlapped.load());
      for (const auto& call : calls) EXPECT_EQ(call.load(), 1);
    }
  }
}

TEST(ThreadPool, RethrowsATasksExceptionAndGoesOnWorking) {
  ThreadPool pool(3);
  EXPECT_THROW(pool.run(100,
                        [](std::size_t index, int) {
                          if (index == 42) throw std::runtime_error("task 42");
                        }),
               std::runtime_error);
  std::atomic<int> done{0};
  pool.run(100, [&](std::size_t, int) { ++done; });
  EXPECT_EQ(done.load(), 100);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers need all of the address space
TEST(ThreadPool, SaysWhichThreadCannotBeStartedAndEndsTheOthers) {
  EXPECT_EXIT(
      {
        // A new thread needs address space for its stack (8 MiB): soon none is left.
        rlimit limit{};
        limit.rlim_cur = limit.rlim_max = rlim_t{400} << 20;
        ::setrlimit(RLIMIT_AS, &limit);
        try {
          ThreadPool pool(1000);
        } catch (const Error& error) {
          std::fputs(error.what(), stderr);
          ::_exit(error.kind() == ErrorKind::environment ? 0 : 1);
        }
        ::_exit(2);
      },
      ::testing::ExitedWithCode(0), "cannot start thread [0-9]+ of 1000");
}
#endif

TEST(QuotedText, EscapesWhatCouldReachATerminalAndCutsWhatIsLong) {
  EXPECT_EQ(quoted_text("a\x1b[2Jb"), "'a\\x1b[2Jb'");
  EXPECT_EQ(quoted_text(std::string(100, 'x')), "'" + std::string(96, 'x') + "...' (100 bytes)");
  EXPECT_EQ(printable("\xE2\x96\x81gr\xC3\xBC\xC3\x9F\n\x7f\xC2\x9B"),
            "\xE2\x96\x81gr\xC3\xBC\xC3\x9F\\x0a\\x7f\xC2\\x9b");
  EXPECT_EQ(printable("\x9B"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("abcdef", 3), "abc... (6 bytes)");
}

TEST(ThreadPool, WakesThreadsThatWentToSleep) {
  ThreadPool pool(2);
  std::atomic<int> done{0};
  for (int round = 0; round < 20; ++round) {
    ::usleep(2000);  // longer than the workers spin
    pool.run(2, [&](std::size_t, int) { ++done; });
  }
  EXPECT_EQ(done.load(), 40);
}

}  // namespace
}  // namespace lastbit
