// What the files of the Python extension share. Everything here is called with the interpreter's
// lock held, which is what protects the tables of names and the entries of a scope.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "debrief/recorder.h"

namespace debrief::python {

inline bool On() { return __atomic_load_n(&dbr_on, __ATOMIC_RELAXED) != 0; }

// The shapes of an op as the recorder wants them. Those of usual ops fit into the object; dims are
// pointed to when all are known, since they may move until then.
class OpShapes {
 public:
  OpShapes() = default;
  ~OpShapes();
  OpShapes(const OpShapes&) = delete;
  OpShapes& operator=(const OpShapes&) = delete;

  // Any of the objects may be null or None: not told. False with an exception set.
  bool Read(PyObject* inputs, PyObject* output, PyObject* dtype, uint64_t bytes);
  const dbr_op_info* info() const { return &info_; }

 private:
  bool ReadInputs(PyObject* object);
  bool ReadShape(PyObject* object, dbr_shape* shape);
  bool AddDim(PyObject* object);

  static constexpr uint32_t kFewInputs = 12, kFewDims = 48;
  dbr_op_info info_ = {};
  dbr_shape output_;
  dbr_shape* inputs_ = few_inputs_;
  uint64_t* dims_ = few_dims_;
  size_t dim_count_ = 0, dim_room_ = kFewDims;
  dbr_shape few_inputs_[kFewInputs];
  uint64_t few_dims_[kFewDims];
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
