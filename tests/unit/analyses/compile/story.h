// A compile log told compilation by compilation, for the analyses that start from them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "tables/compile_metrics.h"
#include "tables/compile_restart.h"
#include "tables/compile_shape.h"
#include "tables/compile_tensor.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief {

class CompileStory {
 public:
  explicit CompileStory(int32_t rank = 0) { log_.Log(rank); }

  // The log of another rank begins.
  CompileStory& Rank(int32_t rank) {
    log_.Log(rank);
    return *this;
  }

  // An entry of compilation `frame`/`compile`; for artifacts with a payload.
  size_t Entry(std::string_view kind, int64_t frame, int64_t compile, std::string_view name = {},
               std::string_view payload = {}, int64_t attempt = 0) {
    log_.Add({.name = name,
              .payload = payload,
              .frame = frame,
              .frame_compile = compile,
              .attempt = attempt,
              .kind = kind,
              .encoding = "string"});
    CompileEntryTable& entries = Entries();
    const size_t row = entries.size() - 1;
    entries.life[row] = life;
    entries.thread[row] = thread;
    entries.time_ns[row] = static_cast<int64_t>(row) * 1000;
    return row;
  }

  // An entry without a compile id.
  size_t Orphan(std::string_view kind) {
    const size_t row = Entry(kind, 0, 0);
    Entries().compile_id[row] = pools().Intern("-/-");
    return row;
  }

  // Begins a compilation of `function`, which stands in train.py; called from main at line 90.
  size_t Start(int64_t frame, int64_t compile, std::string_view function, int32_t line) {
    const size_t row = Entry("dynamo_start", frame, compile);
    const std::array<FrameId, 3> frames = {
        AddFrame("/home/me/train.py", function, line),
        AddFrame("/env/site-packages/torch/nn/modules/module.py", "_call_impl", 1790),
        AddFrame("/home/me/train.py", "main", 90)};
    Entries().stack[row] = pools().AddStack(frames);
    return row;
  }

  // Ends it. `metrics` has what differs from a compilation that went well.
  size_t End(int64_t frame, int64_t compile, std::string_view function, int32_t line,
             CompileMetricsRow metrics = {}, int64_t attempt = 0) {
    const size_t row = Entry("compilation_metrics", frame, compile, {}, {}, attempt);
    const CompileEntryTable& entries = Entries();
    metrics.job = entries.job[row];
    metrics.attempt = entries.attempt[row];
    metrics.rank = entries.rank[row];
    metrics.input = entries.input[row];
    metrics.entry = entries.entry[row];
    metrics.kind = entries.kind[row];
    metrics.compile_id = entries.compile_id[row];
    metrics.co_name = pools().Intern(function);
    metrics.co_filename = pools().Intern("/home/me/train.py");
    metrics.co_firstlineno = line;
    if (metrics.graph_op_count == kNone64 && metrics.fail_type == StringId::kNone)
      metrics.graph_op_count = 3;
    if (metrics.restart_reasons == kNone32) metrics.restart_reasons = 0;
    log_.model().tables.Edit<CompileMetricsTable>().Add(metrics);
    return row;
  }

  // A compilation without events.
  void Compile(int64_t frame, int64_t compile, std::string_view function, int32_t line,
               CompileMetricsRow metrics = {}) {
    Start(frame, compile, function, line);
    End(frame, compile, function, line, metrics);
  }

  // Compiled again because of `reasons`, the payload.
  void Recompile(int64_t frame, int64_t compile, std::string_view function, int32_t line,
                 std::string_view reasons) {
    Entry("artifact", frame, compile, "recompile_reasons", reasons);
    Compile(frame, compile, function, line);
  }

  void Restart(size_t entry, std::string_view reason) {
    CompileRestartRow row;
    Belong(entry, row);
    row.reason = pools().Intern(reason);
    log_.model().tables.Edit<CompileRestartTable>().Add(row);
  }

  void Symbol(int64_t frame, int64_t compile, std::string_view name, std::string_view source,
              std::string_view value) {
    CompileShapeRow row;
    const size_t entry = Entry("create_symbol", frame, compile);
    Belong(entry, row);
    row.kind = Entries().kind[entry];
    row.symbol = pools().Intern(name);
    row.sources = pools().Intern(source);
    row.value = pools().Intern(value);
    log_.model().tables.Edit<CompileShapeTable>().Add(row);
  }

  void Tensor(int64_t frame, int64_t compile, std::string_view source, std::string_view sizes) {
    for (std::string_view kind : {"describe_tensor", "describe_source"}) {
      CompileTensorRow row;
      const size_t entry = Entry(kind, frame, compile);
      Belong(entry, row);
      row.kind = Entries().kind[entry];
      row.describer = frame * 100 + compile;
      row.id = 1;
      row.sizes = pools().Intern(sizes);
      row.source = pools().Intern(source);
      log_.model().tables.Edit<CompileTensorTable>().Add(row);
    }
  }

  std::vector<Finding> Run(const Analysis& analysis) { return log_.Run(analysis); }

  Model& model() { return log_.model(); }
  Pools& pools() { return log_.model().pools; }
  CompileEntryTable& Entries() { return log_.model().tables.Edit<CompileEntryTable>(); }
  std::string Text(StringId id) { return std::string(pools().Text(id)); }
  CompileMetricsRow Failed(std::string_view type, std::string_view reason) {
    CompileMetricsRow row;
    row.fail_type = pools().Intern(type);
    row.fail_reason = pools().Intern(reason);
    return row;
  }

  int32_t life = 0;
  int64_t thread = 1;

 private:
  FrameId AddFrame(std::string_view file, std::string_view function, int32_t line) {
    return pools().AddFrame(
        {.file = pools().Intern(file), .function = pools().Intern(function), .line = line});
  }

  template <typename Row>
  void Belong(size_t entry, Row& row) {
    const CompileEntryTable& entries = Entries();
    row.job = entries.job[entry];
    row.attempt = entries.attempt[entry];
    row.rank = entries.rank[entry];
    row.input = entries.input[entry];
    row.entry = entries.entry[entry];
    row.compile_id = entries.compile_id[entry];
  }

  CompileLogBuilder log_;
};

}  // namespace debrief
