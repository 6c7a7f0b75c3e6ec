// Collects by file and line. Paths are as the logs have them but for the folder of a launcher
// (ShortPath). Code is taken from wherever an input quotes a line: stacks, reasons, guards,
// comments of graphs, and files that exist in memory only and are in the log as a whole
// (dump_file).
#include "outputs/report/html/source/source_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "base/json/cursor.h"
#include "base/text/strings.h"
#include "model/compile/frames.h"
#include "model/compile/payload.h"
#include "outputs/report/html/compile/compile_islands.h"
#include "tables/comm_op.h"
#include "tables/compilation.h"
#include "tables/compile_break.h"
#include "tables/compile_entry.h"
#include "tables/compile_failure.h"
#include "tables/compile_guard.h"
#include "tables/compile_recompile.h"
#include "tables/compile_shape.h"
#include "tables/compile_trie_node.h"
#include "torch/fx/graph_text.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kLongestCode = 300;
constexpr size_t kMostIssues = 10'000;     // of torch.export
constexpr size_t kMostDumpedLines = 5000;  // of one file

// Calls `use(text)` for each line of `text`.
template <typename Use>
void ForEachLine(std::string_view text, Use use) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    use(text.substr(0, end));
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

// One line of a Python traceback: `  File "/x/y.py", line 12, in f`.
struct TracebackPlace {
  std::string_view file;
  int32_t line = 0;
};

bool ParsePlace(std::string_view text, TracebackPlace& place) {
  constexpr std::string_view kBegin = "File \"";
  constexpr std::string_view kMiddle = "\", line ";
  const size_t begin = text.find(kBegin);
  const size_t middle = text.find(kMiddle);
  if (begin == std::string_view::npos || middle == std::string_view::npos ||
      middle < begin + kBegin.size())
    return false;
  const char* number = text.data() + middle + kMiddle.size();
  const auto [end, error] = std::from_chars(number, text.data() + text.size(), place.line);
  place.file = text.substr(begin + kBegin.size(), middle - begin - kBegin.size());
  return error == std::errc() && end != number;
}

class Collector {
 public:
  Collector(const Model& model, int64_t graph_bytes) : model_(model), graph_bytes_(graph_bytes) {}

  SourceFiles Run() {
    AddCompilations();
    AddFailures();
    AddBreaks();
    AddRecompiles();
    AddCollectives();
    AddExportIssues();
    AddEntries();
    AddGuards();  // behind all that tell whole paths
    AddStackCode();
    AddDumpedFiles();
    return std::move(files_);
  }

 private:
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  // Of no line in particular one that nobody reads.
  SourceLine& Line(int32_t job, std::string_view file, int32_t line) {
    if (file.empty() || line <= 0) return nowhere_ = {};
    return files_[{job, std::string(ShortPath(file))}][line];
  }

  // Of the innermost frame that the reader wrote.
  SourceLine& LineOf(int32_t job, StackId stack) {
    const uint64_t key = uint64_t{static_cast<uint32_t>(job)} << 32 | static_cast<uint32_t>(stack);
    auto [known, is_new] = line_of_.try_emplace(key, nullptr);
    if (known->second != nullptr) return *known->second;
    if (!is_new) return nowhere_ = {};
    const auto frames = UserFrames(model_.pools, stack);
    if (frames.empty()) return nowhere_ = {};
    const Frame& frame = model_.pools.GetFrame(frames.front());
    SourceLine& line = Line(job, Text(frame.file), frame.line);
    SetCode(line, Text(frame.text));
    if (&line != &nowhere_) known->second = &line;
    return line;
  }

  static void SetCode(SourceLine& line, std::string_view code) {
    if (!line.code.empty()) return;
    code.remove_prefix(std::min(code.find_first_not_of(" \t"), code.size()));
    line.code = code.substr(0, kLongestCode);
  }

  template <typename Table>
  std::string KeyOf(const Table& table, size_t row) const {
    const auto number = [](int32_t value) {
      return value == kNone32 ? std::string() : std::to_string(value);
    };
    return fmt::format("{}:{}:{}:{}", number(table.input[row]), number(table.rank[row]),
                       table.life[row] == kNone32 ? 0 : table.life[row],
                       Text(table.compile_id[row]));
  }

  void AddCompilations() {
    const auto& table = model_.tables.Get<CompilationTable>();
    for (size_t row = 0; row < table.size(); ++row) {
      SourceLine& line = Line(table.job[row], Text(table.file[row]), table.line[row]);
      line.compiled.Add(KeyOf(table, row));
      if (std::isfinite(table.seconds[row])) line.seconds += table.seconds[row];
      if (line.function.empty()) line.function = Text(table.function[row]).substr(0, kLongestCode);
    }
  }

