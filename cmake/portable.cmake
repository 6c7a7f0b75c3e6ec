# The libraries of the program, and what of them it carries.
#
# With DEBRIEF_PORTABLE (the release) the program runs on other systems than the one it was built on: libraries that Debian has
# as archives become part of it, and so does the C++ library; the others lie beside it in lib/debrief, where it looks first
# ($ORIGIN). What it takes from the system is the C library, libgcc_s and, for the libraries beside it, libstdc++ of any version
# since GCC 6. tests/packages checks which version of the C library that is.
#
#   ${debrief_fmt}      fmt
#   ${debrief_formats}  zstd, libarchive, SQLite
option(DEBRIEF_PORTABLE "libraries inside of the program where Debian has archives of them, the others beside it" OFF)
if(NOT DEBRIEF_PORTABLE)
  set(debrief_fmt fmt::fmt)
  set(debrief_formats PkgConfig::zstd PkgConfig::archive PkgConfig::sqlite)
  return()
endif()

# Debian's fmt is a shared library or headers; compiled once, the headers are an archive.
add_library(debrief_fmt_archive STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt_archive.cc)
set(debrief_fmt debrief_fmt_archive)

# SQLite, and what libarchive's readers of tar and zip need; its other formats stay outside, and with them libxml2 and ICU.
set(debrief_formats "")
foreach(name archive zstd nettle lzma bz2 z sqlite3)
  find_library(archive_of_${name} lib${name}.a REQUIRED)
  list(APPEND debrief_formats ${archive_of_${name}})
endforeach()

# carry(LIBRARY): a copy under the name that programs ask for.
function(carry library)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE head COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "SONAME +([^ \n]+)" unused "${head}")
  install(FILES ${library} DESTINATION lib/debrief RENAME ${CMAKE_MATCH_1}
          PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

# make_portable(PROGRAM): names of the archives are kept from the libraries beside it, which have a C++ library of their own.
function(make_portable program)
  target_sources(${program} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/older_libc.cc)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/cmake/older_libc.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  # libarchive's writer of tar names all other formats, whose libraries are not here: what nobody calls is left out.
  target_link_options(${program} PRIVATE -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--gc-sections)
  # From the beginning: CMake would keep room for it with empty entries, and these mean the current folder.
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/debrief" BUILD_WITH_INSTALL_RPATH ON)
  find_library(simdjson_library simdjson REQUIRED)
  find_library(isal_library isal REQUIRED)
  foreach(library ${simdjson_library} ${isal_library})
    file(REAL_PATH ${library} file)
    carry(${file})
  endforeach()
endfunction()
