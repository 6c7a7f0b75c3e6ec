// op(name, ...): an op around a `with` block, written when it begins and when it ends, so that the
// file shows the op that a process died in. Shapes are read at the end: those of the output are
// often not known before, and off they cost nothing.
#include "binding.h"

namespace debrief::python {
namespace {

struct Op {
  PyObject_HEAD;
  PyObject *name, *inputs, *output, *dtype;  // null: not told
  unsigned long long bytes;
  bool open, written;
};

PyTypeObject* op_type;

Op* AsOp(PyObject* self) { return reinterpret_cast<Op*>(self); }

void Replace(PyObject** slot, PyObject* value) {
  if (value == nullptr || value == Py_None) return;
  Py_INCREF(value);
  PyObject* old = *slot;
  *slot = value;
  Py_XDECREF(old);
}

bool ReadBytes(PyObject* object, unsigned long long* bytes) {
  if (object == nullptr || object == Py_None) return true;
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (value == ~0ULL && PyErr_Occurred()) return false;
  *bytes = value;
  return true;
}

// What is given replaces what was; what is not given stays.
bool Take(Op* op, PyObject* inputs, PyObject* output, PyObject* dtype, PyObject* bytes) {
  if (!ReadBytes(bytes, &op->bytes)) return false;
  Replace(&op->inputs, inputs);
  Replace(&op->output, output);
  Replace(&op->dtype, dtype);
  return true;
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"name", "inputs", "output", "dtype", "nbytes", nullptr};
  PyObject *name, *inputs = nullptr, *output = nullptr, *dtype = nullptr, *bytes = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OOOO:op", const_cast<char**>(names), &name,
                                   &inputs, &output, &dtype, &bytes)) {
    return nullptr;
  }
  if (!PyUnicode_Check(name) && !PyLong_Check(name)) {
    return PyErr_Format(PyExc_TypeError,
                        "a name must be a str or an id that name() gave, not %.100s",
                        Py_TYPE(name)->tp_name);
  }
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  Replace(&AsOp(self)->name, name);
  if (!Take(AsOp(self), inputs, output, dtype, bytes)) Py_CLEAR(self);
  return self;
}

PyObject* Describe(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"inputs", "output", "dtype", "nbytes", nullptr};
  PyObject *inputs = nullptr, *output = nullptr, *dtype = nullptr, *bytes = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OOOO:describe", const_cast<char**>(names),
                                   &inputs, &output, &dtype, &bytes)) {
    return nullptr;
  }
  if (!Take(AsOp(self), inputs, output, dtype, bytes)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* Enter(PyObject* self, PyObject*) {
  Op* op = AsOp(self);
  if (op->open) {
    PyErr_SetString(PyExc_RuntimeError, "this op is open already: make one for each use");
    return nullptr;
  }
  op->written = On();
  if (op->written) {
    dbr_id name;
    if (!ReadName(op->name, &name)) return nullptr;
    dbr_begin(name);
  }
  op->open = true;
  Py_INCREF(self);
  return self;
}

// What was begun is ended whatever the shapes are; shapes that make no sense are an error, but not
// one that hides the error of the block.
PyObject* Exit(PyObject* self, PyObject* const* error, Py_ssize_t count) {
  Op* op = AsOp(self);
  const bool written = op->open && op->written;
  op->open = false;
  if (!written) Py_RETURN_NONE;
  OpShapes shapes;
  if (shapes.Read(op->inputs, op->output, op->dtype, op->bytes)) {
    dbr_end_op(shapes.info());
    Py_RETURN_NONE;
  }
  dbr_end();
  if (count == 0 || error[0] == Py_None) return nullptr;
  PyErr_Clear();
  Py_RETURN_NONE;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(AsOp(self)->inputs);
  Py_VISIT(AsOp(self)->output);
  Py_VISIT(AsOp(self)->dtype);
  return 0;
}

int Clear(PyObject* self) {
  Py_CLEAR(AsOp(self)->inputs);
  Py_CLEAR(AsOp(self)->output);
  Py_CLEAR(AsOp(self)->dtype);
  return 0;
}

void Free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Clear(self);
  Py_XDECREF(AsOp(self)->name);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"__enter__", Enter, METH_NOARGS, "__enter__($self, /)\n--\n\n"},
    {"__exit__", AsCFunction(Exit), METH_FASTCALL, "__exit__($self, /, *error)\n--\n\n"},
    {"describe", AsCFunction(Describe), METH_VARARGS | METH_KEYWORDS,
     "describe($self, inputs=None, output=None, dtype=None, nbytes=None)\n--\n\n"
     "Tells what was not known when the op began; what is not given stays."},
    {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char*>("op(name, inputs=None, output=None, dtype=None, nbytes=None)\n--\n\n"
                       "An op around a `with` block, in the file from its begin on.")},
    {Py_tp_new, reinterpret_cast<void*>(New)},
    {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(Clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Free)},
    {Py_tp_methods, methods},
    {0, nullptr}};
PyType_Spec spec = {"debrief_recorder.op", sizeof(Op), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                    slots};

}  // namespace

bool AddOp(PyObject* module) {
  op_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return op_type != nullptr && PyModule_AddType(module, op_type) == 0;
}

}  // namespace debrief::python
