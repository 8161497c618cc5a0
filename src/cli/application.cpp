#include "cli/application.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <new>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/floating_point_state.hpp"
#include "base/quoted_text.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "lastbit/version.hpp"

namespace lastbit::cli {
namespace {

constexpr int kExitUsage = 2;
constexpr int kExitInput = 3;
constexpr int kExitEnvironment = 4;

struct LaterCommand {
  const char* name;
  const char* purpose;
};

constexpr LaterCommand kLaterCommands[] = {
#define LASTBIT_COMMAND(name)
#define LASTBIT_LATER_COMMAND(name, purpose) {#name, purpose},
#include "cli/commands.def"
#undef LASTBIT_COMMAND
#undef LASTBIT_LATER_COMMAND
};

constexpr const char* kCommands[] = {
#define LASTBIT_COMMAND(name) #name,
#define LASTBIT_LATER_COMMAND(name, purpose)
#include "cli/commands.def"
#undef LASTBIT_COMMAND
#undef LASTBIT_LATER_COMMAND
};

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return kExitUsage;
    case ErrorKind::input:
      return kExitInput;
    case ErrorKind::environment:
      return kExitEnvironment;
  }
  return kExitEnvironment;
}

constexpr const char* kFooter =
    "Environment: LASTBIT_ISA=scalar|avx2|avx512 forces an instruction set, LASTBIT_PRECISION the precision policy.\n"
    "Exit codes: 0 done, 2 wrong usage, 3 input refused, 4 environment failed, 130 interrupted.";

std::string later_commands() {
  std::string text = "Commands of later versions:";
  for (const LaterCommand& command : kLaterCommands) text += fmt::format(" {}", command.name);
  return text;
}

void refuse_unknown_command(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') return;
  const std::string_view name = argv[1];
  for (const LaterCommand& command : kLaterCommands) {
    if (name == command.name)
      throw_usage(fmt::format("the command {} ({}) comes in a later version", command.name, command.purpose));
  }
  std::string known;
  for (const char* command : kCommands) {
    if (name == command) return;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", command);
  }
  throw_usage(fmt::format("the command {} is unknown (known: {}; lastbit --help)", quoted_text(name), known));
}

void add_commands(CLI::App& application, CommandRun& run) {
#define LASTBIT_COMMAND(name) add_##name##_command(application, run);
#define LASTBIT_LATER_COMMAND(name, purpose)
#include "cli/commands.def"
#undef LASTBIT_COMMAND
#undef LASTBIT_LATER_COMMAND
}

int parse_and_run(int argc, char** argv) {
  refuse_unknown_command(argc, argv);
  CLI::App application{"lastbit: the answer is a function of the checkpoint and the request, to the last bit",
                       "lastbit"};
  application.set_version_flag("--version", fmt::format("lastbit {} (arithmetic {})", kVersion, kArithmeticVersion));
  application.require_subcommand(1);
  application.footer(kFooter);  // subcommands inherit it
  CommandRun run;
  add_commands(application, run);
  application.footer(fmt::format("{}\n\n{}", later_commands(), kFooter));
  try {
    application.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream results;
    std::ostringstream messages;
    const int code = application.exit(error, results, messages);
    write_message(messages.str());
    write_result(results.str());
    flush_results();
    return code == 0 ? 0 : kExitUsage;
  }
  const int code = run();
  flush_results();
  return code;
}

}  // namespace

void add_later_flags(CLI::App& command, std::initializer_list<const char*> flags) {
  for (const char* flag : flags) {
    const std::string name = flag;
    CLI::Option* option = command.add_option_function<std::vector<std::string>>(
        name,
        [name](const std::vector<std::string>&) { throw_usage(fmt::format("{} comes in a later version", name)); });
    option->expected(0, -1)->group("");
  }
}

int run_application(int argc, char** argv) {
  const FloatingPointScope floating_point;
  reserve_standard_streams();
  try {
    return parse_and_run(argc, argv);
  } catch (const Error& error) {
    write_message(fmt::format("lastbit: {}\n", error.what()));
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    write_message("lastbit: out of memory\n");
    return kExitEnvironment;
  } catch (const std::exception& error) {
    write_message(fmt::format("lastbit: internal error: {}\n", error.what()));
    return kExitEnvironment;
  }
}

}  // namespace lastbit::cli
