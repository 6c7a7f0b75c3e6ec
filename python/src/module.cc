// debrief_recorder._recorder: recorder.h for Python. It has no state of its own but names: all that
// is recorded goes through libdebrief_recorder.so, so a C++ engine in the same process that links
// that library records into the same file.
#include "binding.h"

using namespace debrief::python;  // NOLINT: functions of the C interface are in no namespace

namespace {

bool Fill(PyObject* module) {
  return PyModule_AddFunctions(module, recording_functions) == 0 &&
         PyModule_AddFunctions(module, record_functions) == 0 && AddSite() && AddScope(module) &&
         AddOp(module) && AddWrapper(module) &&
         PyModule_AddIntConstant(module, "FLOW_START", DBR_FLOW_START) == 0 &&
         PyModule_AddIntConstant(module, "FLOW_STEP", DBR_FLOW_STEP) == 0 &&
         PyModule_AddIntConstant(module, "FLOW_END", DBR_FLOW_END) == 0;
}

// One recording a process, so one module a process: -1 refuses sub-interpreters.
PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "debrief_recorder._recorder",
                          "Records what a program does; see debrief_recorder.",
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace

// Python wants this name. NOLINTNEXTLINE(bugprone-reserved-identifier)
PyMODINIT_FUNC PyInit__recorder() {
  PyObject* module = PyModule_Create(&definition);
  if (module != nullptr && !Fill(module)) Py_CLEAR(module);
  return module;
}
