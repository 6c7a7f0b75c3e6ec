#include "model/accel/compiler_log.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json/cursor.h"
#include "base/text/scan.h"
#include "base/text/strings.h"

namespace debrief::accel {
namespace {

constexpr std::string_view kTotal = "Total";
constexpr int64_t kMostCycles = int64_t{1}
                                << 38;  // minutes; sums of any log stay inside of 63 bits

std::string_view Trim(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

bool IsNameByte(char byte) { return IsWord(byte) || byte == '-'; }

struct Row {
  std::string_view name;
  int64_t cycles = 0;
};

// A name, blanks, a number, nothing else.
std::optional<Row> ReadRow(std::string_view line, std::string_view blanks) {
  size_t name_end = 0;
  while (name_end < line.size() && IsNameByte(line[name_end])) ++name_end;
  const std::string_view rest = line.substr(name_end);
  const std::string_view number = Trim(rest, blanks);
  if (name_end == 0 || number.empty() || number.data() == rest.data()) return std::nullopt;
  const auto cycles = ParseNumber<int64_t>(number);
  if (!cycles || *cycles < 0 || *cycles > kMostCycles) return std::nullopt;
  return Row{line.substr(0, name_end), *cycles};
}

struct KernelName {
  std::string_view kernel;
  std::string_view category;
};

KernelName SplitName(std::string_view name, LogRules rules) {
  constexpr std::string_view kMark = "-opCat";
  const size_t mark = name.find(kMark);
  if (mark != std::string_view::npos) {
    return {name.substr(0, mark), name.substr(mark + kMark.size())};
  }
  if (name.ends_with("-NA")) return {name.substr(0, name.size() - 3), "NotAvailable"};
  if (rules == LogRules::kReference || name == kTotal) return {name, kTotal};
  return {name, "NotAvailable"};
}

// The first of two rows of one name counts; a second one that says otherwise is told.
void AddKernel(IdealTable& table, IdealKernel kernel, std::vector<std::string>& warnings) {
  const auto [at, is_new] = table.by_name.try_emplace(kernel.name, table.kernels.size());
  table.sequence.push_back(static_cast<uint32_t>(at->second));
  if (!is_new) {
    const IdealKernel& first = table.kernels[at->second];
    if (first.cycles != kernel.cycles || first.category != kernel.category) {
      warnings.push_back("kernel " + kernel.name + " is listed twice with different " +
                         (first.cycles != kernel.cycles ? "cycles" : "categories") +
                         "; the first row counts");
    }
    return;
  }
  if (std::find(table.categories.begin(), table.categories.end(), kernel.category) ==
      table.categories.end()) {
    table.categories.push_back(kernel.category);
  }
  table.kernels.push_back(std::move(kernel));
}

class LogParser {
 public:
  explicit LogParser(LogRules rules) : rules_(rules) {}

  void Line(std::string_view line) {
    const std::string_view word = Trim(line, " \t\r");
    if (word == "PREFILL" || word == "DECODING") {
      phase_ = word == "PREFILL" ? "TTFT" : "ITL";
    }
    if (Contains(line, "DSM-AutoPilot BEGIN")) log_.autopilot = true;
    if (Contains(line, "Ideal Clock Scaling:")) {
      log_.warnings.emplace_back("\"Ideal Clock Scaling\" is obsolete and has no effect");
    }
    if (Contains(line, " Ideal/Total Cycles ")) {
      Close();
      table_.emplace().phase = phase_;
    } else if (Contains(line, "====== Perf Summary End ======")) {
      Close();
    } else if (table_.has_value()) {
      TableLine(line);
    }
  }

  CompilerLog Finish() {
    if (table_.has_value()) {
      log_.warnings.emplace_back(
          "the last table of ideal cycles has no end; the log may be cut off");
    }
    // A log that is cut off still has rows worth using.
    if (rules_ == LogRules::kRight) Close();
    return std::move(log_);
  }

 private:
  void TableLine(std::string_view line) {
    if (Contains(line, "Precompute") || Contains(line, "-LxPreload")) return;
    const bool right = rules_ == LogRules::kRight;
    const std::optional<Row> row = ReadRow(line, right ? " \t\r" : " ");
    if (!row.has_value()) return;
    const KernelName name = SplitName(row->name, rules_);
    if (row->name == kTotal) {
      table_->total_cycles = row->cycles;
      if (right) return;
    }
    AddKernel(*table_, {std::string(name.kernel), std::string(name.category), row->cycles},
              log_.warnings);
  }

  void Close() {
    if (!table_.has_value()) return;
    if (table_->total_cycles == 0 && rules_ == LogRules::kRight) {
      for (const uint32_t kernel : table_->sequence) {
        table_->total_cycles += table_->kernels[kernel].cycles;
      }
    }
    log_.tables.push_back(std::move(*table_));
    table_.reset();
  }

  LogRules rules_;
  std::string phase_ = "UNKN";
  std::optional<IdealTable> table_;
  CompilerLog log_;
};

}  // namespace

const IdealKernel* IdealTable::Find(std::string_view kernel) const {
  const auto at = by_name.find(std::string(kernel));
  return at == by_name.end() ? nullptr : &kernels[at->second];
}

CompilerLog ParseCompilerLog(std::string_view text, LogRules rules) {
  LogParser parser(rules);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    parser.Line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parser.Finish();
}

Status AddIdealCycles(std::string_view kernel, std::string_view json, LogRules rules,
                      IdealTable& table) {
  IdealKernel added{std::string(kernel), "", 0};
  JsonReader reader;
  TRY(reader.OpenCopy(json));  // a few hundred bytes
  TRY(reader.root().ForEachElement([&](JsonValue entry) {
    return entry.ForEachField([&](std::string_view key, JsonValue value) {
      if (key == "ideal_cycles") {
        const int64_t cycles = std::clamp<int64_t>(value.IntOrText().value_or(0), 0, kMostCycles);
        if (rules == LogRules::kRight || added.cycles == 0) added.cycles += cycles;
      } else if (key == "op_category" && added.category.empty()) {
        added.category = value.String().value_or("");
      }
    });
  }));
  if (added.category.empty()) added.category = "NotAvailable";
  table.total_cycles += added.cycles;
  std::vector<std::string> repeated;  // a directory holds a name once
  AddKernel(table, std::move(added), repeated);
  return {};
}

}  // namespace debrief::accel
