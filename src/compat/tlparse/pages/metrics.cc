// The metrics of one compilation: how it ended first, then what it cost, where it began, and the
// shapes it was tied to. 2,000 such pages with 120 frames each take under 100 ms: frames are copied
// from where they were made once (FrameTexts).
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <utility>
#include <vector>

#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// An id that is compiled again and again lists its files on each of its pages: that would grow with
// the square of their number.
constexpr size_t kMaxListed = 200;

std::string Count(int64_t number) {
  return number == kNone64 ? std::string() : fmt::format("{}", number);
}

// Missing and zero times are skipped.
std::string Seconds(double number) {
  return std::isnan(number) || number == 0 ? std::string() : FloatText(number) + " s";
}

std::string Microseconds(int64_t number) {
  return number == kNone64 ? std::string() : FloatText(static_cast<double>(number) / 1e6) + " s";
}

// "2026-11-15 02:33:29.276339 UTC"; empty for what is no time.
std::string Moment(int64_t micros) {
  constexpr int64_t kLast = int64_t{253402300800} * 1000000;  // the year 9999
  if (micros < 0 || micros >= kLast) return {};
  const auto time = fmt::gmtime(static_cast<std::time_t>(micros / 1000000));
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06} UTC", time, micros % 1000000);
}

int64_t BeganAt(const CompileMetricsTable& metrics, size_t row) {
  if (metrics.start_time_us[row] != kNone64) return metrics.start_time_us[row];
  const double seconds = metrics.start_time[row];
  return seconds > 0 && seconds < 1e12 ? std::llround(seconds * 1e6) : kNone64;
}

class MetricsWriter {
 public:
  MetricsWriter(const PageContext& context, const TreeFile& file)
      : context_(context), file_(file), m_(context.metrics), root_(WayToRoot(file.path)) {
    if (file.compilation >= 0) {
      compilation_ = &context.plan.compilations[static_cast<size_t>(file.compilation)];
    }
  }

  std::string Write() {
    const std::string_view kind = context_.Text(context_.entries.kind[file_.row]);
    const std::string_view id = compilation_ == nullptr ? "(unknown)" : context_.AnchorOf(file_);
    const std::optional<size_t> row = context_.MetricsOf(file_.row);
    const std::string links = FileLinks(context_, file_);
    out_ = BeginPage({.title = kind, .root = root_, .anchor = id, .links = links});
    out_.reserve(32768);
    out_ += "<main>";
    Heading(row, kind, id);
    if (row) Outcome(*row);
    if (row) Numbers(*row);
    OutputFiles();
    Stack();
    if (row) Shapes(m_.entry[*row]);
    out_ += "</main>\n";
    return EndPage(PageKind::kPlain, std::move(out_));
  }

 private:
  void Heading(std::optional<size_t> row, std::string_view kind, std::string_view id) {
    const std::string_view name = row ? context_.Text(m_.co_name[*row]) : std::string_view();
    Put(out_, "<div><h1>{} <span class=\"quiet\">{}</span></h1>\n", name.empty() ? kind : name, id);
    if (row && m_.co_filename[*row] != StringId::kNone) {
      Put(out_, "<p class=\"mono\">{}:{} in {}</p>", ShortPath(context_.Text(m_.co_filename[*row])),
          std::max(m_.co_firstlineno[*row], 0), name);
    }
    out_ += "</div>\n";
    if (!row) out_ += "<section><p>These metrics could not be read.</p></section>\n";
  }

  void Outcome(size_t row) {
    if (m_.fail_type[row] != StringId::kNone) Failed(row);
    const auto restarts = context_.RestartsOf(m_.entry[row]);
    if (restarts.empty() || context_.Text(m_.kind[row]) != "compilation_metrics") return;
    Put(out_, "<section class=\"warning\"><h2>Restarts ({})</h2>", restarts.size());
    for (size_t restart : restarts)
      Put(out_, "<pre>{}</pre>", context_.Text(context_.restarts.reason[restart]));
    out_ += "</section>\n";
  }

  void Failed(size_t row) {
    Put(out_, "<section class=\"error\"><h2>Failed: {}</h2>", context_.Text(m_.fail_type[row]));
    if (m_.fail_user_frame_filename[row] != StringId::kNone) {
      Put(out_, "<p class=\"mono\">{}:{}</p>",
          ShortPath(context_.Text(m_.fail_user_frame_filename[row])),
          std::max<int64_t>(m_.fail_user_frame_lineno[row], 0));
    }
    Put(out_, "<pre>{}</pre></section>\n", context_.Text(m_.fail_reason[row]));
  }

