# libdebrief_op_trace: include/debrief/op_trace.hpp, what programs link to read and add up recorded ops. It needs the
# standard library alone; debrief_core uses the same code. It is installed with the recorder, as debrief::op_trace.
include(GNUInstallDirs)
file(GLOB op_trace_sources CONFIGURE_DEPENDS src/op_trace/*.cc)
add_library(debrief_op_trace STATIC ${op_trace_sources} src/recorder/reader.cc)
set_target_properties(debrief_op_trace PROPERTIES EXPORT_NAME op_trace)
target_include_directories(debrief_op_trace PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> PRIVATE src)
target_compile_options(debrief_op_trace PRIVATE -fno-exceptions -fno-rtti ${counted_by_fuzzers})
target_link_libraries(debrief_op_trace PRIVATE $<BUILD_INTERFACE:debrief_checks>)
