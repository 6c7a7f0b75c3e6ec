// scope(name): a span around a `with` block.
//
// A scope may be entered again before it was left, also by other threads: it keeps the start of
// each entry with its thread, and leaving takes the newest of the own thread. A block that is left
// on another thread than it was entered on (a generator that is closed elsewhere) takes the newest
// of all. Cost: two clock reads, one record of 24 bytes, and what Python needs to call two methods.
#include <string.h>

#include "binding.h"

namespace debrief::python {
namespace {

struct Entry {
  unsigned long thread;
  uint64_t start;  // 0: it was off
};

struct Scope {
  PyObject_HEAD;
  Site* site;
  Entry* entries;  // `few` until they are too many
  uint32_t count, capacity;
  Entry few[2];
};

PyTypeObject* scope_type;

Scope* AsScope(PyObject* self) { return reinterpret_cast<Scope*>(self); }

bool Grow(Scope* scope) {
  const uint32_t capacity = scope->capacity * 2;
  auto* grown = static_cast<Entry*>(PyMem_Malloc(capacity * sizeof(Entry)));
  if (grown == nullptr) return false;
  memcpy(grown, scope->entries, scope->count * sizeof(Entry));
  if (scope->entries != scope->few) PyMem_Free(scope->entries);
  scope->entries = grown;
  scope->capacity = capacity;
  return true;
}

// The start of the entry that is left now; 0 when there is none.
uint64_t TakeStart(Scope* scope) {
  if (scope->count == 0) return 0;
  const unsigned long thread = PyThread_get_thread_ident();
  uint32_t at = scope->count - 1;
  while (at != 0 && scope->entries[at].thread != thread) --at;
  if (scope->entries[at].thread != thread) at = scope->count - 1;
  const uint64_t start = scope->entries[at].start;
  --scope->count;
  memmove(scope->entries + at, scope->entries + at + 1, (scope->count - at) * sizeof(Entry));
  return start;
}

PyObject* Enter(PyObject* self, PyObject*) {
  Scope* scope = AsScope(self);
  if (scope->count == scope->capacity && !Grow(scope)) return PyErr_NoMemory();
  scope->entries[scope->count++] = {PyThread_get_thread_ident(), On() ? dbr_now() : 0};
  Py_INCREF(self);
  return self;
}

PyObject* Exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  const uint64_t start = TakeStart(AsScope(self));
  if (start != 0) dbr_site_span(&AsScope(self)->site->site, start);
  Py_RETURN_NONE;
}

PyObject* Make(PyTypeObject* type, PyObject* name) {
  Site* site = SiteFor(name);
  if (site == nullptr) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) {
    Py_DECREF(site);
    return nullptr;
  }
  Scope* scope = AsScope(self);
  scope->site = site;
  scope->entries = scope->few;
  scope->capacity = sizeof scope->few / sizeof scope->few[0];
  return self;
}

PyObject* New(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"name", nullptr};
  PyObject* name;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Scope", const_cast<char**>(names), &name)) {
    return nullptr;
  }
  return Make(type, name);
}

PyObject* MakeScope(PyObject*, PyObject* name) { return Make(scope_type, name); }

void Free(PyObject* self) {
  Scope* scope = AsScope(self);
  PyTypeObject* type = Py_TYPE(self);
  if (scope->entries != scope->few) PyMem_Free(scope->entries);
  Py_XDECREF(scope->site);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* Name(PyObject* self, void*) {
  Py_INCREF(AsScope(self)->site->text);
  return AsScope(self)->site->text;
}

PyObject* Repr(PyObject* self) {
  return PyUnicode_FromFormat("scope(%R)", AsScope(self)->site->text);
}

PyMethodDef methods[] = {
    {"__enter__", Enter, METH_NOARGS, "__enter__($self, /)\n--\n\n"},
    {"__exit__", AsCFunction(Exit), METH_FASTCALL, "__exit__($self, /, *error)\n--\n\n"},
    {nullptr, nullptr, 0, nullptr}};
PyGetSetDef attributes[] = {{"name", Name, nullptr, "what the spans are called", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot slots[] = {
    {Py_tp_doc,
     const_cast<char*>(
         "Scope(name)\n--\n\nA span around a `with` block, to be used any number of times.")},
    {Py_tp_new, reinterpret_cast<void*>(New)},
    {Py_tp_dealloc, reinterpret_cast<void*>(Free)},
    {Py_tp_repr, reinterpret_cast<void*>(Repr)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr}};
PyType_Spec spec = {"debrief_recorder.Scope", sizeof(Scope), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

PyMethodDef functions[] = {{"scope", MakeScope, METH_O,
                            "scope(name, /)\n--\n\nA span around a `with` block; it may be kept "
                            "and used any number of times."},
                           {nullptr, nullptr, 0, nullptr}};

}  // namespace

bool AddScope(PyObject* module) {
  scope_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return scope_type != nullptr && PyModule_AddType(module, scope_type) == 0 &&
         PyModule_AddFunctions(module, functions) == 0;
}

}  // namespace debrief::python
