# libdebrief_recorder: what programs link to record themselves. It needs libc and pthreads alone; the reader is not part
# of it but of debrief_core.
#
#   debrief_recorder         static
#   debrief_recorder_shared  libdebrief_recorder.so
find_package(Threads REQUIRED)
file(GLOB recorder_sources CONFIGURE_DEPENDS src/recorder/*.cc)
list(REMOVE_ITEM recorder_sources ${CMAKE_SOURCE_DIR}/src/recorder/reader.cc)

add_library(debrief_recorder STATIC ${recorder_sources})
add_library(debrief_recorder_shared SHARED EXCLUDE_FROM_ALL ${recorder_sources})
set_target_properties(debrief_recorder_shared PROPERTIES OUTPUT_NAME debrief_recorder SOVERSION 1)
# The ends of threads and forks call into it as long as the process lives.
target_link_options(debrief_recorder_shared PRIVATE -Wl,-z,nodelete)
foreach(target debrief_recorder debrief_recorder_shared)
  target_include_directories(${target} PUBLIC include PRIVATE src)
  # Not debrief_flags: what others link must run on every processor of the architecture.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Werror -Wno-missing-field-initializers
                         -fno-exceptions -fno-rtti -fvisibility=hidden)
  if(DEBRIEF_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${DEBRIEF_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr)
    target_link_options(${target} PUBLIC -fsanitize=${DEBRIEF_SANITIZE})
  endif()
  target_link_libraries(${target} PRIVATE Threads::Threads)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()
