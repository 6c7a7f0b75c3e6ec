// Logs of the AIU compiler (DeepRT): tables of ideal cycles per kernel, as text or as
// ideal_cycles.json. docs/formats/aiu_compiler_log.md; the grammar: model/accel/compiler_log.h
//
// A log is read as a whole: what stands anywhere in it (the autopilot) holds for all its tables,
// and tables are kilobytes. Longer ones are cut, so that memory stays bounded.
#include "inputs/importer.h"

#include <array>

#include "inputs/sniffing.h"
#include "model/accel/compiler_log.h"
#include "tables/accel_ideal.h"

namespace debrief::inputs::aiu_compiler_log {

namespace {

constexpr uint64_t kMostBytes = 256 << 20;

constexpr DiagnosticKind kTooLong = {
    "aiu_compiler_log.too_long", Severity::kWarning,
    "the log is longer than 256 MB; only its beginning was read",
    "Give the part of the log that has the tables between Perf Summary and Perf Summary End."};
constexpr DiagnosticKind kOdd = {"aiu_compiler_log.odd", Severity::kWarning,
                                 "something in the log is not as it should be",
                                 "Compare the place with the log of a healthy compilation."};
constexpr DiagnosticKind kNoTable = {
    "aiu_compiler_log.no_table", Severity::kInfo, "the log has no table of ideal cycles",
    "Compile with performance summaries switched on; utilisation needs them."};
constexpr DiagnosticKind kBadJson = {
    "aiu_compiler_log.bad_json", Severity::kError,
    "the JSON of ideal_cycles.json is broken or no list of {ideal_cycles, op_category}",
    "Compile again; the file was cut or is of another version."};

Recognition Sniff(const SniffInput& input) {
  if (input.json != nullptr && input.json->Has("[].ideal_cycles")) return {.mine = true};
  constexpr std::string_view kZeros("\0\0", 2);  // soon found in what is no text
  if (input.head.find(kZeros) != std::string_view::npos) return {};
  auto has = [&](std::string_view text) { return HasWord(input.head, text); };
  bool mine = (input.head.starts_with("[DeepRT]") || has("\n[DeepRT] ") ||
               has("====== Perf Summary ======")) &&
              LooksLikeText(input.head);
  return {.mine = mine};
}

// <dir>/inductor-spyre/<kernel>/perf/ideal_cycles.json -> <kernel>
std::string_view KernelOfPath(std::string_view path) {
  size_t last = path.rfind("/perf/");
  if (last == std::string_view::npos) return "ideal_cycles";
  std::string_view folder = path.substr(0, last);
  return folder.substr(folder.rfind('/') + 1);
}

bool IsJson(std::string_view text) {
  size_t first = text.find_first_not_of(" \t\r\n");
  // "[DeepRT]" begins with a bracket, too.
  return first != std::string_view::npos && text[first] == '[' &&
         text.find_first_not_of(" \t\r\n", first + 1) != std::string_view::npos &&
         text[text.find_first_not_of(" \t\r\n", first + 1)] == '{';
}

class LogReader final : public Reader {
 public:
  explicit LogReader(const ImportContext& context) : who_(context.who), path_(context.path) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    is_cut_ = source.size() > kMostBytes;
    if (source.size() == 0) return std::vector<ByteRange>();
    return std::vector<ByteRange>{{0, std::min(source.size(), kMostBytes)}};
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(ByteView bytes, source.View(range.begin, range.size()));
    IsJson(bytes.text()) ? ReadJson(bytes.text(), part) : ReadText(bytes.text(), part);
    if (is_cut_) part.diagnostics.Add(kTooLong, who_.input, {});
    return {};
  }

 private:
  void ReadText(std::string_view text, Part& part) const {
    accel::CompilerLog log = accel::ParseCompilerLog(text, accel::LogRules::kRight);
    for (std::string& warning : log.warnings)
      part.diagnostics.Add(kOdd, who_.input, {.detail = std::move(warning)});
    if (log.tables.empty()) part.diagnostics.Add(kNoTable, who_.input, {});
    for (size_t i = 0; i < log.tables.size(); ++i) {
      AddTable(log.tables[i], i, log.autopilot, part);
      AddRow("Total", "Total", log.tables[i].total_cycles, log.tables[i].phase, i, log.autopilot,
             part);
    }
  }

  void ReadJson(std::string_view text, Part& part) const {
    accel::IdealTable table;
    Status status =
        accel::AddIdealCycles(KernelOfPath(path_), text, accel::LogRules::kRight, table);
    if (!status.ok())
      part.diagnostics.Add(kBadJson, who_.input, {.offset = 0, .detail = status.message()});
    AddTable(table, 0, false, part);
  }

  void AddTable(const accel::IdealTable& table, size_t number, bool autopilot, Part& part) const {
    for (const accel::IdealKernel& kernel : table.kernels)
      AddRow(kernel.name, kernel.category, kernel.cycles, table.phase, number, autopilot, part);
  }

  void AddRow(std::string_view kernel, std::string_view category, int64_t cycles,
              std::string_view phase, size_t number, bool autopilot, Part& part) const {
    auto row = Part::RowOf<AccelIdealRow>(who_);
    row.number = static_cast<int32_t>(number);
    row.phase = part.pools.Intern(phase);
    row.kernel = part.pools.Intern(kernel);
    row.category = part.pools.Intern(category);
    row.cycles = cycles;
    row.autopilot = autopilot;
    part.tables.Edit<AccelIdealTable>().Add(row);
  }

  Identity who_;
  std::string path_;
  bool is_cut_ = false;
};

constexpr std::array<std::string_view, 1> kMakes = {"accel_ideal"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "aiu_compiler_log",
               .sentence = "AIU compiler log: ideal cycles per kernel",
               .example = "compiler.log",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<LogReader>};
  return kImporter;
}

}  // namespace debrief::inputs::aiu_compiler_log
