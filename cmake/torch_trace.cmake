# libdebrief_torch_trace: include/debrief/torch_trace.hpp, for programs that read TORCH_TRACE logs. A thin layer over debrief_core, which
# comes with it. The example of its page is built with the tests.
add_library(debrief_torch_trace STATIC src/library/torch_trace.cc)
target_include_directories(debrief_torch_trace PUBLIC include)
target_link_libraries(debrief_torch_trace PUBLIC debrief_core)
target_compile_options(debrief_torch_trace PRIVATE -fexceptions)
add_executable(torch_trace_example tests/library/torch_trace_example.cc)
target_link_libraries(torch_trace_example PRIVATE debrief_torch_trace)
