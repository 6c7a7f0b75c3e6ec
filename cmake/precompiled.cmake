# Clean builds: headers that nearly every file includes are compiled once, and small files of one kind a dozen at a time; that
# takes half of the time. Not with a compiler cache, which would take all of them for changed when one is.
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

# By a hash of its name, so that a new file moves no other.
function(compile_together groups)
  foreach(file ${ARGN})
    get_filename_component(name ${file} NAME)
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 4 digits)
    math(EXPR group "0x${digits} % ${groups}")
    get_filename_component(folder ${file} DIRECTORY)
    get_filename_component(family ${folder} NAME)
    set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${family}_${group})
  endforeach()
endfunction()
set_target_properties(debrief_core PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
file(GLOB kinds_of_entries CONFIGURE_DEPENDS src/inputs/torch_trace/kinds/*.cc)
file(GLOB tables ${generated_dir}/tables/*.cc)
list(REMOVE_ITEM tables ${generated_dir}/tables/all_tables.cc)  # the list of them, which every new table changes
compile_together(4 ${kinds_of_entries})
compile_together(12 ${tables})
