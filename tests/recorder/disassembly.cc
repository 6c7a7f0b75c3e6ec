// Functions of different kinds, compiled with scopes (and ops), with scopes that are compiled out,
// and without: disassembly.py compares what the compiler made of them.
#ifdef WITHOUT
#define SCOPE(text) static_cast<void>(0)
#define OP(text, ...) static_cast<void>(0)
#else
#include "debrief/recorder.hpp"
#define SCOPE(text) DEBRIEF_SCOPE(text)
#define OP(text, ...) DEBRIEF_OP(text, __VA_ARGS__)
#endif

extern "C" {

int Work(int);

double LeafOfDoubles(double a, double b) {
  SCOPE("leaf of doubles");
  return a * b + a;
}

int LeafOfInts(int a, int b) {
  SCOPE("leaf of ints");
  return a * b + a;
}

void Counts(long* counter) {
  SCOPE("counts");
  __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST);
}

int Sum(const int* values, int count) {
  SCOPE("sum");
  int sum = 0;
  for (int i = 0; i < count; ++i) sum = sum * 31 + values[i];
  return sum;
}

int Calls(int a, int b) {
  SCOPE("calls");
  return Work(a) + b;
}

int Described(int rows, int columns) {
  OP("described", [rows, columns] {
    static thread_local uint64_t dims[2];
    static const dbr_shape shape = {dims, 2};
    dims[0] = static_cast<uint64_t>(rows);
    dims[1] = static_cast<uint64_t>(columns);
    return dbr_op_info{nullptr, 0, DBR_F32, &shape, 0};
  });
  return Work(rows) + columns;
}

}  // extern "C"
