// The functions that write one record each. Off they return before they look at their arguments.
#include "binding.h"

namespace debrief::python {
namespace {

PyObject* Now(PyObject*, PyObject*) { return PyLong_FromUnsignedLongLong(dbr_now()); }

PyObject* Name(PyObject*, PyObject* text) {
  dbr_id id;
  if (!PyUnicode_Check(text)) {
    return PyErr_Format(PyExc_TypeError, "name() takes a str, not %.100s", Py_TYPE(text)->tp_name);
  }
  return ReadName(text, &id) ? PyLong_FromUnsignedLong(id) : nullptr;
}

PyObject* Span(PyObject*, PyObject* args) {
  if (!On()) Py_RETURN_NONE;
  PyObject* name;
  unsigned long long start, end;
  dbr_id id;
  if (!PyArg_ParseTuple(args, "OKK:span", &name, &start, &end) || !ReadName(name, &id)) {
    return nullptr;
  }
  dbr_span(id, start, end);
  Py_RETURN_NONE;
}

PyObject* Begin(PyObject*, PyObject* name) {
  dbr_id id;
  if (!On()) Py_RETURN_NONE;
  if (!ReadName(name, &id)) return nullptr;
  dbr_begin(id);
  Py_RETURN_NONE;
}

PyObject* End(PyObject*, PyObject*) {
  dbr_end();
  Py_RETURN_NONE;
}

PyObject* Instant(PyObject*, PyObject* name) {
  dbr_id id;
  if (!On()) Py_RETURN_NONE;
  if (!ReadName(name, &id)) return nullptr;
  dbr_instant(id);
  Py_RETURN_NONE;
}

PyObject* Counter(PyObject*, PyObject* args) {
  if (!On()) Py_RETURN_NONE;
  PyObject* name;
  double value;
  dbr_id id;
  if (!PyArg_ParseTuple(args, "Od:counter", &name, &value) || !ReadName(name, &id)) return nullptr;
  dbr_counter(id, value);
  Py_RETURN_NONE;
}

PyObject* Flow(PyObject*, PyObject* args) {
  if (!On()) Py_RETURN_NONE;
  PyObject* name;
  int kind;
  unsigned long long flow;
  dbr_id id;
  if (!PyArg_ParseTuple(args, "OiK:flow", &name, &kind, &flow)) return nullptr;
  if (kind < DBR_FLOW_START || kind > DBR_FLOW_END) {
    PyErr_SetString(PyExc_ValueError, "kind must be FLOW_START, FLOW_STEP or FLOW_END");
    return nullptr;
  }
  if (!ReadName(name, &id)) return nullptr;
  dbr_flow(id, kind, flow);
  Py_RETURN_NONE;
}

// int, float or anything else as its text; bool is an int.
bool WriteNote(dbr_id key, PyObject* value) {
  if (PyFloat_Check(value)) {
    dbr_note_f64(key, PyFloat_AS_DOUBLE(value));
    return true;
  }
  if (PyLong_Check(value)) {
    const long long number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred()) return false;
    dbr_note_i64(key, number);
    return true;
  }
  PyObject* text = PyObject_Str(value);
  dbr_id id;
  const bool good = text != nullptr && ReadName(text, &id);
  if (good) dbr_note_str(key, id);
  Py_XDECREF(text);
  return good;
}

PyObject* Note(PyObject*, PyObject* args) {
  if (!On()) Py_RETURN_NONE;
  PyObject *key, *value;
  dbr_id id;
  if (!PyArg_ParseTuple(args, "OO:note", &key, &value) || !ReadName(key, &id)) return nullptr;
  if (!WriteNote(id, value)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* SetStep(PyObject*, PyObject* step) {
  if (!On()) Py_RETURN_NONE;
  const unsigned long long number = PyLong_AsUnsignedLongLong(step);
  if (number == ~0ULL && PyErr_Occurred()) return nullptr;
  dbr_set_step(number);
  Py_RETURN_NONE;
}

using MemoryRecord = void (*)(dbr_id device, uint64_t address, uint64_t bytes);

template <MemoryRecord kWrite>
PyObject* Memory(PyObject*, PyObject* args) {
  if (!On()) Py_RETURN_NONE;
  unsigned long long address, bytes;
  PyObject* device = Py_None;
  dbr_id id = 0;
  if (!PyArg_ParseTuple(args, "KK|O", &address, &bytes, &device)) return nullptr;
  if (device != Py_None && !ReadName(device, &id)) return nullptr;
  kWrite(id, address, bytes);
  Py_RETURN_NONE;
}

PyObject* Meta(PyObject*, PyObject* args) {
  const char *key, *value;
  if (!PyArg_ParseTuple(args, "ss:meta", &key, &value)) return nullptr;
  dbr_meta(key, value);
  Py_RETURN_NONE;
}

PyObject* SetDevice(PyObject*, PyObject* device) {
  dbr_id id = 0;
  if (device != Py_None && !ReadName(device, &id)) return nullptr;
  dbr_set_device(id);
  Py_RETURN_NONE;
}

PyObject* ThreadName(PyObject*, PyObject* name) {
  dbr_id id;
  if (!ReadName(name, &id)) return nullptr;
  dbr_thread_name(id);
  Py_RETURN_NONE;
}

}  // namespace

PyMethodDef record_functions[] = {
    {"now", Now, METH_NOARGS, "now()\n--\n\nThe recording's clock, in ticks, for span()."},
    {"name", Name, METH_O,
     "name(text, /)\n--\n\nThe id of a name in this recording: cheaper than the text where one is "
     "recorded often."},
    {"span", Span, METH_VARARGS,
     "span(name, start, end, /)\n--\n\nOne span, from and to times that now() gave."},
    {"begin", Begin, METH_O, "begin(name, /)\n--\n\nBegins what end() ends; in the file at once."},
    {"end", End, METH_NOARGS, "end()\n--\n\nEnds what this thread began last."},
    {"instant", Instant, METH_O, "instant(name, /)\n--\n\nSomething that took no time."},
    {"counter", Counter, METH_VARARGS,
     "counter(name, value, /)\n--\n\nThe value of a counter from now on."},
    {"flow", Flow, METH_VARARGS,
     "flow(name, kind, id, /)\n--\n\nAn arrow between threads: FLOW_START, FLOW_STEP, FLOW_END "
     "with the same id."},
    {"note", Note, METH_VARARGS,
     "note(key, value, /)\n--\n\nSomething about the innermost span that is open: an int, a float, "
     "or the text of anything else."},
    {"set_step", SetStep, METH_O,
     "set_step(step, /)\n--\n\nThe process is in this step from now on."},
    {"alloc", Memory<dbr_alloc>, METH_VARARGS,
     "alloc(address, nbytes, device=None, /)\n--\n\nMemory that was taken."},
    {"free", Memory<dbr_free>, METH_VARARGS,
     "free(address, nbytes, device=None, /)\n--\n\nMemory that was given back."},
    {"meta", Meta, METH_VARARGS, "meta(key, value, /)\n--\n\nA fact about the run."},
    {"set_device", SetDevice, METH_O,
     "set_device(device, /)\n--\n\nThe device of this thread's records from here on; None: none."},
    {"thread_name", ThreadName, METH_O, "thread_name(name, /)\n--\n\nWhat this thread is called."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace debrief::python
