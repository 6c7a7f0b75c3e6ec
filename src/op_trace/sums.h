// The formulas: ops added up by name and by device, whoever holds the ops.
//
// A trace in memory and the tables of debrief both give their ops one by one as OpFacts; what is
// kept is a sum a name and eight bytes an op for percentiles, and sixteen an op for busy times.
// Names must outlive the sums.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "debrief/op_trace.hpp"

namespace debrief::op_trace {

// Of ASCII, whatever the locale.
inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }

struct OpFacts {
  std::string_view operation;
  std::optional<std::string_view> device;
  std::optional<int64_t> duration_ns;  // none: not known, counts as nothing
  int64_t self_ns = 0;
  uint64_t bytes = 0;
  std::optional<int64_t> start_ns;
};

OpFacts FactsOf(const Entry& entry, int64_t self_ns);

// Sums that absurd numbers cannot turn around: they stay the largest there is. kReference wraps.
void AddTo(int64_t& sum, int64_t number);
void AddTo(uint64_t& sum, uint64_t number, Behaviour behaviour = Behaviour::kCorrect);

// 0 of none.
double MeanOf(int64_t sum, uint64_t count);

class OpSums {
 public:
  explicit OpSums(Behaviour behaviour = Behaviour::kCorrect) : behaviour_(behaviour) {}
  void Add(const OpFacts& op);

  // In order of name. The percentiles are durations that occurred: at least p percent of the calls
  // took no longer.
  std::vector<OpSummary> Rows() const;

 private:
  struct Sum {
    uint64_t count = 0;
    int64_t duration_ns = 0, self_ns = 0;
    uint64_t bytes = 0;
    std::vector<int64_t> durations;
  };
  Behaviour behaviour_;
  std::unordered_map<std::string_view, Sum> sums_;
};

// At least `percent` of the values are no larger; 0 of none. Reorders them.
int64_t Percentile(std::vector<int64_t>& values, unsigned percent);

using Interval = std::pair<int64_t, int64_t>;  // begin, end
// Moments that at least one interval covers.
int64_t UnionOf(std::vector<Interval>& intervals);

class DeviceSums {
 public:
  explicit DeviceSums(Behaviour behaviour = Behaviour::kCorrect) : behaviour_(behaviour) {}
  void Add(const OpFacts& op);  // those without a device are passed over

  // Devices in natural order; kReference: in the order of their bytes.
  std::vector<DeviceSummary> Rows() const;

 private:
  struct Sum {
    uint64_t count = 0;
    int64_t duration_ns = 0;
    uint64_t bytes = 0;
    std::vector<Interval> intervals;
  };
  Behaviour behaviour_;
  std::unordered_map<std::string_view, Sum> sums_;
};

// None for fewer than two devices.
std::optional<LoadBalance> BalanceOf(const std::vector<DeviceSummary>& devices);

// The rows of OpSums that are communication and take `min_ratio` of `op_time_ns` or more, longest
// first, ties by name.
std::vector<CommunicationShare> CommunicationOf(const std::vector<OpSummary>& ops,
                                                int64_t op_time_ns, double min_ratio,
                                                Behaviour behaviour);

// Digits count by their value: "gpu:2" before "gpu:10".
bool NaturallyBefore(std::string_view a, std::string_view b);

}  // namespace debrief::op_trace
