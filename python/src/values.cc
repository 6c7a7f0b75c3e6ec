// Python objects as the numbers of recorder.h: names, shapes, dtypes.
#include <string.h>

#include "binding.h"

namespace debrief::python {
namespace {

struct NamedDtype {
  const char* name;
  dbr_dtype dtype;
};

constexpr NamedDtype kDtypes[] = {{"bool", DBR_BOOL},
                                  {"uint8", DBR_U8},
                                  {"int8", DBR_I8},
                                  {"int16", DBR_I16},
                                  {"short", DBR_I16},
                                  {"int32", DBR_I32},
                                  {"int", DBR_I32},
                                  {"int64", DBR_I64},
                                  {"long", DBR_I64},
                                  {"float16", DBR_F16},
                                  {"half", DBR_F16},
                                  {"bfloat16", DBR_BF16},
                                  {"float32", DBR_F32},
                                  {"float", DBR_F32},
                                  {"float64", DBR_F64},
                                  {"double", DBR_F64},
                                  {"complex64", DBR_C64},
                                  {"complex128", DBR_C128},
                                  {"float8_e4m3fn", DBR_F8_E4M3},
                                  {"float8_e4m3fnuz", DBR_F8_E4M3},
                                  {"float8_e5m2", DBR_F8_E5M2},
                                  {"float8_e5m2fnuz", DBR_F8_E5M2}};

constexpr Py_ssize_t kMaxKnown = 256;
PyObject* known_dtypes;  // object -> int: str() of a dtype costs more than everything else here

bool IsTold(PyObject* object) { return object != nullptr && object != Py_None; }

// "torch.float32" and "float32" are the same.
dbr_dtype DtypeNamed(const char* text) {
  const char* dot = strrchr(text, '.');
  const char* name = dot != nullptr ? dot + 1 : text;
  for (const NamedDtype& known : kDtypes) {
    if (strcmp(known.name, name) == 0) return known.dtype;
  }
  return DBR_DTYPE_UNKNOWN;
}

bool LookUpDtype(PyObject* object, uint32_t* dtype) {
  PyObject* text = PyObject_Str(object);
  const char* chars = text != nullptr ? PyUnicode_AsUTF8(text) : nullptr;
  if (chars != nullptr) *dtype = DtypeNamed(chars);
  Py_XDECREF(text);
  if (chars == nullptr) return false;
  if (PyDict_Size(known_dtypes) >= kMaxKnown) return true;
  PyObject* number = PyLong_FromUnsignedLong(*dtype);
  const bool kept = number != nullptr && PyDict_SetItem(known_dtypes, object, number) == 0;
  Py_XDECREF(number);
  return kept;
}

bool ReadDtype(PyObject* object, uint32_t* dtype) {
  if (known_dtypes == nullptr) known_dtypes = PyDict_New();
  if (known_dtypes == nullptr) return false;
  PyObject* number = PyDict_GetItemWithError(known_dtypes, object);
  if (number == nullptr) return !PyErr_Occurred() && LookUpDtype(object, dtype);
  *dtype = static_cast<uint32_t>(PyLong_AsUnsignedLong(number));
  return true;
}

bool ReadDim(PyObject* object, uint64_t* dim) {
  PyObject* index = PyNumber_Index(object);
  if (index == nullptr) return false;
  const unsigned long long value = PyLong_AsUnsignedLongLong(index);
  Py_DECREF(index);
  *dim = value;
  return !(value == ~0ULL && PyErr_Occurred());
}

bool ReadText(PyObject* text, dbr_id* id) {
  PyObject* bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
  if (bytes == nullptr) return false;
  *id = dbr_name(PyBytes_AsString(bytes), static_cast<size_t>(PyBytes_Size(bytes)));
  Py_DECREF(bytes);
  return true;
}

}  // namespace

bool ReadName(PyObject* name, dbr_id* id) {
  if (PyUnicode_Check(name)) {
    Py_ssize_t size;
    const char* text = PyUnicode_AsUTF8AndSize(name, &size);
    if (text != nullptr) *id = dbr_name(text, static_cast<size_t>(size));
    if (text != nullptr) return true;
    PyErr_Clear();
    return ReadText(name, id);
  }
  if (!PyLong_Check(name)) {
    PyErr_Format(PyExc_TypeError, "a name must be a str or an id that name() gave, not %.100s",
                 Py_TYPE(name)->tp_name);
    return false;
  }
  const unsigned long value = PyLong_AsUnsignedLong(name);
  if (value == ~0UL && PyErr_Occurred()) return false;
  *id = static_cast<dbr_id>(value);
  return true;
}

OpShapes::~OpShapes() {
  if (inputs_ != few_inputs_) PyMem_Free(inputs_);
  if (dims_ != few_dims_) PyMem_Free(dims_);
}

bool OpShapes::Read(PyObject* inputs, PyObject* output, PyObject* dtype, uint64_t bytes) {
  info_.bytes = bytes;
  if (IsTold(inputs) && !ReadInputs(inputs)) return false;
  if (IsTold(output) && !ReadShape(output, &output_)) return false;
  if (IsTold(dtype) && !ReadDtype(dtype, &info_.dtype)) return false;
  const uint64_t* dims = dims_;
  for (uint32_t i = 0; i < info_.input_count; ++i) {
    inputs_[i].dims = dims;
    dims += inputs_[i].rank;
  }
  output_.dims = dims;
  info_.inputs = inputs_;
  info_.output = IsTold(output) ? &output_ : nullptr;
  return true;
}

bool OpShapes::ReadInputs(PyObject* object) {
  PyObject* items = PySequence_Fast(object, "inputs must be a sequence of shapes");
  if (items == nullptr) return false;
  const auto count = static_cast<size_t>(PySequence_Fast_GET_SIZE(items));
  if (count > kFewInputs) inputs_ = PyMem_New(dbr_shape, count);
  bool good = inputs_ != nullptr || PyErr_NoMemory() != nullptr;
  // A shape is an object of the caller's, whose code may shorten the list meanwhile.
  for (size_t i = 0; good && i < count; ++i) {
    good = i < static_cast<size_t>(PySequence_Fast_GET_SIZE(items)) &&
           ReadShape(PySequence_Fast_GET_ITEM(items, i), &inputs_[i]);
  }
  if (!good && !PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "inputs changed in size");
  info_.input_count = static_cast<uint32_t>(count);
  Py_DECREF(items);
  return good;
}

bool OpShapes::ReadShape(PyObject* object, dbr_shape* shape) {
  PyObject* items = PySequence_Fast(object, "a shape must be a sequence of ints");
  if (items == nullptr) return false;
  const size_t before = dim_count_;
  bool good = true;
  for (Py_ssize_t i = 0; good && i < PySequence_Fast_GET_SIZE(items); ++i) {
    good = AddDim(PySequence_Fast_GET_ITEM(items, i));
  }
  shape->rank = static_cast<uint32_t>(dim_count_ - before);
  Py_DECREF(items);
  return good;
}

bool OpShapes::AddDim(PyObject* object) {
  uint64_t dim;
  if (!ReadDim(object, &dim)) return false;
  if (dim_count_ == dim_room_) {
    uint64_t* grown = PyMem_New(uint64_t, dim_room_ * 2);
    if (grown == nullptr) return PyErr_NoMemory() != nullptr;
    memcpy(grown, dims_, dim_count_ * sizeof *dims_);
    if (dims_ != few_dims_) PyMem_Free(dims_);
    dims_ = grown;
    dim_room_ *= 2;
  }
  dims_[dim_count_++] = dim;
  return true;
}

}  // namespace debrief::python
