#include "model.h"

#include <algorithm>
#include <cmath>

#include "recorded_op.h"

namespace {

constexpr size_t kContext = 64;

Matrix MakeMatrix(int rows, int columns, uint32_t seed) {
  Matrix matrix{rows, columns, std::vector<float>(static_cast<size_t>(rows) * columns)};
  for (float& value : matrix.values) {
    seed = seed * 1664525 + 1013904223;
    value = (static_cast<float>(seed >> 8) / 8388608.0f - 1.0f) /
            std::sqrt(static_cast<float>(columns));
  }
  return matrix;
}

Shape ShapeOf(const Matrix& matrix) {
  return {static_cast<uint64_t>(matrix.rows), static_cast<uint64_t>(matrix.columns)};
}

std::vector<float> Matmul(const Matrix& matrix, const std::vector<float>& vector) {
  const ModelOp op(kMatmul, {ShapeOf(matrix), {vector.size()}}, {ShapeOf(matrix).rows});
  std::vector<float> result(static_cast<size_t>(matrix.rows));
  for (size_t row = 0; row < result.size(); ++row) {
    const float* weights = matrix.values.data() + row * vector.size();
    for (size_t i = 0; i < vector.size(); ++i) result[row] += weights[i] * vector[i];
  }
  return result;
}

void RmsNorm(std::vector<float>& values) {
  const ModelOp op(kRmsNorm, {{values.size()}}, {values.size()});
  float squares = 1e-6f;
  for (const float value : values) squares += value * value;
  const float scale = std::sqrt(static_cast<float>(values.size()) / squares);
  for (float& value : values) value *= scale;
}

void Softmax(std::vector<float>& values) {
  const ModelOp op(kSoftmax, {{values.size()}}, {values.size()});
  const float top = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (float& value : values) sum += value = std::exp(value - top);
  for (float& value : values) value /= sum;
}

int Argmax(const std::vector<float>& values) {
  const ModelOp op(kArgmax, {{values.size()}}, {1});
  return static_cast<int>(std::max_element(values.begin(), values.end()) - values.begin());
}

}  // namespace

Device::Device(int number, Exchange& exchange)
    : number_(number),
      exchange_(exchange),
      embedding_(MakeMatrix(kVocabulary, kWidth, 1)),
      output_(MakeMatrix(kVocabulary, kWidth, 2)) {
  for (int layer = 0; layer < kLayers; ++layer) {
    const auto seed = static_cast<uint32_t>(100 + layer * kDevices + number);
    up_.push_back(MakeMatrix(kInner / kDevices, kWidth, seed));
    down_.push_back(MakeMatrix(kWidth, kInner / kDevices, seed + 1000));
  }
}

int Device::Next(int token) {
  std::vector<float> state(kWidth);
  {
    const ModelOp op(kEmbedding, {ShapeOf(embedding_), {1}}, {kWidth});
    std::copy_n(embedding_.values.begin() + token * kWidth, kWidth, state.begin());
  }
  keys_.push_back(state);
  if (keys_.size() > kContext) keys_.erase(keys_.begin());
  for (int layer = 0; layer < kLayers; ++layer) Layer(layer, state);
  RmsNorm(state);
  return Argmax(Matmul(output_, state));
}

void Device::Layer(int layer, std::vector<float>& state) {
  DEBRIEF_SCOPE("layer");
  Attend(state);
  std::vector<float> inner = state;
  RmsNorm(inner);
  inner = Matmul(up_[static_cast<size_t>(layer)], inner);
  for (float& value : inner) value = std::max(value, 0.0f);
  std::vector<float> part = Matmul(down_[static_cast<size_t>(layer)], inner);
  AllReduce(part);
  for (size_t i = 0; i < state.size(); ++i) state[i] += part[i];
}

void Device::Attend(std::vector<float>& state) {
  DEBRIEF_SCOPE("attention");
  std::vector<float> scores(keys_.size());
  for (size_t at = 0; at < scores.size(); ++at) {
    for (size_t i = 0; i < state.size(); ++i) scores[at] += keys_[at][i] * state[i];
  }
  Softmax(scores);
  for (size_t at = 0; at < scores.size(); ++at) {
    for (size_t i = 0; i < state.size(); ++i) state[i] += scores[at] * keys_[at][i];
  }
}

void Device::AllReduce(std::vector<float>& values) {
  const ModelOp op(kAllReduce, {{values.size()}}, {values.size()});
  exchange_.parts[static_cast<size_t>(number_)] = values;
  exchange_.arrived.arrive_and_wait();
  std::fill(values.begin(), values.end(), 0.0f);
  for (const std::vector<float>& part : exchange_.parts) {
    for (size_t i = 0; i < values.size(); ++i) values[i] += part[i];
  }
  exchange_.taken.arrive_and_wait();
}
