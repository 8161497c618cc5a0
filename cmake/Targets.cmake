# The instruction sets come from the one list, src/cpu/isa.def: LASTBIT_VECTOR_ISA(name, "features", "compiler flags").
file(STRINGS "${CMAKE_SOURCE_DIR}/src/cpu/isa.def" isa_lines REGEX "^LASTBIT_VECTOR_ISA\\(")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/cpu/isa.def")
set(LASTBIT_VECTOR_ISAS "")
foreach(line IN LISTS isa_lines)
  string(REGEX MATCH "^LASTBIT_VECTOR_ISA\\(([a-z0-9_]+), \"[^\"]*\", \"([^\"]*)\"\\)" matched "${line}")
  if(NOT matched)
    message(FATAL_ERROR "src/cpu/isa.def: cannot read the line: ${line}")
  endif()
  list(APPEND LASTBIT_VECTOR_ISAS "${CMAKE_MATCH_1}")
  string(REPLACE " " ";" LASTBIT_FLAGS_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
endforeach()

# lastbit_library(<folder> SOURCES ... [DEPENDS ...] [PRIVATE_DEPENDS ...]): the static library of one folder of src/.
function(lastbit_library folder)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS" ${ARGN})
  add_library(lastbit_${folder} STATIC ${arg_SOURCES})
  target_include_directories(lastbit_${folder} PUBLIC "${CMAKE_SOURCE_DIR}/src" "${CMAKE_SOURCE_DIR}/include")
  target_link_libraries(lastbit_${folder} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
endfunction()

# lastbit_vectorized_sources(<target> <file>...): compiles each file once per instruction set of isa.def, with that set's
# flags and LASTBIT_VECTOR_NAMESPACE / LASTBIT_VECTOR_HEADER naming its namespace and its vector wrapper; and once more per
# set against the emulated twin of the wrapper, without flags, into <target>_emulated, which only tests link.
function(lastbit_vectorized_sources target)
  add_library(${target}_emulated STATIC)
  target_link_libraries(${target}_emulated PUBLIC ${target})
  foreach(isa IN LISTS LASTBIT_VECTOR_ISAS)
    add_library(${target}_${isa} OBJECT ${ARGN})
    target_include_directories(${target}_${isa} PRIVATE "${CMAKE_SOURCE_DIR}/src")
    target_compile_options(${target}_${isa} PRIVATE ${LASTBIT_FLAGS_${isa}})
    target_compile_definitions(${target}_${isa} PRIVATE
      LASTBIT_VECTOR_NAMESPACE=${isa} "LASTBIT_VECTOR_HEADER=\"cpu/vector_${isa}.hpp\"")
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_${isa}>)

    add_library(${target}_emulated_${isa} OBJECT ${ARGN})
    target_include_directories(${target}_emulated_${isa} PRIVATE "${CMAKE_SOURCE_DIR}/src")
    target_compile_definitions(${target}_emulated_${isa} PRIVATE
      LASTBIT_VECTOR_NAMESPACE=emulated_${isa} "LASTBIT_VECTOR_HEADER=\"cpu/vector_emulated.hpp\""
      LASTBIT_EMULATED_ISA_${isa}=1)
    target_sources(${target}_emulated PRIVATE $<TARGET_OBJECTS:${target}_emulated_${isa}>)
  endforeach()
endfunction()

# lastbit_test(<name> SOURCES ... [DEPENDS ...] [LABELS ...] [TIMEOUT s]): one GoogleTest program, one CTest entry.
# Labels: unit, parser (these two also run under sanitizers), kernel, golden, matrix, end_to_end, real (needs `make models`).
function(lastbit_test name)
  if(NOT LASTBIT_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} lastbit_test_support GTest::gtest)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1 WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()
