// Flex traces for the analyses of accelerators, through the importer.
//
//   FlexBuilder flex;
//   flex.AddKernel("bmm", 100, 50);          at 100 us for 50 us, at 560 MHz
//   Model model = flex.Build();
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "unit/inputs/input_helpers.h"

namespace debrief {

class FlexBuilder {
 public:
  double mhz = 560;
  int pid = 5;             // the rank that ImportBytes imports as
  double host_shift = 0;   // us that the host's times are off by
  double host_factor = 1;  // of durations by the host
  int64_t first_cycle = 1000;

  void AddKernel(std::string_view name, double start_us, double duration_us) {
    AddEvent(fmt::format("{} Cmpt Exec", name), start_us, duration_us, 2, "");
  }
  void AddPrep(std::string_view name, double start_us, double duration_us) {
    AddEvent(fmt::format("{} Cmpt Prep", name), start_us, duration_us, 1, "");
  }
  void AddTransfer(std::string_view name, std::string_view collective, double start_us,
                   double duration_us, int64_t bytes = 4096) {
    AddEvent(fmt::format("{} DmaO", name), start_us, duration_us, 3,
             fmt::format(R"(,"CollGroup":"{}","Bytes":"{}","Peer":"1")", collective, bytes));
  }
  void AddHost(std::string_view name, double start_us, double duration_us) {
    Add(fmt::format(R"({{"name":"{}","ph":"X","pid":{},"tid":900,"ts":{},"dur":{}}})", name, pid,
                    start_us, duration_us));
  }

  std::string Text() const { return "[" + events_ + "]"; }
  Model Build() const {
    Model model;
    model.Append(testing::ImportBytes("flex", Text(), 1 << 20));
    return model;
  }

 private:
  // `phase`: index of the stamp at which the event begins.
  void AddEvent(const std::string& name, double start_us, double duration_us, size_t phase,
                const std::string& more) {
    auto cycle = [&](double us) { return first_cycle + std::llround(us * mhz); };
    std::string attr;
    for (size_t i = 0; i < 5; ++i)
      attr += fmt::format(R"("TS{}":"{}",)", i + 1,
                          cycle(i <= phase ? start_us : start_us + duration_us) & 0xffffffff);
    double host_duration = duration_us * host_factor;
    double host_start = start_us + duration_us - host_duration + host_shift;
    Add(fmt::format(R"({{"attr":{{{}"Power":"1"{}}},"name":"{}","ph":"X","pid":{},"tid":{},)"
                    R"("ts":{:.3f},"dur":{:.3f}}})",
                    attr, more, name, pid, phase, host_start, host_duration));
  }
  void Add(const std::string& event) { events_ += (events_.empty() ? "" : ",\n") + event; }

  std::string events_;
};

}  // namespace debrief