  void Numbers(size_t row) {
    out_ += "<section><h2>Metrics</h2><dl>\n";
    Times(row);
    const std::array<std::pair<std::string_view, int64_t>, 8> counts = {{
        {"Operations in the graph", m_.graph_op_count[row]},
        {"Nodes in the graph", m_.graph_node_count[row]},
        {"Inputs of the graph", m_.graph_input_count[row]},
        {"Guards", m_.guard_count[row]},
        {"Guards on shapes", m_.shape_env_guard_count[row]},
        {"Cache size", m_.cache_size[row]},
        {"Accumulated cache size", m_.accumulated_cache_size[row]},
        {"Graph breaks so far", m_.num_graph_breaks[row]},
    }};
    for (const auto& [name, number] : counts) AppendFact(name, Count(number), out_);
    LongFact("Compiled again because", m_.recompile_reason[row]);
    LongFact("No CUDA graph because", m_.cudagraph_skip_reason[row]);
    LongFact("Custom ops that follow the rules", m_.compliant_custom_ops[row]);
    LongFact("Custom ops that do not", m_.non_compliant_ops[row]);
    out_ += "</dl></section>\n";
  }

  void Times(size_t row) {
    const std::array<std::pair<std::string_view, double>, 6> times = {{
        {"Entire frame", m_.entire_frame_compile_time_s[row]},
        {"Backend", m_.backend_compile_time_s[row]},
        {"Inductor", m_.inductor_compile_time_s[row]},
        {"Code generation", m_.code_gen_time_s[row]},
        {"Dynamo before restarts", m_.dynamo_time_before_restart_s[row]},
        {"Elapsed", m_.elapsed_time[row]},
    }};
    for (const auto& [name, seconds] : times) AppendFact(name, Seconds(seconds), out_);
    AppendFact("Duration", Microseconds(m_.duration_us[row]), out_);
    AppendFact("Began", Moment(BeganAt(m_, row)), out_);
    AppendFact("Ended", Moment(m_.end_time_us[row]), out_);
  }

  void LongFact(std::string_view name, StringId id) {
    const std::string_view text = context_.Text(id);
    if (!text.empty()) Put(out_, "<dt>{}</dt><dd><pre>{}</pre></dd>", name, text);
  }

  void OutputFiles() {
    if (compilation_ == nullptr) return;
    const size_t end = std::min(file_.listed, compilation_->files.size());
    if (end == 0) return;
    const size_t begin = end > kMaxListed ? end - kMaxListed : 0;
    out_ += "<section><h2>Output files</h2><ul>\n";
    if (begin > 0) {
      Put(out_, "<li class=\"quiet\">{} earlier: see ", begin);
      AppendLink(root_ + "index.html#" + compilation_->id, "the index", out_);
      out_ += "</li>\n";
    }
    for (size_t i = begin; i < end; ++i)
      AppendListed(context_, compilation_->files[i], root_, out_);
    out_ += "</ul></section>\n";
  }

  void Stack() {
    const StackId stack = context_.StartOf(file_.row);
    if (stack == StackId::kNone) return;
    out_ += "<section><h2>Stack</h2>";
    context_.frames().AppendStack(WithoutConvertFrame(context_.model.pools, stack), root_, out_);
    out_ += "</section>\n";
  }

  void Shapes(int64_t entry) {
    Table(entry, "symbolic_shape_specialization", "Symbolic shape specializations",
          "<th>Symbol</th><th>Sources</th><th>Value</th><th>Reason</th>");
    Table(entry, "guard_added_fast", "Guards added fast", "<th>Expression</th>");
  }

  void Table(int64_t entry, std::string_view kind, std::string_view title, std::string_view head) {
    size_t count = 0;
    for (size_t row : context_.ShapesOf(entry)) {
      if (context_.Text(context_.shapes.kind[row]) != kind) continue;
      if (count++ == 0) {
        Put(out_, "<section><h2>{}</h2><table><thead><tr>{}<th>Stacks</th></tr></thead>\n<tbody>\n",
            title, Raw{head});
      }
      ShapeRow(row, kind == "guard_added_fast");
    }
    if (count > 0) out_ += "</tbody></table></section>\n";
  }

  void ShapeRow(size_t row, bool is_guard) {
    const CompileShapeTable& shapes = context_.shapes;
    const std::vector<StringId> cells = is_guard
                                            ? std::vector{shapes.expression[row]}
                                            : std::vector{shapes.symbol[row], shapes.sources[row],
                                                          shapes.value[row], shapes.reason[row]};
    out_ += "<tr>";
    for (StringId cell : cells) Put(out_, "<td><pre>{}</pre></td>", context_.Text(cell));
    out_ += "<td>";
    context_.AppendStacks(row, root_, out_);
    out_ += "</td></tr>\n";
  }

  const PageContext& context_;
  const TreeFile& file_;
  const CompileMetricsTable& m_;
  const std::string root_;
  const Compilation* compilation_ = nullptr;
  std::string out_;
};

}  // namespace

std::string MetricsPage(const PageContext& context, const TreeFile& file) {
  return MetricsWriter(context, file).Write();
}

}  // namespace debrief::outputs::tlparse_tree
