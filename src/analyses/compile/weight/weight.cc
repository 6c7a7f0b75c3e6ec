// Why is this log so large? Every byte of it belongs to an entry, the string table or nothing;
// three ways to divide them: by kind of entry, by compilation, by the line of PyTorch that logged
// it.
//
// One pass over the entries with a counter for each name: payloads are not read. An entry with
// several kinds of content counts once, as its first. Kinds, compilations and lines that log are
// few, so the table is small whatever the log.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/compile/rows.h"
#include "tables/compile_entry.h"
#include "tables/compile_string.h"
#include "tables/compile_weight.h"
#include "tables/input.h"

namespace debrief::analyses::compile_weight {

namespace {

// Choices, not measurements: the logs of single cases that were recorded have 0.05 to 6 MB, so 100
// MB is large; a kind with more than half of a log is the one to begin with.
constexpr int64_t kLargeLog = 100'000'000;
constexpr double kDominantShare = 0.5;

struct Weight {
  int64_t entries = 0;
  int64_t bytes = 0;
};

// Two ids, for example file and line.
struct PairHash {
  size_t operator()(const std::pair<uint32_t, uint32_t>& pair) const {
    return (uint64_t{pair.first} << 32 | pair.second) * 0x9e3779b97f4a7c15u >> 7;
  }
};
using Counters = std::unordered_map<std::pair<uint32_t, uint32_t>, Weight, PairHash>;

struct Log {
  Identity who;
  Counters kinds;    // kind and name
  Counters ids;      // compile id
  Counters sources;  // file and line
  Weight strings;
  int64_t counted = 0;
};

uint32_t Number(StringId id) { return static_cast<uint32_t>(id); }

void Count(Counters& counters, uint32_t first, uint32_t second, int64_t bytes) {
  Weight& weight = counters[{first, second}];
  ++weight.entries;
  weight.bytes += bytes;
}

class Weigher : EntryPass {
 public:
  Weigher(const Model& model, Part& part) : EntryPass(model, part) {}

  void Run() {
    for (size_t row = 0; row < entries_.size(); ++row) AddEntry(row);
    AddStrings();
    for (auto& [input, log] : logs_) Write(log);
  }

 private:
  Log& LogOf(const Identity& who) {
    if (last_ != nullptr && last_->who.input == who.input) return *last_;
    auto [at, is_new] = logs_.try_emplace(who.input);
    if (is_new) at->second.who = who;
    return *(last_ = &at->second);
  }

  void AddEntry(size_t row) {
    if (!BeginsEntry(entries_, row)) return;
    Log& log = LogOf(IdentityOf(entries_, row));
    const int64_t bytes = int64_t{std::max(entries_.header_bytes[row], 0)} + 1 +
                          std::max<int64_t>(entries_.payload_bytes[row], 0);
    log.counted += bytes;
    const uint32_t kind = Number(entries_.kind[row]);
    const uint32_t name = is_artifact_(entries_.kind[row]) ? Number(entries_.name[row]) : 0;
    Count(log.kinds, kind, name, bytes);
    Count(log.ids, Number(entries_.compile_id[row]), 0, bytes);
    Count(log.sources, Number(entries_.source_file[row]),
          static_cast<uint32_t>(entries_.source_line[row]), bytes);
  }

  void AddStrings() {
    const auto& strings = model_.tables.Get<CompileStringTable>();
    for (size_t row = 0; row < strings.size(); ++row) {
      Log& log = LogOf(IdentityOf(strings, row));
      ++log.strings.entries;
      log.strings.bytes += int64_t{std::max(strings.header_bytes[row], 0)} + 1;
    }
  }

  // The size of the log; what entries take when it is not known.
  int64_t SizeOf(const Log& log) const {
    const auto& inputs = model_.tables.Get<InputTable>();
    const int64_t counted = log.counted + log.strings.bytes;
    const auto row = static_cast<size_t>(log.who.input);
    if (log.who.input < 0 || row >= inputs.size()) return counted;
    const int64_t unpacked = inputs.content_bytes[row];
    const int64_t size = unpacked == kNone64 ? inputs.bytes[row] : unpacked;
    return size == kNone64 ? counted : size;
  }

  using Named = std::map<std::string, Weight>;

