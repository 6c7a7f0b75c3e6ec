// The functions that open, switch, copy and close the one recording of the process. What goes wrong
// is an OSError with the path, so that `except OSError` can go on without a recording.
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "binding.h"

namespace debrief::python {
namespace {

dbr_recording* recording;

PyObject* None() { Py_RETURN_NONE; }

// The errno of the call that failed must still be in place.
PyObject* OsError(PyObject* path) {
  const int error = errno;
  PyObject* text = PyUnicode_DecodeFSDefault(PyBytes_AsString(path));
  errno = error;
  if (text != nullptr) PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, text);
  Py_XDECREF(text);
  return nullptr;
}

PyObject* ErrorOf(dbr_status status, PyObject* path) {
  switch (status) {
    case DBR_BUSY:
      PyErr_SetString(PyExc_RuntimeError, "a recording is open already in this process");
      return nullptr;
    case DBR_CLOSED:
      PyErr_SetString(PyExc_RuntimeError, "no recording is open");
      return nullptr;
    case DBR_INVALID:
      return PyErr_Format(PyExc_ValueError, "not a path to record to: %R", path);
    default:
      return OsError(path);
  }
}

bool ReadPolicy(const char* text, uint32_t* policy) {
  *policy = strcmp(text, "stop") == 0 ? DBR_STOP : DBR_RING;
  if (*policy == DBR_STOP || strcmp(text, "ring") == 0) return true;
  PyErr_Format(PyExc_ValueError, "policy must be 'ring' or 'stop', not '%s'", text);
  return false;
}

PyObject* Open(PyObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"path",      "rank",   "world_size",   "process_name",
                                "max_bytes", "policy", "sync_seconds", nullptr};
  dbr_options options;
  dbr_options_init(&options);
  PyObject* bytes;
  unsigned long long max_bytes = options.max_bytes;
  const char* policy = "ring";
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O&|$iizKsI:open", const_cast<char**>(names),
                                   PyUnicode_FSConverter, &bytes, &options.rank,
                                   &options.world_size, &options.process_name, &max_bytes, &policy,
                                   &options.sync_seconds)) {
    return nullptr;
  }
  options.max_bytes = max_bytes;
  PyObject* result = nullptr;
  if (ReadPolicy(policy, &options.policy)) {
    dbr_status status;
    Py_BEGIN_ALLOW_THREADS;
    status = dbr_open(PyBytes_AsString(bytes), &options, &recording);
    Py_END_ALLOW_THREADS;
    result = status == DBR_OK ? None() : ErrorOf(status, bytes);
  }
  Py_DECREF(bytes);
  return result;
}

PyObject* Close(PyObject*, PyObject*) {
  dbr_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = dbr_close(recording);
  Py_END_ALLOW_THREADS;
  return PyBool_FromLong(status == DBR_OK);
}

PyObject* Enable(PyObject*, PyObject* on) {
  const int truth = PyObject_IsTrue(on);
  if (truth < 0) return nullptr;
  dbr_enable(recording, truth);
  Py_RETURN_NONE;
}

PyObject* IsOn(PyObject*, PyObject*) { return PyBool_FromLong(On()); }

PyObject* Snapshot(PyObject*, PyObject* path) {
  PyObject* bytes;
  if (!PyUnicode_FSConverter(path, static_cast<void*>(&bytes))) return nullptr;
  dbr_status status;
  Py_BEGIN_ALLOW_THREADS;
  status = dbr_snapshot(recording, PyBytes_AsString(bytes));
  Py_END_ALLOW_THREADS;
  PyObject* result = status == DBR_OK ? None() : ErrorOf(status, bytes);
  Py_DECREF(bytes);
  return result;
}

PyObject* GetLosses(PyObject*, PyObject*) {
  const dbr_losses losses = dbr_get_losses(recording);
  return Py_BuildValue("(KKKi)", static_cast<unsigned long long>(losses.overwritten),
                       static_cast<unsigned long long>(losses.dropped),
                       static_cast<unsigned long long>(losses.names), losses.stopped);
}

}  // namespace

PyMethodDef recording_functions[] = {
    {"open", AsCFunction(Open), METH_VARARGS | METH_KEYWORDS,
     "open(path, *, rank=-1, world_size=-1, process_name=None, max_bytes=67108864, policy='ring', "
     "sync_seconds=0)\n--\n\nOpens the recording of this process."},
    {"close", Close, METH_NOARGS, "close()\n--\n\nCloses it; whether one was open."},
    {"enable", Enable, METH_O, "enable(on, /)\n--\n\nSwitches recording off and on."},
    {"enabled", IsOn, METH_NOARGS, "enabled()\n--\n\nWhether records are taken now."},
    {"snapshot", Snapshot, METH_O,
     "snapshot(path, /)\n--\n\nCopies what was recorded so far while recording goes on."},
    {"losses", GetLosses, METH_NOARGS,
     "losses()\n--\n\n(overwritten, dropped, names, errno that ended growth)"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace debrief::python