  void AddFailures() {
    const auto& table = model_.tables.Get<CompileFailureTable>();
    for (size_t row = 0; row < table.size(); ++row) {
      const bool told = table.user_file[row] != StringId::kNone;
      SourceLine& line =
          told ? Line(table.job[row], Text(table.user_file[row]), table.user_line[row])
               : Line(table.job[row], Text(table.file[row]), table.line[row]);
      line.failed.Add(KeyOf(table, row));
    }
  }

  void AddBreaks() {
    const auto& table = model_.tables.Get<CompileBreakTable>();
    for (size_t row = 0; row < table.size(); ++row) {
      SourceLine& line = Line(table.job[row], Text(table.user_file[row]), table.user_line[row]);
      line.breaks += std::max(1, table.count[row]);
      SetCode(line, Text(table.user_code[row]));
    }
  }

  void AddRecompiles() {
    const auto& table = model_.tables.Get<CompileRecompileTable>();
    for (size_t row = 0; row < table.size(); ++row) {
      SourceLine& line = Line(table.job[row], Text(table.user_file[row]), table.user_line[row]);
      if (table.is_main[row] == 0) continue;
      line.recompiled.Add(KeyOf(table, row));
      SetCode(line, Text(table.user_code[row]));
    }
  }

  // Their paths are cut. Those in files that nothing else points at are not worth a place: nearly
  // all of them are the library's.
  void AddGuards() {
    const auto& table = model_.tables.Get<CompileGuardTable>();
    std::map<std::pair<int32_t, StringId>, SourceFile*> shortened;  // by job and path
    for (size_t row = 0; row < table.size(); ++row) {
      const std::string_view path = Text(table.file[row]);
      if (path.empty() || table.line[row] <= 0) continue;
      auto [found, is_new] = shortened.try_emplace({table.job[row], table.file[row]}, nullptr);
      if (is_new) found->second = FindShortened(files_, table.job[row], path);
      if (found->second == nullptr) continue;
      SourceLine& line = (*found->second)[table.line[row]];
      ++line.guards;
      line.failed_guards += std::max(0, table.failed[row]);
      SetCode(line, Text(table.code[row]));
    }
  }

  void AddCollectives() {
    const auto& table = model_.tables.Get<CommOpTable>();
    for (size_t row = 0; row < table.size(); ++row) {
      SourceLine& line = LineOf(table.job[row], table.stack[row]);
      line.call = {.group = table.group_name[row],
                   .seq = table.is_p2p[row] != 0 ? table.p2p_seq[row] : table.collective_seq[row],
                   .rank = table.rank[row]};
      line.collectives.Add(Text(table.op[row]));
    }
  }

  void AddExportIssues() {
    const auto& table = model_.tables.Get<CompileShapeTable>();
    for (const ExportIssue& issue : FindExportIssues(model_, kMostIssues).first)
      ++LineOf(table.job[issue.row], issue.stack).exports;
  }

  // Graphs and provenance of kernels, each different payload once.
  void AddEntries() {
    const auto& table = model_.tables.Get<CompileEntryTable>();
    const StringId graph = Known("dynamo_output_graph");
    const StringId kernels = Known("inductor_provenance_tracking_kernel_stack_traces");
    std::unordered_set<StringId> seen;
    for (size_t row = 0; row < table.size(); ++row) {
      const bool is_graph = graph != StringId::kNone && table.kind[row] == graph;
      const bool is_kernels = kernels != StringId::kNone && table.name[row] == kernels;
      if ((!is_graph && !is_kernels) || table.payload_bytes[row] <= 0) continue;
      const StringId md5 = table.payload_md5[row];
      if (md5 != StringId::kNone && !seen.insert(md5).second) continue;
      graph_bytes_ -= table.payload_bytes[row];
      if (graph_bytes_ < 0) return;
      if (is_graph) AddGraph(table, row);
      if (is_kernels) AddKernels(table, row);
    }
  }

  StringId Known(std::string_view text) const { return model_.pools.strings.Find(text); }

  // A payload that cannot be read has its diagnostic already.
  void AddGraph(const CompileEntryTable& table, size_t row) {
    if (!ReadPayload(model_, table, row, payload_).ok()) return;
    if (!parser_.Parse(payload_, graph_).ok()) return;
    for (const FxNode& node : graph_.nodes) {
      if (!node.is_call()) continue;
      const FxPlace& place = graph_.PlaceOf(node);
      SourceLine& line = Line(table.job[row], place.file, static_cast<int32_t>(place.line));
      ++line.nodes;
      SetCode(line, place.code);
    }
  }

