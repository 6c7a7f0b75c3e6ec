# Clean builds: headers that nearly every file includes are compiled once, and the files of a folder together. A folder's files
# are one unit, larger ones several of about a thousand lines each: a file goes by a hash of its name, so that a new one moves
# no other. After a change of one file its unit alone is compiled again, within seconds.
option(DEBRIEF_TOGETHER "precompiled headers, and the files of a folder in one unit; OFF for tools that look at files one by one" ON)
if(NOT DEBRIEF_TOGETHER)
  return()
endif()

target_precompile_headers(debrief_core PRIVATE
  <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string> <string_view> <unordered_map> <vector>
  <fmt/format.h> "${CMAKE_SOURCE_DIR}/src/base/status.h" "${CMAKE_SOURCE_DIR}/src/model/model.h")

# compile_together(TARGET FILES...)
function(compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(folders "")
  foreach(file ${ARGN})
    get_filename_component(folder ${file} DIRECTORY)
    file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${name} key)
    list(APPEND folders ${key})
    list(APPEND files_of_${key} ${file})
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(key ${folders})
    list(LENGTH files_of_${key} count)
    math(EXPR groups "(${count} + 9) / 10")
    foreach(file ${files_of_${key}})
      get_filename_component(name ${file} NAME)
      string(MD5 hash ${name})
      string(SUBSTRING ${hash} 0 4 digits)
      math(EXPR group "0x${digits} % ${groups}")
      set_source_files_properties(${file} PROPERTIES UNITY_GROUP ${key}_${group})
    endforeach()
  endforeach()
endfunction()

get_target_property(core_files debrief_core SOURCES)
list(FILTER core_files INCLUDE REGEX "\\.cc$")
# The lists of tables and plug-ins change with every new one.
list(FILTER core_files EXCLUDE REGEX "generated/(tables/all_tables|registry/.*)\\.cc$")
compile_together(debrief_core ${core_files})
if(TARGET debrief_unit)
  target_precompile_headers(debrief_unit PRIVATE
    <algorithm> <map> <string> <string_view> <vector> <gtest/gtest.h> "${CMAKE_SOURCE_DIR}/src/model/model.h")
  # Each file of the tests has a namespace of its own name for this.
  compile_together(debrief_unit ${unit_sources})
endif()
