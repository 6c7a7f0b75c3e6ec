# `import debrief`: pure Python, on the program and the DuckDB library of the same prefix. The wheel holds the same files.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT DEBRIEF_PYTHON_DIR)  # where the recorder's package is not built
  set(DEBRIEF_PYTHON_DIR lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages)
endif()
install(DIRECTORY python/debrief DESTINATION ${DEBRIEF_PYTHON_DIR} COMPONENT python
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
