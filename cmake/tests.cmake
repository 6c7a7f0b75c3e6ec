# Unit tests, benchmarks and fuzzers, and the list of everything that `make test` runs.
#
# All suites are registered in the release build, also those that use the sanitizer build beside it
# (preset "fuzz": address, undefined behaviour, libFuzzer): one ctest run shows everything. A suite is one
# entry; its runner prints what failed and a closing line.
enable_testing()
find_package(GTest REQUIRED)

file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS tests/unit/*_test.cc)
if(unit_sources)
  # Built by name, but for the build with sanitizers, which is the one that `make test` runs.
  add_executable(debrief_unit EXCLUDE_FROM_ALL ${unit_sources})
  if(DEBRIEF_SANITIZE)
    set_target_properties(debrief_unit PROPERTIES EXCLUDE_FROM_ALL FALSE)
    target_compile_options(debrief_unit PRIVATE ${unoptimised_beside_sanitizers})
  endif()
  target_link_libraries(debrief_unit PRIVATE debrief_core debrief_recorder GTest::gtest GTest::gtest_main)
  target_include_directories(debrief_unit PRIVATE tests)
endif()

file(GLOB importer_sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/src/inputs src/inputs/*/importer.cc)
list(TRANSFORM importer_sources REPLACE "/.*" "" OUTPUT_VARIABLE importers)
list(REMOVE_DUPLICATES importers)

if(DEBRIEF_FUZZ)
  # One program for all importers, for the reader of recordings alone and for what else reads bytes of strangers; another records the seeds of that reader.
  add_executable(debrief_fuzz tests/fuzz/fuzzer.cc tests/fuzz/importer_fuzzer.cc tests/fuzz/recording_reader_fuzzer.cc tests/fuzz/other_fuzzers.cc tests/fuzz/redact_fuzzer.cc)
  target_link_libraries(debrief_fuzz PRIVATE debrief_core)
  target_link_options(debrief_fuzz PRIVATE -fsanitize=fuzzer)
  add_executable(seeds_recording_reader tests/fuzz/recording_reader_seeds.cc tests/recorder/content.cc)
  target_include_directories(seeds_recording_reader PRIVATE src)
  target_link_libraries(seeds_recording_reader PRIVATE debrief_flags debrief_op_trace debrief_recorder Threads::Threads)
endif()

# What follows is about running, and that is done from builds without sanitizers.
if(DEBRIEF_SANITIZE)
  return()
endif()

# bench/<name>_bench.cc is a program of its own: each is measured as a process of its own.
add_custom_target(debrief_benches)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
file(CREATE_LINK ${duckdb_library} ${CMAKE_BINARY_DIR}/bench/libduckdb.so SYMBOLIC)
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*_bench.cc)
foreach(source ${bench_sources})
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE debrief_core debrief_recorder)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(debrief_benches ${name})
endforeach()
if(TARGET debrief_python)
  add_dependencies(debrief_benches debrief_python)
endif()

set(DEBRIEF_SANITIZED_DIR ${CMAKE_SOURCE_DIR}/build/fuzz CACHE PATH "the build with sanitizers and fuzzers")
set(sanitizer_options
    "ASAN_OPTIONS=external_symbolizer_path=/usr/lib/llvm-19/bin/llvm-symbolizer"
    "UBSAN_OPTIONS=print_stacktrace=1")

# add_suite(NAME LABEL COMMAND...): dearest first, so that two workers end at the same time; the order
# among equals is that of registration.
function(add_suite name label cost)
  add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS ${label} COST ${cost} SKIP_RETURN_CODE 77
                       ENVIRONMENT "${sanitizer_options}")
endfunction()

# Quick ones first: a broken rule should show within seconds.
foreach(check layers sizes docs tables printing)
  add_suite(check.${check} check 1000 ${Python3_EXECUTABLE} tools/check_${check}.py)
  add_suite(check.${check}.self check 1000 ${Python3_EXECUTABLE} tools/check_${check}.py --self-test)
endforeach()
add_suite(check.registry check 1000 ${Python3_EXECUTABLE} tools/check_registry.py $<TARGET_FILE:debrief>)

if(unit_sources)
  # With sanitizers only: without them the same tests would say the same, and cost as much again to build.
  add_suite(unit unit 900 ${DEBRIEF_SANITIZED_DIR}/debrief_unit --gtest_brief=1)
endif()

# Each case once, its inputs cut into pieces of 1, 7 and 100 bytes as well.
add_suite(golden golden 400 ${Python3_EXECUTABLE} tests/golden/run.py --binary $<TARGET_FILE:debrief>)
add_suite(golden.sanitized golden 850 ${Python3_EXECUTABLE} tests/golden/run.py
          --binary ${DEBRIEF_SANITIZED_DIR}/debrief)