  void Write(const Log& log) {
    const int64_t size = std::max<int64_t>(SizeOf(log), 1);
    Named kinds, ids, sources;
    for (const auto& [key, weight] : log.kinds) Add(kinds, KindName(key), weight);
    for (const auto& [key, weight] : log.ids) Add(ids, IdName(key.first), weight);
    for (const auto& [key, weight] : log.sources) Add(sources, SourceName(key), weight);
    // The end of the last line may be missing.
    const Weight rest = {0, std::max<int64_t>(size - log.counted - log.strings.bytes, 0)};
    for (auto [by, names] :
         {std::pair("kind", &kinds), {"compile_id", &ids}, {"source", &sources}}) {
      if (log.strings.bytes > 0) Add(*names, "(string table)", log.strings);
      if (rest.bytes > 0) Add(*names, "(outside of entries)", rest);
      WriteRows(log, by, *names, size);
    }
  }

  static void Add(Named& names, std::string name, const Weight& weight) {
    Weight& sum = names[std::move(name)];
    sum.entries += weight.entries;
    sum.bytes += weight.bytes;
  }

  // The largest first.
  void WriteRows(const Log& log, std::string_view by, const Named& names, int64_t size) {
    std::vector<const Named::value_type*> order;
    for (const auto& name : names) order.push_back(&name);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
      return std::pair(-a->second.bytes, std::string_view(a->first)) <
             std::pair(-b->second.bytes, std::string_view(b->first));
    });
    for (const auto* name : order) {
      auto row = Part::RowOf<CompileWeightRow>(log.who);
      row.input = log.who.input;
      row.divided_by = part_.pools.Intern(by);
      row.name = part_.pools.Intern(name->first);
      row.entries = name->second.entries;
      row.bytes = name->second.bytes;
      row.share = static_cast<double>(row.bytes) / static_cast<double>(size);
      part_.tables.Edit<CompileWeightTable>().Add(row);
    }
  }

  std::string KindName(const std::pair<uint32_t, uint32_t>& key) const {
    const std::string_view kind = model_.pools.Text(StringId{key.first});
    if (key.second != 0)
      return fmt::format("{}: {}", kind, model_.pools.Text(StringId{key.second}));
    return kind.empty() ? "(envelope only)" : std::string(kind);
  }

  std::string IdName(uint32_t id) const {
    const std::string_view text = model_.pools.Text(StringId{id});
    return text.empty() || text == "-/-" ? "(no compilation)" : std::string(text);
  }

  std::string SourceName(const std::pair<uint32_t, uint32_t>& key) const {
    return fmt::format("{}:{}", model_.pools.Text(StringId{key.first}),
                       static_cast<int32_t>(key.second));
  }

  std::map<int32_t, Log> logs_;  // by input
  Log* last_ = nullptr;
  AskOnce<bool> is_artifact_{model_.pools,
                             [](std::string_view kind) { return kind == "artifact"; }};
};

void AddFindings(const Part& part, std::vector<Finding>& findings) {
  const auto& weights = part.tables.Get<CompileWeightTable>();
  for (size_t i = 0; i < weights.size(); ++i) {
    if (part.pools.Text(weights.divided_by[i]) != "kind" || weights.share[i] <= kDominantShare)
      continue;
    const double size = static_cast<double>(weights.bytes[i]) / weights.share[i];
    if (size < static_cast<double>(kLargeLog)) continue;
    Finding finding = NewFinding("compile.log_dominated", weights.job[i], weights.attempt[i]);
    finding.headline = fmt::format("{:.0f} % of a compile log of {:.0f} MB is {} ({} entries)",
                                   100 * weights.share[i], size / 1e6,
                                   part.pools.Text(weights.name[i]), weights.entries[i]);
    finding.evidence.push_back({.text = "bytes by kind of entry",
                                .table = "compile_weight",
                                .rows = {static_cast<int64_t>(i)}});
    finding.why = "lines and payloads of the log, counted";
    finding.next_step =
        "See what else: debrief query OUT \"FROM compile_weight ORDER BY input, divided_by, bytes "
        "DESC\"";
    findings.push_back(std::move(finding));
  }
}

Status Run(const Model& model, AnalysisResult& result) {
  Weigher(model, result.part).Run();
  AddFindings(result.part, result.findings);
  return {};
}

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_weight",
               .sentence = "Why is this compile log so large?",
               .example = "71 % of a compile log of 2150 MB is chromium_event (400120 entries)",
               .needs = kTableNames<CompileEntryTable>,
               .makes = kTableNames<CompileWeightTable>,
               .uses = kTableNames<CompileStringTable, InputTable>},
      .run = Run};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_weight
