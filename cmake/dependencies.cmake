# Libraries from Debian packages, and DuckDB from npm (tools/setup.sh puts both in place).
find_package(fmt REQUIRED)
find_package(simdjson REQUIRED)
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(archive REQUIRED IMPORTED_TARGET libarchive)
pkg_check_modules(sqlite REQUIRED IMPORTED_TARGET sqlite3)
find_path(protozero_include protozero/pbf_reader.hpp REQUIRED)  # headers only, in the system's folder

# DuckDB is loaded at run time, and only by the store and `debrief query`: a 65 MB library must not
# slow down the start of every other command. So we need its header here and its .so beside the binary.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(duckdb_package node-bindings-linux-x64)
else()
  set(duckdb_package node-bindings-linux-arm64)
endif()
set(duckdb_library ${CMAKE_SOURCE_DIR}/node_modules/@duckdb/${duckdb_package}/libduckdb.so)
if(CMAKE_CROSSCOMPILING)  # npm installs that of the machine it runs on; tools/setup_aarch64.sh fetches the other
  set(duckdb_library ${CMAKE_SOURCE_DIR}/build/deps/duckdb-${CMAKE_SYSTEM_PROCESSOR}/libduckdb.so)
endif()
set(duckdb_include ${CMAKE_SOURCE_DIR}/build/deps/duckdb)
foreach(needed ${duckdb_library} ${duckdb_include}/duckdb.h)
  if(NOT EXISTS ${needed})
    message(FATAL_ERROR "${needed} is missing: run tools/setup.sh (or simply make)")
  endif()
endforeach()

# A link is enough in the build folder; `cmake --install` copies the file.
function(install_beside_binary library)
  get_filename_component(name ${library} NAME)
  file(CREATE_LINK ${library} ${CMAKE_BINARY_DIR}/${name} SYMBOLIC)
  install(TARGETS debrief RUNTIME DESTINATION bin)
  install(FILES ${library} DESTINATION lib/debrief)
  # Man pages and completions come out of the program itself; one for another machine needs an emulator to say them.
  if(NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR)
    install(CODE "execute_process(COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} \"$<TARGET_FILE:debrief>\" help --install \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\"
                                  COMMAND_ERROR_IS_FATAL ANY)")
  endif()
endfunction()
