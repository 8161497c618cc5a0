# Flags of every target. Those of the first group are part of the arithmetic (docs/arithmetic.md): with contraction or
# value-changing optimisations a compiler could give other bits than the contract.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_compile_options(-ffp-contract=off -fno-fast-math)

# The baseline runs on any x86-64 processor since about 2009; faster versions are chosen at start-up (src/cpu/isa.def).
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2 -mtune=generic)
endif()

set(CMAKE_CXX_FLAGS_RELEASE "-O3 -g1")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wcast-align -Wno-psabi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # false alarms on std::string operator+ at -O3 (GCC bug 105651)
endif()
if(LASTBIT_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()

if(LASTBIT_SANITIZE)
  add_compile_options(-fsanitize=${LASTBIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${LASTBIT_SANITIZE})
endif()
