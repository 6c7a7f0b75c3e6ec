# libdebrief_op_trace: include/debrief/op_trace.hpp, what programs link to read and add up recorded ops. It needs the
# standard library alone; debrief_core uses the same code.
file(GLOB op_trace_sources CONFIGURE_DEPENDS src/op_trace/*.cc)
add_library(debrief_op_trace STATIC ${op_trace_sources} src/recorder/reader.cc)
target_include_directories(debrief_op_trace PUBLIC include PRIVATE src)
# Not debrief_flags: what others link must run on every processor of the architecture.
target_compile_options(debrief_op_trace PRIVATE -Wall -Wextra -Wconversion -Werror -Wno-missing-field-initializers
                       -fno-exceptions -fno-rtti)
if(DEBRIEF_SANITIZE)
  target_compile_options(debrief_op_trace PRIVATE -fsanitize=${DEBRIEF_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr)
  target_link_options(debrief_op_trace PUBLIC -fsanitize=${DEBRIEF_SANITIZE})
endif()
