# Functions and settings that every part of the build shares.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 99)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

find_program(CCACHE ccache)
if(CCACHE)
  # A precompiled header defeats ccache unless it is told that such headers may be trusted.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

if(XC_SANITIZE)
  add_compile_options(-fsanitize=${XC_SANITIZE} -fno-omit-frame-pointer -g1)
  add_link_options(-fsanitize=${XC_SANITIZE})
  if(XC_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
endif()

find_package(Threads REQUIRED)

set(XC_WARNINGS -Wall -Wextra -Wno-unused-parameter)

# Our C++ throws nothing and asks no type for its name.
function(xc_set_cxx_options target)
  target_compile_options(${target} PRIVATE ${XC_WARNINGS} $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
endfunction()

# xc_unity(TARGET [SOURCE...]): where XC_UNITY is on, TARGET's sources are compiled eight at a time. Those named stay alone: their
# names of file scope are also other files'. All others of a target have different ones.
function(xc_unity target)
  if(XC_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()

# xc_add_library(NAME source... [DEPENDS lib...]): a static library of the runtime or the tools; no LLVM.
function(xc_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  xc_set_cxx_options(${name})
  xc_unity(${name})
  target_link_libraries(${name} PUBLIC ${ARG_DEPENDS})
endfunction()

# xc_add_gtest(NAME source... [DEPENDS lib...] [ENVIRONMENT VAR=value...]): a GoogleTest program registered with CTest.
# GoogleTest's own headers want RTTI and exceptions off to match; both are supported by it. What a test does takes no time beside
# what it tests, so that its compiler need not optimise.
function(xc_add_gtest name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;ENVIRONMENT" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  xc_set_cxx_options(${name})
  xc_unity(${name})
  target_compile_options(${name} PRIVATE -O0)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gtest_main Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/bin)
  xc_add_gtest_run(${name} ${name} ENVIRONMENT ${ARG_ENVIRONMENT})
  set_property(GLOBAL APPEND PROPERTY XC_TEST_PROGRAMS ${name})
endfunction()

# xc_add_gtest_run(NAME PROGRAM argument... [ENVIRONMENT VAR=value...]): one more way to run a GoogleTest program, with a report
# of its own, build/<tree>/test-results/NAME.json, from which scripts/count-tests.py counts the cases.
function(xc_add_gtest_run name program)
  cmake_parse_arguments(ARG "" "" "ENVIRONMENT" ${ARGN})
  add_test(NAME ${name} COMMAND ${program} ${ARG_UNPARSED_ARGUMENTS})
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "GTEST_OUTPUT=json:${CMAKE_BINARY_DIR}/test-results/${name}.json;${ARG_ENVIRONMENT}")
endfunction()

# xc_add_fbs_header(TARGET schema.fbs): an interface library that generates and offers the C++ header of a schema.
function(xc_add_fbs_header target schema)
  find_program(FLATC flatc REQUIRED)
  get_filename_component(base ${schema} NAME_WE)
  set(out ${PROJECT_BINARY_DIR}/schemas/${base}_generated.h)
  set(script ${PROJECT_SOURCE_DIR}/cmake/CountFlatBufferParts.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${FLATC} --cpp --scoped-enums --cpp-std c++17 -o ${PROJECT_BINARY_DIR}/schemas ${CMAKE_CURRENT_SOURCE_DIR}/${schema}
    COMMAND ${CMAKE_COMMAND} -DHEADER=${out} -P ${script}
    DEPENDS ${schema} ${script} VERBATIM)
  add_custom_target(${target}-gen DEPENDS ${out})
  add_library(${target} INTERFACE)
  target_include_directories(${target} INTERFACE ${PROJECT_BINARY_DIR})
  add_dependencies(${target} ${target}-gen)
endfunction()
