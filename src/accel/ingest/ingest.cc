#include "accel/ingest/ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>

#include "accel/ingest/fold_pairs.h"
#include "accel/ingest/input_list.h"
#include "accel/ingest/rank_rules.h"
#include "accel/ingest/read_trace.h"
#include "base/bytes/decompress.h"
#include "base/bytes/spill.h"

namespace debrief::accel {

namespace {

enum class FileKind : uint8_t { kJson, kPerfetto, kLog };

std::string_view BaseName(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// The last characters of a name, for lines that must stay short.
std::string ShortName(std::string_view name) {
  return name.size() <= 15 ? std::string(name) : ".." + std::string(name.substr(name.size() - 15));
}

bool LooksLikeLog(std::string_view line) {
  return line.size() > 3 && line[0] >= '0' && line[0] <= '2' && line[1] >= '0' && line[1] <= '9' &&
         line[2] == ':' && line[3] == '0';
}

FileKind KindOf(std::string_view path, std::string_view head) {
  const size_t at = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (at == std::string_view::npos) return FileKind::kJson;  // empty: said by the reader
  const std::string_view text = head.substr(at);
  if (text[0] == '{' || text[0] == '[') return FileKind::kJson;
  if (path.find(".json") != std::string_view::npos) return FileKind::kJson;
  if (path.find(".log") != std::string_view::npos || LooksLikeLog(text)) return FileKind::kLog;
  return FileKind::kPerfetto;
}

// One look-ahead event a file; the smallest `ts` goes first, among equal ones that of the file that
// was refilled last.
class Merge {
 public:
  explicit Merge(std::vector<EventList>& files) : files_(files), next_(files.size(), 0) {
    for (size_t i = 0; i < files.size(); ++i) Offer(i, -static_cast<int64_t>(i));
  }

  EventList Run() {
    EventList merged;
    size_t total = 0;
    for (const EventList& file : files_) total += file.size();
    merged.reserve(total);
    int64_t refills = 0;
    while (!heap_.empty()) {
      const Front front = heap_.top();
      heap_.pop();
      merged.push_back(files_[front.file][next_[front.file]++]);
      Offer(front.file, ++refills);
    }
    return merged;
  }

 private:
  struct Front {
    double ts;
    int64_t refill;
    size_t file;
    bool operator<(const Front& other) const {
      return ts != other.ts ? ts > other.ts : refill < other.refill;
    }
  };

  void Offer(size_t file, int64_t refill) {
    if (next_[file] < files_[file].size()) heap_.push({files_[file][next_[file]].ts, refill, file});
  }

  std::vector<EventList>& files_;
  std::vector<size_t> next_;
  std::priority_queue<Front> heap_;
};

class Ingestion {
 public:
  Ingestion(Run& run, const std::string& temporary_folder) : run_(run), ranks_(run) {
    budget_.folder = temporary_folder;
  }

  Result<Ingested> Read() {
    const InputList list = FindFiles(run_.options.input, run_.options.compat);
    for (const std::string& element : list.unmatched)
      run_.console.Warning(fmt::format("{}: no such file; left out", element));
    if (list.files.empty())
      return Status(Code::kNotFound, "No input files found")
          .Remedy("Check the paths behind -i; patterns with blanks need quotes.");
    TellFiles(list.files);
    for (const std::string& path : list.files) ReadFile(path);
    TellDurations();
    Ingested out;
    out.metadata = std::move(metadata_);
    out.files_read = files_.size();
    out.has_fatal_trouble = has_fatal_trouble_;
    out.events = files_.size() == 1 ? std::move(files_[0]) : Merge(files_).Run();
    return out;
  }

 private:
  void TellFiles(const std::vector<std::string>& files) const {
    std::string names;
    for (const std::string& file : files)
      names += fmt::format("{}'{}'", names.empty() ? "" : ", ", file);
    run_.console.Info(fmt::format("Reading files: [{}]", names));
    run_.console.Info(fmt::format("Ingesting {} files.", files.size()));
  }

  void ReadFile(const std::string& path) {
    auto opened = Open(path);
    if (!opened.ok()) return ReportUnread(path, opened.status());
    auto read = ReadTrace(*opened.value(), run_.threads, run_);
    if (!read.ok()) return ReportUnread(path, read.status());
    Take(path, read.value());
  }

  void ReportUnread(const std::string& path, const Status& status) {
    has_fatal_trouble_ = true;
    run_.console.Error(fmt::format("{}: {}{}{}; the file is left out", path, status.message(),
                                   status.remedy().empty() ? "" : ". ", status.remedy()));
  }

  Result<std::unique_ptr<Source>> Open(const std::string& path) {
    ASSIGN_OR_RETURN(auto source, OpenFileSource(path));
    ASSIGN_OR_RETURN(ByteView head, source->View(0, 4096));
    const Packing packing = DetectPacking(head.text());
    if (packing != Packing::kNone) {
      auto stream = Decompress(packing, MakeSourceStream(*source), ExpansionLimits());
      Spilled spilled = Spill(*stream, budget_);
      if (!spilled.trouble.ok())
        run_.console.Error(
            fmt::format("{}: {}; what came before is used", path, spilled.trouble.message()));
      source = std::move(spilled.source);
      ASSIGN_OR_RETURN(head, source->View(0, 4096));
    }
    if (run_.options.to_json != nullptr && MayBePerfetto(head.text())) {
      ASSIGN_OR_RETURN(const auto json, run_.options.to_json(path));
      if (json) return OpenFileSource(*json);
    }
    TRY(CheckKind(path, head.text()));
    return source;
  }

  // A packet begins with the byte that is a line end in texts, so that its name says nothing.
  static bool MayBePerfetto(std::string_view head) { return head.size() > 2 && head[0] == '\x0a'; }

  static Status CheckKind(const std::string& path, std::string_view head) {
    switch (KindOf(path, head)) {
      case FileKind::kJson:
        return {};
      case FileKind::kLog:
        return Status(Code::kUnsupported, "a log is no trace").Remedy("Compiler logs go behind -c");
      default:
        return Status(Code::kUnsupported, "neither JSON nor a trace of Perfetto")
            .Remedy("`debrief list inputs FILE` says what it is");
    }
  }

  void Take(const std::string& path, TraceFile& file) {
    const FileFacts facts = FactsOf(file.members);
    if (file.is_cut)
      run_.console.Error(fmt::format("{}: the file ends early; {} events before that are used",
                                     path, file.events.size()));
    if (facts.is_own_output) {
      run_.console.Warning(fmt::format(
          "INGEST: Attempting to import a json file that had been processed by acelyzer already."
          "Dropping ALL Events from file {}",
          path));
      file.events.clear();
      file.offsets.clear();
    }
    FoldPairs(file, run_);
    AddJob(path, file, facts);
    LeaveOutBad(file, path);
    ranks_.Apply(file, facts, static_cast<uint32_t>(run_.jobs.size() - 1));
    AddMetadata(file, facts);
    file.trouble.Log(path, run_.console);
    has_fatal_trouble_ |= file.is_cut || file.trouble.StopsReference();
    files_.push_back(std::move(file.events));
  }

  Dialect DialectOf(const TraceFile& file, const FileFacts& facts) const {
    if (facts.has_device_properties) return Dialect::kTorch;
    if (run_.options.compat) return Dialect::kFlex;
    const bool has_stamps = std::any_of(file.events.begin(), file.events.end(), [](const Event& e) {
      return e.Has(key::kTS1) || e.Has(key::kTS1, ArgPlace::kAttr);
    });
    if (has_stamps) return Dialect::kFlex;
    const bool has_ops = std::any_of(file.events.begin(), file.events.end(), [](const Event& e) {
      return e.cat == key::kCpuOp || e.cat == key::kKernel || e.cat == key::kGpuMemcpy;
    });
    return facts.has_schema || has_ops ? Dialect::kTorch : Dialect::kFlex;
  }

  void AddJob(const std::string& path, const TraceFile& file, const FileFacts& facts) {
    Job job;
    job.path = path;
    job.base_name = BaseName(path);
    job.name = run_.Intern(job.base_name);
    job.dialect = DialectOf(file, facts);
    job.number = static_cast<int64_t>(run_.jobs.size());
    run_.jobs.push_back(std::move(job));
  }

  void AddMetadata(const TraceFile& file, const FileFacts& facts) {
    metadata_.AddMembers(file.members);
    for (const auto& [key, value] : file.members) {
      if (key == "distributedInfo") metadata_.distributed.try_emplace(ranks_.rank(), value);
    }
    std::vector<DeviceEntry> devices = facts.devices;
    if (!facts.has_device_properties && run_.options.compat) devices.emplace_back();
    if (run_.options.compat) {
      for (DeviceEntry& device : devices) {
        for (auto& [key, value] : device.members) {
          if (key == "id") value = std::to_string(ranks_.rank());
        }
      }
    }
    metadata_.AddDevices(devices);
  }

  // Why an event is no good; empty when it is.
  std::string_view TroubleOf(const Event& event) const {
    if (event.pid.IsNull()) return "has no process (`pid`)";
    if (event.name == StringId::kNone && !run_.options.verify) return kNoName;
    if (!event.has_ts && (event.phase != 'M' || run_.options.compat)) return kNoTime;
    if (event.phase == 'X' && !event.has_dur) return "has no duration (`dur`)";
    return "";
  }

  void LeaveOutBad(TraceFile& file, const std::string& path) {
    int64_t zero = 0;
    size_t kept = 0;
    for (size_t i = 0; i < file.events.size(); ++i) {
      const Event& event = file.events[i];
      if (const std::string_view what = TroubleOf(event); !what.empty()) {
        file.trouble.Add(what, file.offsets[i]);
        continue;
      }
      if (event.phase == 'X' && event.dur < 0) {
        ++negative_;
        continue;
      }
      if (event.phase == 'X' && std::abs(event.dur) < 1e-9) {
        ++zero;
        zero_with_cycles_ += HasCycles(event) ? 1 : 0;
      }
      file.events[kept++] = event;
    }
    file.events.resize(kept);
    if (zero > 0)
      run_.console.Warning(fmt::format(
          "Ingestion: {} Detected 'CompleteEvent' type (ph=X) with zero duration. This should be "
          "an 'InstantEvent' type (ph=i). Events: {}",
          ShortName(BaseName(path)), zero));
  }

  bool HasCycles(const Event& event) const {
    for (ArgPlace place : {ArgPlace::kArgs, ArgPlace::kAttr}) {
      const Arg* first = event.Find(key::kTS1, place);
      const Arg* last = event.Find(key::kTS5, place);
      if (first != nullptr && last != nullptr && !(first->value() == last->value())) return true;
    }
    return false;
  }

  void TellDurations() const {
    if (zero_with_cycles_ > 0)
      run_.console.Warning(fmt::format(
          "Ingestion: ..level_multifile Detected {} events with zero wallclock but nonzero HW "
          "time. Indication of time calibration errors during trace capture.",
          zero_with_cycles_));
    if (negative_ > 0)
      run_.console.Warning(fmt::format(
          "Ingestion: detected negative duration event(s). Events ignored:{}", negative_));
  }

  Run& run_;
  RankRules ranks_;
  SpillBudget budget_;
  std::vector<EventList> files_;
  Metadata metadata_;
  bool has_fatal_trouble_ = false;
  int64_t negative_ = 0;
  int64_t zero_with_cycles_ = 0;
};

}  // namespace

Result<Ingested> Ingest(Run& run, const std::string& temporary_folder) {
  return Ingestion(run, temporary_folder).Read();
}

}  // namespace debrief::accel
