// What the files of the Python extension share. Everything here is called with the interpreter's
// lock held, which is what protects the tables of names and the entries of a scope.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "debrief/recorder.h"

namespace debrief::python {

inline bool On() { return __atomic_load_n(&dbr_on, __ATOMIC_RELAXED) != 0; }

// Name and dtype of an op as the recorder wants them, with room for what a descriptor can hold: one
// input more than it holds stands for "too many", so that the recorder leaves all shapes out.
struct OpShapes {
  static constexpr uint32_t kInputs = 12, kDims = 14;
  dbr_op_info info = {};
  dbr_shape inputs[kInputs];
  dbr_shape output;
  uint64_t dims[kInputs + 1][kDims];
};

// A name as the C macros have it: looked up once a recording. All scopes of one name share one.
struct Site {
  PyObject_HEAD;
  PyObject* text;   // str
  PyObject* bytes;  // keeps site.text
  dbr_site site;
};

// New reference; null with an exception set.
Site* SiteFor(PyObject* text);

// The id of a str, or of an int that name() gave; false with an exception set.
bool ReadName(PyObject* name, dbr_id* id);
// Any of the objects may be null or None: not told.
bool ReadOp(PyObject* inputs, PyObject* output, PyObject* dtype, uint64_t bytes, OpShapes* shapes);

// Each makes its type and adds it, with the functions that go with it, to the module.
bool AddSite();
bool AddScope(PyObject* module);
bool AddOp(PyObject* module);
bool AddWrapper(PyObject* module);

extern PyMethodDef recording_functions[];  // open, close, snapshot ...
extern PyMethodDef record_functions[];     // span, instant, counter ...

template <typename Function>
PyCFunction AsCFunction(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace debrief::python
