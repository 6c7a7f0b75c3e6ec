// How work tells the user that it goes on, and asks the time, without knowing of terminals or
// clocks. app/ passes in the real ones, tests pass in fakes; nothing below app/ prints or reads a
// clock.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief {

class Progress {
 public:
  virtual ~Progress() = default;
  // A new stage of `total` steps (0: not known), for example "import", 512. Any thread may call
  // Step.
  virtual void Begin(std::string_view stage, uint64_t total) = 0;
  virtual void Step(uint64_t done) = 0;
  virtual void End() = 0;
};

// Says nothing.
class NoProgress final : public Progress {
 public:
  void Begin(std::string_view, uint64_t) override {}
  void Step(uint64_t) override {}
  void End() override {}
};

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since 1970, UTC.
  virtual int64_t NowNs() const = 0;
};

// Always the same time: goldens stay stable.
class FixedClock final : public Clock {
 public:
  explicit FixedClock(int64_t now_ns) : now_ns_(now_ns) {}
  int64_t NowNs() const override { return now_ns_; }

 private:
  int64_t now_ns_;
};

}  // namespace debrief
