// A run without files: events from JSON, passes, and the console's lines kept.
#pragma once

#include <string>
#include <vector>

#include "accel/ingest/fold_pairs.h"
#include "accel/ingest/read_trace.h"
#include "accel/run.h"

namespace debrief::accel {

class LineConsole final : public Console {
 public:
  void Line(Level level, std::string_view text) override {
    lines.emplace_back(text);
    if (level <= Level::kWarning) ++troubles;
  }
  bool Has(std::string_view part) const {
    for (const std::string& line : lines) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }

  std::vector<std::string> lines;
  int troubles = 0;
};

struct Fixture {
  explicit Fixture(Options given = {}) : options(std::move(given)), run(options, console, pool) {
    run.jobs.push_back({.path = "a.json", .base_name = "a.json", .name = run.Intern("a.json")});
  }

  // Events of a bare list; every event belongs to the one job.
  EventList Read(const std::string& json) {
    auto source = MakeMemorySource(json);
    file = ReadTrace(*source, pool, run).value();
    FoldPairs(file, run);
    for (Event& event : file.events) {
      event.job = 0;
      event.has_args = true;
    }
    return file.events;
  }

  std::string Name(const Event& event) const { return std::string(run.Text(event.name)); }
  std::string ArgText(const Event& event, StringId key) const {
    const Arg* arg = event.Find(key);
    return arg == nullptr ? "(none)" : arg->value().AsText(run.strings);
  }

  Options options;
  LineConsole console;
  ThreadPool pool{1};
  Run run;
  TraceFile file;
};

}  // namespace debrief::accel
