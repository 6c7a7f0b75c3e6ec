// Files of tritonparse: Triton kernels as they are compiled, tuned and launched, one JSON object a
// line. docs/formats/tritonparse.md
//
// Lines are long: those of compilations hold the kernel in all its forms (ttir, ptx, ...), which
// are skipped. Launches are counted, since there are as many as steps times kernels.
#include "inputs/importer.h"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/text/strings.h"
#include "inputs/sniffing.h"
#include "inputs/tritonparse/event.h"
#include "tables/triton_kernel.h"
#include "tables/triton_launch.h"
#include "tables/triton_tuning.h"

namespace debrief::inputs::tritonparse {

namespace {

constexpr DiagnosticKind kBadLine = {
    "tritonparse.bad_line", Severity::kWarning, "a line is cut or no JSON object; left out",
    "The process was killed while it wrote, or two processes wrote into one file."};
constexpr DiagnosticKind kUnknownEvent = {
    "tritonparse.unknown_event", Severity::kInfo,
    "an event of another kind than compilation, launch or autotune; left out",
    "Nothing of the kernels is lost."};

// The keys stand in this order in what tritonparse writes, raw or processed.
Recognition Sniff(const SniffInput& input) {
  constexpr size_t kNear = 64;
  if (!input.head.starts_with('{')) return {};
  const std::string_view begin = input.head.substr(0, kNear);
  const size_t key = begin.find("\"event_type\"");
  if (key == std::string_view::npos) return {};
  const std::string_view value = begin.substr(key);
  const bool known = Contains(value, "\"compilation\"") || Contains(value, "\"launch\"") ||
                     Contains(value, "\"autotune\"");
  const bool has_own_key = HasWord(input.head, "\"payload\"") || HasWord(input.head, "\"stack\"") ||
                           HasWord(input.head, "\"compilation_metadata\"");
  Recognition found{.mine = known && has_own_key};
  const size_t pid = begin.find("\"pid\":");
  if (found.mine && pid != std::string_view::npos)
    found.pid = NumberAt(begin, begin.find_first_not_of(' ', pid + 6)).value_or(kNone64);
  return found;
}

class TraceReader final : public Reader {
 public:
  explicit TraceReader(const ImportContext& context)
      : who_(context.who), chunk_bytes_(context.chunk_bytes) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    std::vector<ByteRange> ranges;
    uint64_t begin = 0;
    while (begin < source.size()) {
      ASSIGN_OR_RETURN(const uint64_t end, EndOfLine(source, begin + chunk_bytes_ - 1));
      ranges.push_back({begin, end});
      begin = end;
    }
    return ranges;
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    ASSIGN_OR_RETURN(const ByteView bytes, source.View(range.begin, range.size()));
    std::string_view rest = bytes.text();
    JsonReader reader;
    auto counted = std::make_unique<Counted>();
    while (!rest.empty()) {
      const std::string_view line = FirstLine(rest);
      const auto offset = static_cast<int64_t>(range.end - rest.size());
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (!Trimmed(line).empty()) AddLine(reader, line, offset, counted->launches, part);
    }
    part.notes = std::move(counted);
    return {};
  }

  Status Merge(Part&& part, Part& whole) override {
    const auto* counted = static_cast<const Counted*>(part.notes.get());
    for (const auto& [kernel, launched] : counted->launches) {
      const auto [known, is_new] = launches_.try_emplace(kernel, launched);
      if (!is_new) known->second.count += launched.count;
    }
    whole.Append(std::move(part));
    return {};
  }

  Status Finish(Part& whole) override {
    AddLaunches(whole);
    return {};
  }

 private:
  struct Launched {
    int64_t count = 0;
    int64_t offset = 0;
    std::string grid;
  };
  using Launches = std::map<std::pair<std::string, std::string>, Launched>;  // by name and hash
  // Of one range: a kernel has one row in the end.
  struct Counted final : PartNotes {
    Launches launches;
  };

  // Behind the first newline at or after `at`.
  static Result<uint64_t> EndOfLine(const Source& source, uint64_t at) {
    constexpr size_t kStep = 65536;
    for (; at < source.size(); at += kStep) {
      ASSIGN_OR_RETURN(const ByteView bytes, source.View(at, kStep));
      const size_t newline = bytes.text().find('\n');
      if (newline != std::string_view::npos) return at + newline + 1;
    }
    return source.size();
  }

  void AddLine(JsonReader& reader, std::string_view line, int64_t offset, Launches& launches,
               Part& part) const {
    Result<Event> event = ReadEvent(reader, line, part);
    if (!event.ok()) {
      part.diagnostics.Add(kBadLine, who_.input,
                           {.offset = offset, .detail = event.status().message()});
      return;
    }
    switch (event.value().kind) {
      case EventKind::kCompilation:
        return AddRow<TritonKernelTable>(event.value().kernel, offset, part);
      case EventKind::kTuning:
        return AddRow<TritonTuningTable>(event.value().tuning, offset, part);
      case EventKind::kLaunch: {
        if (event.value().launched.empty()) return;
        Launched& launched = launches[{event.value().launched, event.value().launched_hash}];
        if (launched.count++ > 0) return;
        launched.offset = offset;
        launched.grid = event.value().grid;
        return;
      }
      case EventKind::kOther:
        part.diagnostics.Add(kUnknownEvent, who_.input, {.offset = offset});
    }
  }

  template <typename Table, typename Row>
  void AddRow(Row row, int64_t offset, Part& part) const {
    row.job = who_.job;
    row.attempt = who_.attempt;
    row.rank = who_.rank;
    row.input = who_.input;
    row.file_offset = offset;
    part.tables.Edit<Table>().Add(row);
  }

  void AddLaunches(Part& part) const {
    for (const auto& [kernel, launched] : launches_) {
      TritonLaunchRow row;
      row.kernel = part.pools.Intern(kernel.first);
      if (!kernel.second.empty()) row.hash = part.pools.Intern(kernel.second);
      row.launches = launched.count;
      row.grid = part.pools.Intern(launched.grid);
      AddRow<TritonLaunchTable>(row, launched.offset, part);
    }
  }

  Identity who_;
  uint64_t chunk_bytes_;
  Launches launches_;
};

constexpr std::array<std::string_view, 3> kMakes = {"triton_kernel", "triton_launch",
                                                    "triton_tuning"};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "tritonparse",
               .sentence = "tritonparse: Triton kernels as they are compiled, tuned and launched",
               .example = "dedicated_log_triton_trace_me_rank_0_.ndjson",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<TraceReader>};
  return kImporter;
}

}  // namespace debrief::inputs::tritonparse
