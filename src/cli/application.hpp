// The command line: parses, runs one command, turns errors into messages and exit codes.
#pragma once

namespace lastbit::cli {

/// Exit codes: 0 done, 2 wrong usage, 3 the input was refused, 4 the environment failed, 130 interrupted.
int run_application(int argc, char** argv);

}  // namespace lastbit::cli
