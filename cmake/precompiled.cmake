# Clean builds: headers that nearly every file includes are compiled once, and the files of a folder together. A folder's files
# are one unit, larger ones several of about two thousand lines each: a file goes by a hash of its name, so that a new one rarely
# moves another. After a change of one file its unit alone is compiled again, within seconds.
#
# What a unit takes from the standard library is compiled for each anew, so a folder is one unit where no optimiser makes large ones
# slow: for the sanitizers, and for clang-tidy (make lint).
option(DEBRIEF_WHOLE_FOLDERS "all files of a folder in one unit, however large" OFF)

foreach(half debrief_core debrief_telling)
target_precompile_headers(${half} PRIVATE
  <algorithm> <array> <charconv> <cstdint> <deque> <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view>
  <thread> <unordered_map> <unordered_set> <vector> <fmt/format.h> <simdjson.h>
  "${CMAKE_SOURCE_DIR}/src/base/status.h" "${CMAKE_SOURCE_DIR}/src/model/model.h" "${CMAKE_SOURCE_DIR}/src/model/table_group.h"
  "${CMAKE_SOURCE_DIR}/src/model/timeline/view.h")
endforeach()
target_precompile_headers(debrief PRIVATE
  <algorithm> <functional> <map> <memory> <optional> <set> <string> <string_view> <vector> <CLI/CLI.hpp> <fmt/format.h>
  "${CMAKE_SOURCE_DIR}/src/base/status.h" "${CMAKE_SOURCE_DIR}/src/model/model.h")

# compile_together(TARGET BYTES FILES...): units of about BYTES of source. The questions of a family of analyses are small, and
# share units; elsewhere a folder is a unit or several.
function(compile_together target unit_bytes)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(rooms "")
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${folder})
    string(REGEX REPLACE "^(src/analyses/[^/]+|src/outputs/exports)/.*" "\\1" name ${name})
    string(MAKE_C_IDENTIFIER ${name} key)
    file(SIZE ${file} bytes)
    math(EXPR bytes_of_${key} "0${bytes_of_${key}} + ${bytes}")
    list(APPEND rooms ${key})
    list(APPEND files_of_${key} ${file})
  endforeach()
  list(REMOVE_DUPLICATES rooms)
  foreach(key ${rooms})
    math(EXPR groups "(${bytes_of_${key}} + ${unit_bytes} - 1) / ${unit_bytes}")
    if(DEBRIEF_WHOLE_FOLDERS)
      set(groups 1)
    endif()
    foreach(file ${files_of_${key}})
      file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${file})
      string(MD5 hash ${name})
      string(SUBSTRING ${hash} 0 4 digits)
      math(EXPR group "0x${digits} % ${groups}")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${key}_${group})
    endforeach()
  endforeach()
endfunction()

foreach(half debrief_core debrief_telling)
  get_target_property(files ${half} SOURCES)
  list(FILTER files INCLUDE REGEX "\\.cc$")
  # The lists of tables and plug-ins change with every new one.
  list(FILTER files EXCLUDE REGEX "generated/(tables/all_tables|registry/.*)\\.cc$")
  compile_together(${half} 90000 ${files})
endforeach()
# Each unit of these compiles the library for command lines anew, so they are large.
compile_together(debrief 100000 ${app_sources})
compile_together(debrief_op_trace 100000 ${op_trace_sources})
if(TARGET debrief_unit)
  target_precompile_headers(debrief_unit PRIVATE
    <algorithm> <map> <string> <string_view> <vector> <gtest/gtest.h> "${CMAKE_SOURCE_DIR}/src/model/model.h")
  # Each file of the tests has a namespace of its own name for this.
  compile_together(debrief_unit 80000 ${unit_sources})
endif()
