// A transformer so small that a token takes a fraction of a millisecond, cut in two as tensor
// parallelism cuts it: each device has half of the inner columns, and an all_reduce adds up what
// the halves give. The weights are made up, always the same; the numbers are computed.
#pragma once

#include <array>
#include <barrier>
#include <vector>

inline constexpr int kDevices = 2;
inline constexpr int kLayers = 4;
inline constexpr int kWidth = 96;
inline constexpr int kInner = 192;  // of both devices together
inline constexpr int kVocabulary = 256;

// What the devices share: a place for each to put its part, and where they wait for each other.
struct Exchange {
  std::array<std::vector<float>, kDevices> parts;
  std::barrier<> arrived{kDevices}, taken{kDevices};
};

struct Matrix {
  int rows, columns;
  std::vector<float> values;
};

class Device {
 public:
  Device(int number, Exchange& exchange);

  // The token that follows; every device computes the same one.
  int Next(int token);
  size_t cached_values() const { return keys_.size() * kWidth; }

 private:
  void Layer(int layer, std::vector<float>& state);
  void Attend(std::vector<float>& state);
  void AllReduce(std::vector<float>& values);

  int number_;
  Exchange& exchange_;
  Matrix embedding_, output_;
  std::vector<Matrix> up_, down_;         // one of each a layer: this device's half
  std::vector<std::vector<float>> keys_;  // what it attends to, newest last
};
