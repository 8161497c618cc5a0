// What a command file provides. Each src/cli/<name>.cpp defines `void add_<name>_command(CLI::App&, CommandRun&)` and
// has one line in commands.def.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace lastbit::cli {

/// What to do once the command line is parsed; returns the exit code. Errors are thrown (base/error.hpp).
using CommandRun = std::function<int()>;

// Each function adds its subcommand to the application; the subcommand's callback sets `run`:
//   CLI::App* command = application.add_subcommand("tokenize", "...");
//   auto options = std::make_shared<Options>();  ... command->add_option(...) ...
//   command->callback([options, &run] { run = [options] { return tokenize(*options); }; });
#define LASTBIT_COMMAND(name) void add_##name##_command(CLI::App& application, CommandRun& run);
#define LASTBIT_LATER_COMMAND(name, purpose)
#include "cli/commands.def"
#undef LASTBIT_COMMAND
#undef LASTBIT_LATER_COMMAND

/// Registers flags that belong to a later version, so that they are refused by name (exit code 2) instead of as
/// unknown.
void add_later_flags(CLI::App& command, std::initializer_list<const char*> flags);

}  // namespace lastbit::cli
