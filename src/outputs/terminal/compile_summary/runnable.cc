// fx_graph_runnable artifacts as Python files that compile.
#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "base/bytes/growing_file.h"
#include "base/text/utf8.h"
#include "model/compile/payload.h"
#include "outputs/terminal/compile_summary/answers.h"
#include "tables/compile_entry.h"
#include "torch/fx/expression.h"

namespace debrief::outputs::compile_summary {

namespace {

constexpr std::string_view kEnvironment = "os.environ['";
constexpr std::string_view kLambda = "<lambda>";

std::string_view TrimLeft(std::string_view line) {
  size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

// (inner): GraphModule()
bool IsPrintedChild(std::string_view line) {
  line = TrimLeft(line);
  return line.starts_with('(') && line.find("): ") != std::string_view::npos;
}

bool IsConfig(std::string_view line) {
  return line.starts_with("torch.") && line.find("config.") != std::string_view::npos;
}

// Behind the > that closes the < at `at`; npos when none does.
size_t AngleEnd(std::string_view line, size_t at) {
  int depth = 0;
  for (; at < line.size(); ++at) {
    if (line[at] == '<') ++depth;
    if (line[at] == '>' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

class Repairer {
 public:
  explicit Repairer(std::string_view payload) : rest_(payload) {}

  std::string Run() {
    out_.reserve(rest_.size() + 256);
    while (!rest_.empty()) {
      std::string_view line = TakeLine();
      if (triple_ == '\0' && line.starts_with(kEnvironment)) {
        AddEnvironment(line);
      } else if (triple_ == '\0' && IsPrintedModule(line)) {
        AddPrintedModule(line);
      } else {
        AddLine(line);
      }
      out_ += '\n';
    }
    return std::move(out_);
  }

 private:
  std::string_view TakeLine() {
    size_t end = rest_.find('\n');
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  }

  std::string_view PeekLine() const { return rest_.substr(0, rest_.find('\n')); }

  bool IsPrintedModule(std::string_view line) const {
    return line.ends_with('(') && TrimLeft(line).starts_with("self.") && IsPrintedChild(PeekLine());
  }

  // self.body = GraphModule( ... ) over several lines, the last of them indented as the first.
  void AddPrintedModule(std::string_view line) {
    size_t indent = line.size() - TrimLeft(line).size();
    size_t value = line.find(" = ");
    if (value == std::string_view::npos) return AddLine(line);
    ((out_ += line.substr(0, value)) += " = None  # ") += line.substr(value + 3);
    while (!rest_.empty()) {
      std::string_view next = PeekLine();
      bool is_last = TrimLeft(next).starts_with(')');
      if (!is_last && !IsPrintedChild(next)) return;
      TakeLine();
      (out_ += "\n# ") += next;
      if (is_last && next.size() - TrimLeft(next).size() <= indent) return;
    }
  }

  // The value is pasted between quotes as it is. A line end in it makes several lines.
  void AddEnvironment(std::string_view line) {
    size_t value = line.find("'] = '");
    if (value == std::string_view::npos) return AddLine(line);
    value += std::string_view("'] = '").size();
    out_ += line.substr(0, value);
    std::string_view part = line.substr(value);
    while (!EndsValue(part) && !rest_.empty()) {
      AddEscaped(part);
      out_ += "\\n";
      part = TakeLine();
    }
    if (part.ends_with('\'')) part.remove_suffix(1);
    AddEscaped(part);
    out_ += '\'';
  }

  bool EndsValue(std::string_view part) const {
    if (!part.ends_with('\'')) return false;
    std::string_view next = PeekLine();
    return TrimLeft(next).empty() || next == "\r" || next.starts_with(kEnvironment) ||
           next.starts_with("import ");
  }

  void AddEscaped(std::string_view part) {
    for (char c : part) {
      if (c == '\'' || c == '\\') out_ += '\\';
      out_ += c;
    }
  }

  void AddLine(std::string_view line) {
    size_t begin = out_.size();
    bool repaired = false;
    unclosed_ = false;
    for (size_t at = 0; at < line.size();) at = AddPiece(line, at, repaired);
    if (!repaired) return;
    if (IsConfig(line)) {
      out_.resize(begin);
      (out_ += "# ") += line;
    } else {
      (out_ += "  # was: ") += TrimLeft(line);
    }
  }

  // Copies or repairs what is at `at`; returns where it ends.
  size_t AddPiece(std::string_view line, size_t at, bool& repaired) {
    char c = line[at];
    if (triple_ != '\0' || c == '"' || c == '\'') return AddString(line, at);
    if (c == '#') return Copy(line, at, line.size());
    if (c == '<' && !unclosed_ && BeginsValue(line.substr(0, at))) {
      size_t end = AngleEnd(line, at);
      unclosed_ = end == std::string_view::npos;
      repaired |= !unclosed_;
      if (!unclosed_) return AddForAngle(line, at, end);
    }
    return Copy(line, at, at + 1);
  }

  // `<` is an operator behind a value.
  static bool BeginsValue(std::string_view before) {
    size_t last = before.find_last_not_of(" \t");
    if (last == std::string_view::npos) return true;
    return std::string_view("=([{,:").find(before[last]) != std::string_view::npos ||
           before.ends_with("class ") || before.ends_with("return ");
  }

  size_t AddForAngle(std::string_view line, size_t at, size_t end) {
    bool is_class = line.substr(0, at).ends_with("class ");
    if (is_class) {
      out_ += line.substr(at, end - at) == kLambda ? "_lambda_" : "_unnamed_";
      return end;
    }
    out_ += "None";
    return line.substr(end).starts_with("()") ? end + 2 : end;
  }

  // A string, or the part of a triple-quoted one that is on this line.
  size_t AddString(std::string_view line, size_t at) {
    char quote = triple_ == '\0' ? line[at] : triple_;
    const std::string triple(3, quote);
    if (triple_ == '\0' && !line.substr(at).starts_with(triple)) {
      const char* end = FxStringEnd(line.data() + at, line.data() + line.size());
      return Copy(line, at, static_cast<size_t>(end - line.data()));
    }
    size_t from = triple_ == '\0' ? at + 3 : at;
    size_t close = line.find(triple, from);
    triple_ = close == std::string_view::npos ? quote : '\0';
    return Copy(line, at, close == std::string_view::npos ? line.size() : close + 3);
  }

  size_t Copy(std::string_view line, size_t at, size_t end) {
    out_ += line.substr(at, end - at);
    return end;
  }

  std::string_view rest_;
  std::string out_;
  char triple_ = '\0';     // the quote of a triple-quoted string that is open
  bool unclosed_ = false;  // a < of this line has no >; further ones are not looked at
};

// Python refuses these bytes wherever they are.
void ReplaceBadBytes(std::string& text) {
  for (size_t at = 0; at < text.size();) {
    Utf8Step step = StepUtf8(std::string_view(text).substr(at));
    if (!step.valid || text[at] == '\0') text.replace(at, step.bytes, step.bytes, '?');
    at += step.bytes;
  }
}

}  // namespace

std::string RunnableSource(std::string_view payload) {
  std::string source = Repairer(payload).Run();
  ReplaceBadBytes(source);
  return source;
}

Result<int> WriteRunnables(const Model& model, const std::string& folder) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  int written = 0;
  std::string payload;
  for (size_t row = 0; row < entries.size(); ++row) {
    if (model.pools.Text(entries.name[row]) != "fx_graph_runnable") continue;
    TRY(ReadPayload(model, entries, row, payload));
    std::string rank =
        entries.rank[row] == kNone32 ? "" : fmt::format("rank_{}_", entries.rank[row]);
    std::string path =
        fmt::format("{}/{}graph_{}_{}.py", folder, rank, GraphDirectory(entries, row), written++);
    TRY(WriteFileAtomically(path, RunnableSource(payload)));
  }
  return written;
}

}  // namespace debrief::outputs::compile_summary
