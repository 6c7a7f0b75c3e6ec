# One set of flags for all of our code, carried by the interface target debrief_flags.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(DEBRIEF_SANITIZE "" CACHE STRING "sanitizers for every target, for example address,undefined")

add_library(debrief_flags INTERFACE)
target_compile_options(debrief_flags INTERFACE -Wall -Wextra -Wconversion -Werror -fno-omit-frame-pointer
                       -Wno-missing-field-initializers)  # designated initialisers name what matters
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++'s own std::stable_sort calls a function that it declares deprecated.
  target_compile_options(debrief_flags INTERFACE -Wno-deprecated-declarations)
else()
  # The compiler's own garbage collection takes a tenth of its time with large units, and saves a tenth of their 650 MB.
  target_compile_options(debrief_flags INTERFACE "SHELL:--param ggc-min-heapsize=1500000")
endif()
# It changes the layout of simdjson's parser, so it must be the same everywhere.
target_compile_definitions(debrief_flags INTERFACE SIMDJSON_DEVELOPMENT_CHECKS=0)
# Analyses that read or make what they do not declare end the program (model/declared_tables.h).
target_compile_definitions(debrief_flags INTERFACE $<$<CONFIG:Debug>:DEBRIEF_CHECK_TABLES>)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  # simdjson On-Demand picks its back end at compile time, and with x86-64-v3 alone it picks the slow
  # fallback: pclmul is what is missing. app/main.cc checks the processor before anything else runs.
  target_compile_options(debrief_flags INTERFACE -march=x86-64-v3 -mpclmul)
else()
  # Where plain char has no sign, as on ARM, bytes above 127 would compare differently.
  target_compile_options(debrief_flags INTERFACE -fsigned-char)
endif()
if(DEBRIEF_SANITIZE)
  # Core has no RTTI, which vptr needs. The others stand at every access and cost a third of the build; the address
  # sanitizer sees the bad accesses among them, but not a pointer that is only computed out of bounds.
  target_compile_options(debrief_flags INTERFACE -fsanitize=${DEBRIEF_SANITIZE} -fno-sanitize-recover=all
                         -fno-sanitize=vptr,null,object-size,pointer-overflow)
  target_link_options(debrief_flags INTERFACE -fsanitize=${DEBRIEF_SANITIZE})
endif()

# Code that is not in the way of every byte, beside sanitizers: it runs for moments in tests, and compiles in half the time like this.
set(unoptimised_beside_sanitizers "")
if(DEBRIEF_SANITIZE)
  set(unoptimised_beside_sanitizers -O0)
endif()
# What the fuzzers feed counts its branches for them.
option(DEBRIEF_FUZZ "build the libFuzzer program (clang)" OFF)
set(counted_by_fuzzers $<$<BOOL:${DEBRIEF_FUZZ}>:-fsanitize=fuzzer-no-link>)

# What users run: reads and writes out of bounds of a container, of a known buffer or of the stack end the program instead of going
# on, and no table of functions can be overwritten. The sanitizers of tests see more; they replace some of the same functions.
option(DEBRIEF_HARDEN "checks of the library and the compiler that stay in the program" OFF)
if(DEBRIEF_HARDEN AND NOT DEBRIEF_SANITIZE)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES CXX)
  target_compile_options(debrief_flags INTERFACE -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3)
  target_compile_definitions(debrief_flags INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(debrief_flags INTERFACE -Wl,-z,relro,-z,now)
endif()

# For the libraries that others link, which must run on every processor of the architecture: what debrief_flags checks.
add_library(debrief_checks INTERFACE)
target_compile_options(debrief_checks INTERFACE -Wall -Wextra -Wconversion -Werror -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(debrief_checks INTERFACE -Wno-deprecated-declarations)
endif()
if(DEBRIEF_SANITIZE)
  target_compile_options(debrief_checks INTERFACE -fsanitize=${DEBRIEF_SANITIZE} -fno-sanitize-recover=all -fno-sanitize=vptr)
  target_link_options(debrief_checks INTERFACE -fsanitize=${DEBRIEF_SANITIZE})
endif()
