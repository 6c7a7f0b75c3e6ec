// Compile logs with events of the compiler, made by hand.
#pragma once

#include <string_view>

#include "tables/compile_event.h"
#include "tables/compile_metrics.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief {

struct TestEvent {
  std::string_view phase;  // B, E, X, i
  std::string_view name;
  int64_t ms = 0;
  std::string_view compile_id = "0/0";
  int64_t duration_ms = 0;
  int64_t thread = 1;
  std::string_view payload = "";
  int32_t life = 0;
};

// Adds the entry and the event; `log` has had its Log().
inline void AddEvent(CompileLogBuilder& log, const TestEvent& event) {
  log.Add({.payload = event.payload, .kind = "chromium_event"});
  Model& model = log.model();
  auto& entries = model.tables.Edit<CompileEntryTable>();
  const size_t at = entries.size() - 1;
  entries.time_ns[at] = event.ms * 1'000'000;
  entries.thread[at] = event.thread;
  entries.life[at] = event.life;
  entries.compile_id[at] = model.pools.Intern(event.compile_id);
  CompileEventRow row;
  row.job = entries.job[at];
  row.attempt = entries.attempt[at];
  row.rank = entries.rank[at];
  row.input = entries.input[at];
  row.entry = entries.entry[at];
  row.compile_id = entries.compile_id[at];
  row.name = model.pools.Intern(event.name);
  row.phase = model.pools.Intern(event.phase);
  row.time_ns = event.ms * 1'000'000;
  row.duration_ns = event.duration_ms * 1'000'000;
  model.tables.Edit<CompileEventTable>().Add(row);
}

// Adds the entry that begins a compilation: `function` at file.py:line.
inline void AddStart(CompileLogBuilder& log, std::string_view function, int32_t line, int64_t frame,
                     int64_t frame_compile = 0, int64_t ms = 0) {
  log.Add({.frame = frame, .frame_compile = frame_compile, .kind = "dynamo_start"});
  Model& model = log.model();
  auto& entries = model.tables.Edit<CompileEntryTable>();
  const FrameId id = model.pools.AddFrame({.file = model.pools.Intern("/src/file.py"),
                                           .function = model.pools.Intern(function),
                                           .line = line});
  const size_t last = entries.size() - 1;
  entries.stack[last] = model.pools.AddStack({&id, 1});
  entries.time_ns[last] = ms * 1'000'000;
  entries.life[last] = 0;
}

}  // namespace debrief
