// What several passes need: tables by rank, counters, the rank of an event.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "accel/pass.h"

namespace debrief::accel {

// A T for each key, in the order of first sight.
template <typename T>
class ByValue {
 public:
  T& operator[](const Value& key) {
    if (last_ < entries_.size() && entries_[last_].first == key) return entries_[last_].second;
    const auto [at, is_new] = index_.try_emplace(key, entries_.size());
    if (is_new) entries_.emplace_back(key, T());
    last_ = at->second;
    return entries_[last_].second;
  }
  T* Find(const Value& key) {
    const auto at = index_.find(key);
    return at == index_.end() ? nullptr : &entries_[at->second].second;
  }

  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<std::pair<Value, T>> entries_;
  std::unordered_map<Value, size_t, ValueHash> index_;
  size_t last_ = SIZE_MAX;  // events of a rank come in runs
};

// Which counter, and the name of its one value.
struct CounterName {
  StringId name = StringId::kNone;
  StringId cat = StringId::kNone;
  StringId value = StringId::kNone;
};

Event MakeCounter(const CounterName& counter, const Value& pid, double ts, double value, Run& run);

// A flow of two events, `s` and `f`, is drawn as an arrow between two slices.
Event MakeFlowEnd(char phase, StringId name, const Value& id, const Event& slice, double ts,
                  Run& run);

// Integer argument, also when it is written as a string.
std::optional<int64_t> IntegerArg(const Event& event, StringId key, const Run& run,
                                  ArgPlace place = ArgPlace::kArgs);

// The rank that recorded the event: args.rank, and where there is none the pid.
Value RankOf(const Event& event);

// Numbers first, in their order; then texts.
bool PidBefore(const Value& a, const Value& b, const StringPool& strings);

}  // namespace debrief::accel
