#include "cli/application.hpp"

int main(int argc, char** argv) { return lastbit::cli::run_application(argc, argv); }
