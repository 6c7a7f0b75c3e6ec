# libdebrief_recorder: what programs link to record themselves. It needs libc and pthreads alone; the reader is not part
# of it but of debrief_core.
#
#   debrief_recorder         static                    debrief::recorder         after find_package(debrief_recorder)
#   debrief_recorder_shared  libdebrief_recorder.so    debrief::recorder_shared
find_package(Threads REQUIRED)
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
file(GLOB recorder_sources CONFIGURE_DEPENDS src/recorder/*.cc)
list(REMOVE_ITEM recorder_sources ${CMAKE_SOURCE_DIR}/src/recorder/reader.cc)

add_library(debrief_recorder STATIC ${recorder_sources})
add_library(debrief_recorder_shared SHARED ${recorder_sources})
set_target_properties(debrief_recorder PROPERTIES EXPORT_NAME recorder)
set_target_properties(debrief_recorder_shared PROPERTIES OUTPUT_NAME debrief_recorder SOVERSION 1 EXPORT_NAME recorder_shared)
# The compiler names the C++ library to the linker, and nothing here may need it. The ends of threads and forks call into
# the recorder as long as the process lives.
target_link_options(debrief_recorder_shared PRIVATE -Wl,--as-needed -Wl,-z,nodelete)
foreach(target debrief_recorder debrief_recorder_shared)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> PRIVATE src)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fvisibility=hidden)
  target_link_libraries(${target} PRIVATE Threads::Threads $<BUILD_INTERFACE:debrief_checks>)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()
add_library(debrief::recorder ALIAS debrief_recorder)
add_library(debrief::recorder_shared ALIAS debrief_recorder_shared)

set(recorder_package ${CMAKE_INSTALL_LIBDIR}/cmake/debrief_recorder)
install(TARGETS debrief_recorder debrief_recorder_shared debrief_op_trace EXPORT debrief_recorder_targets COMPONENT recorder
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES include/debrief/recorder.h include/debrief/recorder.hpp include/debrief/op_trace.hpp
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/debrief COMPONENT recorder)
install(EXPORT debrief_recorder_targets NAMESPACE debrief:: DESTINATION ${recorder_package} COMPONENT recorder)
configure_package_config_file(cmake/debrief_recorderConfig.cmake.in ${CMAKE_BINARY_DIR}/debrief_recorderConfig.cmake
                              INSTALL_DESTINATION ${recorder_package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/debrief_recorderConfigVersion.cmake COMPATIBILITY SameMajorVersion)
configure_file(cmake/debrief_recorder.pc.in ${CMAKE_BINARY_DIR}/debrief_recorder.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/debrief_recorderConfig.cmake ${CMAKE_BINARY_DIR}/debrief_recorderConfigVersion.cmake
        DESTINATION ${recorder_package} COMPONENT recorder)
install(FILES ${CMAKE_BINARY_DIR}/debrief_recorder.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT recorder)
