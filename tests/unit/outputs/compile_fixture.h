// A compile log made by hand: entries with their rows, stacks of named frames, and a plan.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "compat/tlparse/plan.h"
#include "tables/compile_entry.h"
#include "tables/compile_metrics.h"
#include "tables/compile_restart.h"
#include "tables/compile_shape.h"

namespace debrief {

struct CompileFixture {
  Model model;
  outputs::tlparse_tree::TreePlan plan;
  outputs::tlparse_tree::TreeOptions options;
  int64_t next_entry = 0;

  FrameId AddFrame(std::string_view file, std::string_view function, int32_t line,
                   std::string_view text = {}) {
    Frame frame = {model.pools.Intern(file), model.pools.Intern(function), line};
    if (!text.empty()) frame.text = model.pools.Intern(text);
    return model.pools.AddFrame(frame);
  }

  // `frames` outermost first, as logs have them.
  StackId AddStack(std::vector<FrameId> frames) {
    return model.pools.AddStack(std::vector<FrameId>(frames.rbegin(), frames.rend()));
  }

  CompileEntryTable& entries() { return model.tables.Edit<CompileEntryTable>(); }

  size_t AddEntry(std::string_view kind, std::string_view compile_id,
                  StackId stack = StackId::kNone, int32_t life = 0) {
    CompileEntryRow row;
    row.input = 0;
    row.entry = next_entry++;
    row.life = life;
    row.kind = model.pools.Intern(kind);
    if (!compile_id.empty()) row.compile_id = model.pools.Intern(compile_id);
    row.stack = stack;
    entries().Add(row);
    plan.rows.push_back(entries().size() - 1);
    return entries().size() - 1;
  }

  // An entry with metrics; the caller fills in the rest of the row.
  size_t AddMetrics(std::string_view compile_id, CompileMetricsRow row = {}, int32_t life = 0,
                    std::string_view kind = "compilation_metrics") {
    const size_t entry = AddEntry(kind, compile_id, StackId::kNone, life);
    row.input = 0;
    row.entry = entries().entry[entry];
    row.kind = model.pools.Intern(kind);
    row.compile_id = entries().compile_id[entry];
    model.tables.Edit<CompileMetricsTable>().Add(row);
    return entry;
  }

  void AddRestart(size_t entry, std::string_view reason) {
    CompileRestartRow row;
    row.input = 0;
    row.entry = entries().entry[entry];
    row.compile_id = entries().compile_id[entry];
    row.reason = model.pools.Intern(reason);
    model.tables.Edit<CompileRestartTable>().Add(row);
  }

  size_t AddShape(std::string_view kind, std::string_view compile_id, CompileShapeRow row = {},
                  StackId stack = StackId::kNone) {
    const size_t entry = AddEntry(kind, compile_id, stack);
    row.input = 0;
    row.entry = entries().entry[entry];
    row.kind = model.pools.Intern(kind);
    row.compile_id = entries().compile_id[entry];
    model.tables.Edit<CompileShapeTable>().Add(row);
    return entry;
  }

  // A file of the plan, listed in its compilation (made when it is new).
  outputs::tlparse_tree::TreeFile& AddFile(size_t row, std::string_view id, std::string_view name,
                                           outputs::tlparse_tree::Content content) {
    int32_t compilation = 0;
    while (static_cast<size_t>(compilation) < plan.compilations.size() &&
           plan.compilations[static_cast<size_t>(compilation)].id != id) {
      ++compilation;
    }
    if (static_cast<size_t>(compilation) == plan.compilations.size()) {
      plan.compilations.push_back({.id = std::string(id),
                                   .key = std::string(id),
                                   .directory = fmt::format("dir_{}", compilation)});
    }
    auto& of = plan.compilations[static_cast<size_t>(compilation)];
    const std::string path = fmt::format("{}/{}", of.directory, name);
    plan.files.push_back({.path = path,
                          .content = content,
                          .row = row,
                          .listed = of.files.size(),
                          .compilation = compilation});
    of.files.push_back({.url = path,
                        .name = std::string(name),
                        .number = static_cast<int32_t>(plan.files.size()) - 1,
                        .row = row});
    return plan.files.back();
  }
};

}  // namespace debrief