add_suite(hostile hostile 600 ${Python3_EXECUTABLE} tests/hostile/run.py
          --binary ${DEBRIEF_SANITIZED_DIR}/debrief)

add_suite(hostile.compile hostile 700 ${Python3_EXECUTABLE} tests/hostile/compile_logs.py
          --binary ${DEBRIEF_SANITIZED_DIR}/debrief)

# Shards of jobs, joined, against one process that reads all.
add_suite(scale scale 550 ${Python3_EXECUTABLE} tests/scale/run.py --binary $<TARGET_FILE:debrief> --short)
# The same as tasks that a launcher starts; make test-cluster has real launchers.
add_suite(scale.tasks scale 210 ${Python3_EXECUTABLE} tests/scale/tasks.py --binary $<TARGET_FILE:debrief>)

add_suite(hostile.outputs hostile 500 ${Python3_EXECUTABLE} tests/hostile/outputs.py --binary $<TARGET_FILE:debrief>)

# Seeded and short; make attack is the long form.
add_suite(attack.mutations attack 650 ${Python3_EXECUTABLE} tests/attack/mutate.py --binary $<TARGET_FILE:debrief> --seconds 30 --runs 600)
add_suite(attack.serve attack 560 ${Python3_EXECUTABLE} tests/attack/serve.py --binary $<TARGET_FILE:debrief> --seconds 12)
add_suite(attack.faults attack 540 ${Python3_EXECUTABLE} tests/attack/faults.py --binary $<TARGET_FILE:debrief> --rounds 2)
add_suite(attack.same_bytes attack 530 ${Python3_EXECUTABLE} tests/attack/same_bytes.py --binary $<TARGET_FILE:debrief> --runs 4)

# Worst cases that grow, little memory, few threads; CPU time and not wall time is measured.
add_suite(attack.growth attack 650 ${Python3_EXECUTABLE} tests/attack/growth.py --binary $<TARGET_FILE:debrief>)
add_suite(attack.memory attack 300 ${Python3_EXECUTABLE} tests/attack/memory.py --binary $<TARGET_FILE:debrief>)

foreach(importer ${importers} recording_reader accel discovery archive sql findings mcp doctor redact)
  add_suite(fuzz.${importer} fuzz 100 tests/fuzz/run.sh 1 ${importer})
  set_tests_properties(fuzz.${importer} PROPERTIES TIMEOUT 120)
endforeach()

# It uses all cores, politely, so it starts first and fills what the others leave; what measures wall time runs alone.
add_suite(conformance conformance 950 ${Python3_EXECUTABLE} tests/conformance/run.py
          --binary $<TARGET_FILE:debrief> --time not)
add_suite(conformance.time conformance 10 ${Python3_EXECUTABLE} tests/conformance/run.py
          --binary $<TARGET_FILE:debrief> --time only)
set_tests_properties(conformance PROPERTIES TIMEOUT 3000)
set_tests_properties(conformance.time PROPERTIES RUN_SERIAL ON)

# What the replaced tools can do, a row each; those that need no ../shared/data run without it.
add_suite(features conformance 440 ${Python3_EXECUTABLE} tests/conformance/features.py --binary $<TARGET_FILE:debrief>)

# Fault jobs recorded on a GPU, each as recorded or as one other launcher would have left it; those of the kept half both ways.
add_suite(campaign campaign 420 ${Python3_EXECUTABLE} tests/campaign/score.py tests/campaign/jobs.tar.xz
          --binary $<TARGET_FILE:debrief> --part --at-least tests/campaign/shares.json)

add_suite(serve serve 500 ${Python3_EXECUTABLE} tests/serve/test_serve.py --binary $<TARGET_FILE:debrief>)
add_suite(mcp serve 300 ${Python3_EXECUTABLE} tests/mcp/run.py --binary $<TARGET_FILE:debrief>)
add_suite(watch cli 170 ${Python3_EXECUTABLE} tests/watch/test_watch.py --binary $<TARGET_FILE:debrief>)
add_suite(bundle cli 165 ${Python3_EXECUTABLE} tests/bundle/test_bundle.py --binary $<TARGET_FILE:debrief>)
add_suite(browser browser 800 node tests/browser/run.mjs --binary $<TARGET_FILE:debrief>)
add_suite(browser.recorded browser 750 node tests/browser/run.mjs --binary $<TARGET_FILE:debrief> --folder recorded)
add_suite(help cli 150 ${Python3_EXECUTABLE} tests/help/run.py --binary $<TARGET_FILE:debrief>)
add_suite(manual cli 130 ${Python3_EXECUTABLE} tests/manual/run.py --binary $<TARGET_FILE:debrief>)
add_suite(failures cli 160 ${Python3_EXECUTABLE} tests/failures/run.py --binary $<TARGET_FILE:debrief>)
add_suite(rules cli 160 ${Python3_EXECUTABLE} tests/rules/run.py --binary $<TARGET_FILE:debrief>)
add_suite(readme cli 115 ${Python3_EXECUTABLE} tests/readme/run.py --binary $<TARGET_FILE:debrief>)
add_suite(figures cli 125 ${Python3_EXECUTABLE} tests/figures/run.py --binary $<TARGET_FILE:debrief>)
add_suite(schema cli 110 ${Python3_EXECUTABLE} tests/schema/run.py --binary $<TARGET_FILE:debrief>)
add_suite(progress cli 200 ${Python3_EXECUTABLE} tests/terminal/test_progress.py --binary $<TARGET_FILE:debrief>)
add_suite(prompt cli 105 ${Python3_EXECUTABLE} tests/terminal/test_prompt.py --binary $<TARGET_FILE:debrief>)