  // {"triton_poi_fused_add_0:1": ["  File \"x.py\", line 12, in f\n    y = x + 1\n"]}
  void AddKernels(const CompileEntryTable& table, size_t row) {
    Result<ByteView> lines = PayloadLines(model_, table, row);
    if (!lines.ok() || !reader_.Open(lines->text()).ok()) return;
    Status status = reader_.root().ForEachField([&](std::string_view name, JsonValue stacks) {
      const std::string kernel(name.substr(0, name.rfind(':')));
      if (stacks.kind() != JsonKind::kArray) return;
      Status inner = stacks.ForEachElement([&](JsonValue stack) {
        if (auto text = stack.String()) AddKernel(table.job[row], kernel, *text);
      });
      static_cast<void>(inner);  // what was read before it counts
    });
    static_cast<void>(status);
  }

  // The innermost place of a traceback is its last.
  void AddKernel(int32_t job, std::string_view kernel, std::string_view traceback) {
    TracebackPlace place;
    std::string_view code;
    ForEachLine(traceback, [&](std::string_view text) {
      TracebackPlace one;
      if (ParsePlace(text, one)) {
        place = one;
        code = {};
      } else if (code.empty()) {
        code = text;
      }
    });
    SourceLine& line = Line(job, place.file, place.line);
    line.kernels.Add(kernel);
    SetCode(line, code);
  }

  void AddStackCode() {
    const auto& table = model_.tables.Get<CompileTrieNodeTable>();
    for (size_t row = 0; row < table.size(); ++row) {
      const auto frames = model_.pools.GetStack(table.frame[row]);
      if (frames.empty()) continue;
      const Frame& frame = model_.pools.GetFrame(frames.front());
      const std::string_view file = Text(frame.file);
      if (frame.text == StringId::kNone || !IsUserFile(file)) continue;
      SetCode(Line(table.job[row], file, frame.line), Text(frame.text));
    }
  }

  // Only of files that something points at.
  void AddDumpedFiles() {
    const auto& table = model_.tables.Get<CompileEntryTable>();
    const StringId dump = Known("dump_file");
    if (dump == StringId::kNone) return;
    for (size_t row = 0; row < table.size(); ++row) {
      if (table.kind[row] != dump) continue;
      const auto file = files_.find({table.job[row], std::string(Text(table.name[row]))});
      if (file == files_.end() || !ReadPayload(model_, table, row, payload_).ok()) continue;
      int32_t number = 0;
      ForEachLine(payload_, [&](std::string_view text) {
        if (++number <= static_cast<int32_t>(kMostDumpedLines))
          file->second[number].code = text.substr(0, kLongestCode);
      });
    }
  }

  const Model& model_;
  int64_t graph_bytes_;
  SourceFiles files_;
  SourceLine nowhere_;
  std::unordered_map<uint64_t, SourceLine*> line_of_;  // by job and stack; null: nowhere
  std::string payload_;
  GraphNodes graph_;
  FxGraphParser parser_;
  JsonReader reader_;
};

bool EndsWithPath(std::string_view path, std::string_view end) {
  return path.ends_with(end) &&
         (path.size() == end.size() || path[path.size() - end.size() - 1] == '/');
}

}  // namespace

void LineList::Add(std::string_view name) {
  ++count;
  if (first.size() == kMost || std::find(first.begin(), first.end(), name) != first.end()) return;
  first.emplace_back(name.substr(0, kLongestCode));
}

bool SourceLine::has_facts() const {
  return compiled.count + recompiled.count + failed.count + breaks + exports + guards + nodes +
             kernels.count + collectives.count >
         0;
}

SourceFile* FindShortened(SourceFiles& files, int32_t job, std::string_view path) {
  if (auto same = files.find({job, std::string(path)}); same != files.end()) return &same->second;
  // The first part of what is left of it may be a part of a name.
  const std::string_view end = path.substr(path.find('/') + 1);
  std::vector<SourceFile*> ends;
  std::vector<SourceFile*> names;
  for (auto at = files.lower_bound({job, std::string()}); at != files.end(); ++at) {
    if (at->first.first != job) break;
    if (EndsWithPath(at->first.second, end)) ends.push_back(&at->second);
    if (FileName(at->first.second) == FileName(path)) names.push_back(&at->second);
  }
  if (ends.size() == 1) return ends.front();
  return names.size() == 1 ? names.front() : nullptr;
}

SourceFiles CollectSource(const Model& model, int64_t graph_bytes) {
  return Collector(model, graph_bytes).Run();
}

}  // namespace debrief::outputs::html
