// Names of scopes. A table keeps one site for each name, up to a bound: a program that makes up
// names for ever pays for a lookup each time, and not with its memory.
#include <string.h>

#include "binding.h"

namespace debrief::python {
namespace {

constexpr Py_ssize_t kMaxShared = 1 << 16;

PyTypeObject* site_type;
PyObject* shared;  // str -> Site

void Free(PyObject* self) {
  auto* site = reinterpret_cast<Site*>(self);
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(site->text);
  Py_XDECREF(site->bytes);
  type->tp_free(self);
  Py_DECREF(type);
}

Site* MakeSite(PyObject* text) {
  // Names of files can hold what is no UTF-8; a recorder is no reason to fail for that.
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  if (bytes == nullptr) return nullptr;
  const char* chars = PyBytes_AsString(bytes);
  auto* site = strlen(chars) == static_cast<size_t>(PyBytes_Size(bytes))
                   ? PyObject_New(Site, site_type)
                   : nullptr;
  if (site == nullptr) {
    if (!PyErr_Occurred()) {
      PyErr_SetString(PyExc_ValueError, "a name must not contain a null character");
    }
    Py_DECREF(bytes);
    return nullptr;
  }
  Py_INCREF(text);
  site->text = text;
  site->bytes = bytes;
  site->site = {chars, 0};
  return site;
}

}  // namespace

Site* SiteFor(PyObject* text) {
  if (!PyUnicode_Check(text)) {
    PyErr_Format(PyExc_TypeError, "a name must be a str, not %.100s", Py_TYPE(text)->tp_name);
    return nullptr;
  }
  PyObject* found = PyDict_GetItemWithError(shared, text);
  if (found != nullptr || PyErr_Occurred()) {
    Py_XINCREF(found);
    return reinterpret_cast<Site*>(found);
  }
  Site* made = MakeSite(text);
  if (made != nullptr && PyDict_Size(shared) < kMaxShared &&
      PyDict_SetItem(shared, text, reinterpret_cast<PyObject*>(made)) != 0) {
    Py_CLEAR(made);
  }
  return made;
}

bool AddSite() {
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(Free)}, {0, nullptr}};
  static PyType_Spec spec = {"debrief_recorder._recorder._Site", sizeof(Site), 0,
                             Py_TPFLAGS_DEFAULT, slots};
  site_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  shared = PyDict_New();
  return site_type != nullptr && shared != nullptr;
}

}  // namespace debrief::python
