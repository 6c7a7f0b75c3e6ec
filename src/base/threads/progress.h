// How work tells the user that it goes on, and asks the time, without knowing of terminals or
// clocks. app/ passes in the real ones, tests pass in fakes; nothing below app/ prints or reads a
// clock.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief {

enum class ProgressUnit : uint8_t { kSteps, kBytes };

class Progress {
 public:
  virtual ~Progress() = default;
  // A new stage of `total` steps or bytes (0: not known), for example "analyse", 36.
  virtual void Begin(std::string_view stage, uint64_t total, ProgressUnit unit) = 0;
  void Begin(std::string_view stage, uint64_t total) { Begin(stage, total, ProgressUnit::kSteps); }
  // How much of the stage is done in all. Any thread may call.
  virtual void Step(uint64_t done) = 0;
  virtual void End() = 0;
};

// Shows nothing.
class NoProgress final : public Progress {
 public:
  using Progress::Begin;
  void Begin(std::string_view, uint64_t, ProgressUnit) override {}
  void Step(uint64_t) override {}
  void End() override {}
};

class Clock {
 public:
  virtual ~Clock() = default;
  // Nanoseconds since 1970, UTC.
  virtual int64_t NowNs() const = 0;
};

}  // namespace debrief
