# Unit tests, benchmarks and fuzzers. `make test` runs what is registered here with ctest.
enable_testing()
find_package(GTest REQUIRED)
include(GoogleTest)

file(GLOB_RECURSE unit_sources CONFIGURE_DEPENDS tests/unit/*_test.cc)
add_executable(debrief_unit ${unit_sources})
target_link_libraries(debrief_unit PRIVATE debrief_core GTest::gtest GTest::gtest_main)
target_include_directories(debrief_unit PRIVATE tests)
gtest_discover_tests(debrief_unit DISCOVERY_MODE PRE_TEST)
