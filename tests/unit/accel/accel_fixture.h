// A run without files: events are made by hand, passes are called, the console is kept.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accel/stages/stages.h"
#include "unit/accel/fixture.h"

namespace debrief::accel {

class AccelTest : public ::testing::Test {
 protected:
  AccelTest() {
    options_.output = "out.json";
    AddJob("job_0.json", Dialect::kFlex);
  }

  uint32_t AddJob(std::string name, Dialect dialect) {
    Job job;
    job.path = job.base_name = std::move(name);
    job.dialect = dialect;
    job.number = static_cast<int64_t>(run_.jobs.size());
    run_.jobs.push_back(job);
    return static_cast<uint32_t>(run_.jobs.size() - 1);
  }

  Event& Slice(std::string_view name, double ts, double dur, int64_t pid = 0, uint32_t job = 0) {
    Event& event = events_.emplace_back();
    event.name = run_.Intern(name);
    event.ts = ts;
    event.dur = dur;
    event.has_dur = event.has_args = true;
    event.pid = Value::Integer(pid);
    event.tid = Value::Integer(1);
    event.job = job;
    return event;
  }

  // With stamps: cycles of 1 MHz, so that a cycle is a microsecond.
  Event& DeviceSlice(std::string_view name, double ts, double dur, int64_t pid = 0) {
    Event& event = Slice(name, ts, dur, pid);
    const double at[5] = {ts - 2, ts - 1, ts, ts + dur, ts + dur + 1};
    constexpr StringId kKeys[5] = {key::kTS1, key::kTS2, key::kTS3, key::kTS4, key::kTS5};
    Stamps stamps;
    stamps.has_all = true;
    for (int i = 0; i < 5; ++i) {
      run_.args.Set(event, kKeys[i], Value::DecimalText(static_cast<int64_t>(at[i])));
      stamps.all[i] = at[i];
    }
    event.stamps = static_cast<uint32_t>(run_.stamps.size());
    run_.stamps.push_back(stamps);
    return event;
  }

  void Set(Event& event, std::string_view key, const Value& value) {
    run_.args.Set(event, run_.Intern(key), value);
  }
  void SetText(Event& event, std::string_view key, std::string_view text) {
    Set(event, key, Value::Text(run_.Intern(text)));
  }

  std::string Text(const Event& event, std::string_view key) {
    const Arg* arg = event.Find(run_.Intern(key));
    return arg == nullptr ? "" : arg->value().AsText(run_.strings);
  }

  std::vector<Event> Named(std::string_view name) {
    std::vector<Event> found;
    for (const Event& event : events_) {
      if (run_.Text(event.name) == name) found.push_back(event);
    }
    return found;
  }

  std::vector<Event> OfPhase(char phase) {
    std::vector<Event> found;
    for (const Event& event : events_) {
      if (event.phase == phase) found.push_back(event);
    }
    return found;
  }

  std::string SideText(std::string_view path) const {
    for (const SideFile& file : run_.side_files) {
      if (file.path == path) return file.text;
    }
    return "";
  }

  Options options_;
  LineConsole console_;
  ThreadPool threads_{1};
  accel::Run run_{options_, console_, threads_};
  EventList events_;
};

}  // namespace debrief::accel
