# Headers that nearly every file includes are compiled once: a clean build takes two thirds of the time. Not with a
# compiler cache, which would take each of these files for changed when one of the headers has.
if(CMAKE_CXX_COMPILER_LAUNCHER)
  return()
endif()

target_precompile_headers(debrief_core PRIVATE
  <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <unordered_map> <vector>
  <fmt/format.h> "${CMAKE_SOURCE_DIR}/src/base/status.h" "${CMAKE_SOURCE_DIR}/src/model/model.h")
if(TARGET debrief_unit)
  target_precompile_headers(debrief_unit PRIVATE
    <algorithm> <map> <string> <string_view> <vector> <gtest/gtest.h> "${CMAKE_SOURCE_DIR}/src/model/model.h")
endif()
