// An op of the model, in the recording from its begin on: the file of a killed process shows the op
// that each device was in. Its shapes are written when it ends.
#pragma once

#include <atomic>
#include <initializer_list>

#include "debrief/recorder.hpp"

enum OpKind { kEmbedding, kRmsNorm, kMatmul, kSoftmax, kAllReduce, kArgmax, kOpKinds };
inline constexpr const char* kOpNames[kOpKinds] = {"embedding", "rms_norm",   "matmul",
                                                   "softmax",   "all_reduce", "argmax"};

// Where this process is to end itself: in the n-th op of a kind.
struct Death {
  int kind = kOpKinds;  // none
  std::atomic<long> ops_before{0};
};
extern Death death;

// A matrix is {rows, columns}; ours have two dims at most, 0 columns is a vector.
struct Shape {
  uint64_t rows, columns = 0;
};

class ModelOp {
 public:
  ModelOp(OpKind kind, std::initializer_list<Shape> inputs, Shape output);
  ~ModelOp();
  ModelOp(const ModelOp&) = delete;
  ModelOp& operator=(const ModelOp&) = delete;

 private:
  static constexpr uint32_t kMaxInputs = 3;
  Shape shapes_[kMaxInputs + 1];  // the last is the output
  uint32_t input_count_;
};

// Looks the names of all ops up once; to be called when the recording is open.
void NameOps();
