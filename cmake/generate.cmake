# Code made from what plug-ins say of themselves: tables (tables.def) and the registry (folder names);
# and from data files: which words in the name of a kernel tell its category.
# The generators run when CMake configures, and write a file only when its content changes; a new
# folder or a changed tables.def makes Ninja configure again by itself.
set(generated_dir ${CMAKE_BINARY_DIR}/generated)

file(GLOB_RECURSE table_definitions CONFIGURE_DEPENDS src/*/tables.def)
file(GLOB_RECURSE plugin_folders CONFIGURE_DEPENDS LIST_DIRECTORIES true src/inputs/* src/analyses/* src/outputs/* src/compat/*)
file(GLOB category_rules CONFIGURE_DEPENDS data/kernel_categories/*.tsv)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table_definitions} ${category_rules}
             tools/gen_tables.py tools/gen_registry.py tools/gen_kernel_categories.py)

foreach(generator gen_tables gen_registry gen_kernel_categories)
  execute_process(COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/tools/${generator}.py
                          ${CMAKE_SOURCE_DIR} ${generated_dir}
                  COMMAND_ERROR_IS_FATAL ANY)
endforeach()
file(GLOB_RECURSE generated_sources ${generated_dir}/*.cc)