# `import debrief` under this Python and those of the system, and a wheel with the program that was built.
add_suite(python python 330 ${Python3_EXECUTABLE} tests/python/run.py --binary $<TARGET_FILE:debrief>)
add_suite(packages packages 320 ${Python3_EXECUTABLE} tests/packages/run.py --build ${CMAKE_BINARY_DIR})
add_suite(ci cli 150 ${Python3_EXECUTABLE} tests/ci/run.py --binary $<TARGET_FILE:debrief>)

add_suite(howto howto 450 ${Python3_EXECUTABLE} tests/howto/run.py)
add_suite(library library 300 ${Python3_EXECUTABLE} tests/library/run.py --binary $<TARGET_FILE:debrief> --example $<TARGET_FILE:torch_trace_example>)

# Programs that are killed while they record; what they left is read back.
foreach(program kill step)
  add_executable(recorder_${program} tests/recorder/${program}.cc tests/recorder/content.cc src/recorder/reader.cc)
  target_include_directories(recorder_${program} PRIVATE src tests/recorder)
  target_link_libraries(recorder_${program} PRIVATE debrief_flags debrief_recorder Threads::Threads)
endforeach()
target_sources(recorder_kill PRIVATE tests/recorder/cases.cc)
add_suite(recorder recorder 550 ${Python3_EXECUTABLE} tests/recorder/run.py --binary $<TARGET_FILE:recorder_kill>
          --step $<TARGET_FILE:recorder_step>)

# Programs that record themselves, and what `debrief ops` says of them.
add_executable(ops_record tests/ops/record.cc)
target_link_libraries(ops_record PRIVATE debrief_flags debrief_recorder)
add_suite(ops cli 120 ${Python3_EXECUTABLE} tests/ops/run.py --binary $<TARGET_FILE:debrief> --recorder $<TARGET_FILE:ops_record>)

# Races: the small library alone, compiled into the program with the thread sanitizer.
add_executable(recorder_stress tests/recorder/stress.cc tests/recorder/content.cc ${recorder_sources} src/recorder/reader.cc)
target_include_directories(recorder_stress PRIVATE src include tests/recorder)
target_compile_options(recorder_stress PRIVATE -Wall -Wextra -Wconversion -Werror -Wno-missing-field-initializers
                       -O1 -g1 -fsanitize=thread)
target_link_options(recorder_stress PRIVATE -fsanitize=thread)
target_link_libraries(recorder_stress PRIVATE Threads::Threads)
add_suite(recorder.tsan recorder 350 ${Python3_EXECUTABLE} tests/recorder/races.py --binary $<TARGET_FILE:recorder_stress>)

# What the recorder shows and needs, and the instructions that its scopes become.
add_suite(recorder.abi recorder 900 ${Python3_EXECUTABLE} tests/recorder/abi.py
          --library $<TARGET_FILE:debrief_recorder_shared> --static $<TARGET_FILE:debrief_recorder>)
add_suite(recorder.disassembly recorder 900 ${Python3_EXECUTABLE} tests/recorder/disassembly.py)

# The program of docs/recorder.md, which is also built outside of this build, from an installed recorder.
add_subdirectory(examples/tiny-inference)
if(TARGET debrief_python)
  add_suite(recorder.python_binding recorder 300 ${Python3_EXECUTABLE} tests/recorder/python_binding.py --package ${CMAKE_BINARY_DIR}/python)
  add_suite(recorder.install recorder 460 ${Python3_EXECUTABLE} tests/recorder/install.py --build ${CMAKE_BINARY_DIR})
  add_suite(recorder.walkthrough recorder 455 ${Python3_EXECUTABLE} tests/recorder/walkthrough.py --build ${CMAKE_BINARY_DIR})
endif()
