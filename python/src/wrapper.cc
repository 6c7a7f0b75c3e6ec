// wrap(function, name): a callable that is the function with a span around each call.
//
// It is called the way Python calls functions (vectorcall), binds like a function when it stands in
// a class, and is pickled by its name as functions are. Off it costs one more call in C.
#include <cstddef>

#include "binding.h"

namespace debrief::python {
namespace {

struct Wrapper {
  PyObject_HEAD;
  vectorcallfunc call;
  PyObject* function;
  Site* site;
  PyObject* dict;  // __name__, __doc__, __wrapped__ ... from functools.update_wrapper
  PyObject* weak_references;
};

PyTypeObject* wrapper_type;

Wrapper* AsWrapper(PyObject* self) { return reinterpret_cast<Wrapper*>(self); }

PyObject* Call(PyObject* self, PyObject* const* args, size_t count, PyObject* keywords) {
  Wrapper* wrapper = AsWrapper(self);
  if (!On()) return PyObject_Vectorcall(wrapper->function, args, count, keywords);
  const uint64_t start = dbr_now();
  PyObject* result = PyObject_Vectorcall(wrapper->function, args, count, keywords);
  dbr_site_span(&wrapper->site->site, start);
  return result;
}

PyObject* Bind(PyObject* self, PyObject* object, PyObject*) {
  if (object == nullptr || object == Py_None) {
    Py_INCREF(self);
    return self;
  }
  return PyMethod_New(self, object);
}

PyObject* Reduce(PyObject* self, PyObject*) { return PyObject_GetAttrString(self, "__qualname__"); }

PyObject* Repr(PyObject* self) {
  return PyUnicode_FromFormat("<recorded %R>", AsWrapper(self)->function);
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(AsWrapper(self)->function);
  Py_VISIT(AsWrapper(self)->dict);
  return 0;
}

int Clear(PyObject* self) {
  Py_CLEAR(AsWrapper(self)->function);
  Py_CLEAR(AsWrapper(self)->dict);
  return 0;
}

void Free(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (AsWrapper(self)->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Clear(self);
  Py_XDECREF(AsWrapper(self)->site);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* Wrap(PyObject*, PyObject* args) {
  PyObject *function, *name;
  if (!PyArg_ParseTuple(args, "OO:wrap", &function, &name)) return nullptr;
  if (!PyCallable_Check(function)) {
    return PyErr_Format(PyExc_TypeError, "%.100s is not callable", Py_TYPE(function)->tp_name);
  }
  Site* site = SiteFor(name);
  if (site == nullptr) return nullptr;
  PyObject* self = wrapper_type->tp_alloc(wrapper_type, 0);
  if (self == nullptr) {
    Py_DECREF(site);
    return nullptr;
  }
  Py_INCREF(function);
  AsWrapper(self)->call = Call;
  AsWrapper(self)->function = function;
  AsWrapper(self)->site = site;
  return self;
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Wrapper, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Wrapper, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Wrapper, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};
PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyMethodDef methods[] = {{"__reduce__", Reduce, METH_NOARGS, "__reduce__($self, /)\n--\n\n"},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_descr_get, reinterpret_cast<void*>(Bind)},
                       {Py_tp_repr, reinterpret_cast<void*>(Repr)},
                       {Py_tp_traverse, reinterpret_cast<void*>(Traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(Clear)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(Free)},
                       {Py_tp_members, members},
                       {Py_tp_getset, attributes},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"debrief_recorder.Recorded", sizeof(Wrapper), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                        Py_TPFLAGS_METHOD_DESCRIPTOR,
                    slots};

PyMethodDef functions[] = {
    {"wrap", Wrap, METH_VARARGS,
     "wrap(function, name, /)\n--\n\nThe function with a span around each call; see recorded()."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool AddWrapper(PyObject* module) {
  wrapper_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return wrapper_type != nullptr && PyModule_AddType(module, wrapper_type) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace debrief::python
