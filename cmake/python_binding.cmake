# debrief_recorder for Python, on Python's C API alone: an extension over libdebrief_recorder.so, so that an engine in C++
# in the same process records into the same file. In the build it lies in ${CMAKE_BINARY_DIR}/python, to be put on PYTHONPATH.
option(DEBRIEF_PYTHON "build the Python package debrief_recorder" ON)
if(NOT DEBRIEF_PYTHON OR DEBRIEF_SANITIZE)
  return()
endif()
find_package(Python3 REQUIRED COMPONENTS Interpreter Development.Module)

set(python_build ${CMAKE_BINARY_DIR}/python/debrief_recorder)
file(GLOB python_sources CONFIGURE_DEPENDS python/src/*.cc)
Python3_add_library(debrief_python MODULE WITH_SOABI ${python_sources})
get_target_property(python_headers Python3::Module INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(debrief_python SYSTEM PRIVATE ${python_headers})
target_compile_options(debrief_python PRIVATE -Wall -Wextra -Wconversion -Werror -Wno-missing-field-initializers
                       -fno-exceptions -fno-rtti -fvisibility=hidden)
target_link_options(debrief_python PRIVATE -Wl,--as-needed)
target_link_libraries(debrief_python PRIVATE debrief_recorder_shared)

set(python_folder ${CMAKE_INSTALL_LIBDIR}/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages)
set(DEBRIEF_PYTHON_DIR ${python_folder} CACHE STRING "where the Python package is installed, below the prefix")
file(RELATIVE_PATH to_libraries /${DEBRIEF_PYTHON_DIR}/debrief_recorder /${CMAKE_INSTALL_LIBDIR})
set_target_properties(debrief_python PROPERTIES OUTPUT_NAME _recorder LIBRARY_OUTPUT_DIRECTORY ${python_build}
                      INSTALL_RPATH "$ORIGIN/${to_libraries}")
install(TARGETS debrief_python LIBRARY DESTINATION ${DEBRIEF_PYTHON_DIR}/debrief_recorder COMPONENT python)
file(MAKE_DIRECTORY ${python_build})
foreach(name __init__.py _recorder.pyi py.typed)
  file(CREATE_LINK ${CMAKE_SOURCE_DIR}/python/debrief_recorder/${name} ${python_build}/${name} SYMBOLIC)
  install(FILES python/debrief_recorder/${name} DESTINATION ${DEBRIEF_PYTHON_DIR}/debrief_recorder COMPONENT python)
endforeach()
