// Nsight Systems: the SQLite that `nsys export --type sqlite` writes.
//
// Every table of events is read in stretches of pages, each by a thread of its own with a database
// of its own over the same bytes (base/sqlite/database.h). A report in the format of Nsight Systems
// itself (.nsys-rep, .qdrep) is recognised, and told how to be exported. docs/formats/nsys.md
#include "inputs/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <span>

#include "inputs/nsys/diagnostics.h"
#include "inputs/nsys/event_rows.h"
#include "inputs/nsys/export_facts.h"
#include "inputs/nsys/ids.h"
#include "inputs/nsys/members.h"
#include "inputs/sniffing.h"
#include "model/timeline/kinds.h"
#include "model/timeline/writer.h"
#include "tables/cuda_call_error.h"
#include "tables/timeline.h"
#include "tables/timeline_device.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_fact.h"

namespace debrief::inputs::nsys {

namespace {

constexpr std::array<std::string_view, 11> kMakes = {
    "timeline",        "timeline_process",     "timeline_track", "timeline_slice",
    "timeline_flow",   "timeline_device_work", "timeline_op",    "timeline_collective",
    "timeline_device", "timeline_fact",        "cuda_call_error"};

bool IsReport(std::string_view name) {
  return name.ends_with(".nsys-rep") || name.ends_with(".qdrep") || name.ends_with(".qdstrm");
}

bool IsExport(std::span<const std::string> tables) {
  auto has = [&](std::string_view name) { return std::ranges::find(tables, name) != tables.end(); };
  auto has_some = [&](std::string_view begin) {
    return std::ranges::any_of(tables,
                               [&](const std::string& name) { return name.starts_with(begin); });
  };
  const bool is_told = has("META_DATA_EXPORT") || has("EXPORT_META_DATA");
  const bool has_work = has_some("CUPTI_ACTIVITY_KIND_");
  // Texts may be missing (nsys export --tables): times are there without names.
  return has("StringIds") ? is_told || has_work || has_some("TARGET_INFO_") : is_told && has_work;
}

Recognition Sniff(const SniffInput& input) {
  if (!LooksLikeSqlite(input.head))
    return {.mine = IsReport(input.name) && input.json == nullptr && !LooksLikeText(input.head)};
  if (!input.tables.empty()) return {.mine = IsExport(input.tables)};
  // Its schema cannot be read: the first page tells, where it is there.
  return {.mine = HasWord(input.head, "StringIds") || HasWord(input.head, "TARGET_INFO_")};
}

// Some leaves of one table.
struct Stretch {
  const EventTable* table = nullptr;
  std::vector<uint32_t> leaves;
};

class NsysReader final : public Reader {
 public:
  explicit NsysReader(const ImportContext& context)
      : who_(context.who),
        chunk_bytes_(context.chunk_bytes),
        process_(context.member),
        joiner_(context.who) {}

  Result<std::vector<ByteRange>> Split(const Source& source) override {
    ASSIGN_OR_RETURN(ByteView head, source.View(0, 16));
    if (!LooksLikeSqlite(head.text()))
      return Status(Code::kUnsupported, std::string(kNotExported.meaning))
          .Remedy(std::string(kNotExported.remedy));
    ASSIGN_OR_RETURN(database_, SqliteDatabase::Open(source));
    facts_ = ReadExportFacts(*database_, process_);
    for (auto tables : {DeviceTables(), HostTables(), NvtxTables()}) {
      for (const EventTable& table : tables) AddStretches(table);
    }
    TRY(database_->trouble());
    return RangesOf(source.size());
  }

  Status Read(const Source& source, ByteRange range, Part& part) const override {
    const auto at = std::lower_bound(begins_.begin(), begins_.end(), range.begin);
    const Stretch& stretch = stretches_[static_cast<size_t>(at - begins_.begin())];
    SqliteDatabase database(source, *database_);
    EventRows rows(who_, facts_, process_, database, part);
    SqliteScan scan(database, stretch.table->name, stretch.table->columns, stretch.leaves);
    while (scan.Next()) stretch.table->add(scan, rows);
    if (!scan.damage().empty()) rows.notes().damaged = stretch.table;
    return database.trouble();
  }

  Status Merge(Part&& part, Part& whole) override {
    if (part.notes != nullptr) {
      const auto& notes = static_cast<const EventNotes&>(*part.notes);
      notes_.events += notes.events;
      notes_.lost += notes.lost;
      notes_.has_shapes |= notes.has_shapes;
      notes_.has_nccl |= notes.has_nccl;
      if (notes.damaged != nullptr) damaged_.insert(notes.damaged->name);
      part.notes.reset();
    }
    if (!is_reserved_) Reserve(whole);
    joiner_.Merge(std::move(part), whole);
    return {};
  }

  Status Finish(Part& whole) override {
    // Once for each table, however many of its pages are damaged.
    for (std::string_view table : damaged_)
      whole.diagnostics.Add(kDamaged, who_.input,
                            {.detail = fmt::format("{}: {}", table, kDamagedDatabase)});
    for (const std::string& text : facts_.recorder_errors)
      whole.diagnostics.Add(kRecorderError, who_.input, {.detail = text});
    if (notes_.events == 0) {
      whole.diagnostics.Add(kNoEvents, who_.input, {});
      return {};
    }
    if (facts_.base_ns == kNone64) whole.diagnostics.Add(kNoClock, who_.input, {});
    const timeline::EdgeCounts edges = joiner_.Finish({.producer = "nsys",
                                                       .base_ns = facts_.base_ns,
                                                       .events = notes_.events,
                                                       .lost = notes_.lost},
                                                      whole);
    if (edges.never_ended > 0) whole.diagnostics.AddMany(kOpenRange, who_.input, edges.never_ended);
    ShiftErrors(whole);
    NameTracks(whole);
    AddFacts(whole);
    return {};
  }

 private:
  // Ranges stand for stretches; their sizes say how far the reading is.
  Result<std::vector<ByteRange>> RangesOf(uint64_t size) {
    const uint64_t count = stretches_.size();
    if (size < count) return Status(Code::kInvalid, "it has more tables than bytes");
    std::vector<ByteRange> ranges;
    for (uint64_t i = 0; i < count; ++i) {
      begins_.push_back(size / count * i);
      ranges.push_back({begins_[i], size / count * (i + 1)});
    }
    return ranges;
  }

  // Memory for all rows at once: tables that grow double what they take.
  void Reserve(Part& whole) {
    is_reserved_ = true;
    whole.tables.Edit<TimelineSliceTable>().Reserve(rows_);
    whole.tables.Edit<TimelineDeviceWorkTable>().Reserve(device_rows_);
  }

  void AddStretches(const EventTable& table) {
    constexpr size_t kMostStretches = 64;
    const TableLeaves leaves = database_->LeavesOf(table.name);
    if (leaves.is_damaged) damaged_.insert(table.name);
    const size_t wanted = std::max(static_cast<size_t>(chunk_bytes_ / database_->page_bytes()),
                                   leaves.pages.size() / kMostStretches + 1);
    for (size_t done = 0; done < leaves.pages.size(); done += wanted) {
      const auto some =
          std::span(leaves.pages).subspan(done).first(std::min(wanted, leaves.pages.size() - done));
      stretches_.push_back({&table, {some.begin(), some.end()}});
    }
    const size_t rows = database_->CountRows(leaves.pages);
    rows_ += rows;
    const bool is_device =
        &table >= DeviceTables().data() && &table < DeviceTables().data() + DeviceTables().size();
    if (is_device) device_rows_ += rows;
  }

  void ShiftErrors(Part& whole) const {
    if (facts_.base_ns == kNone64) return;
    for (int64_t& time : whole.tables.Edit<CudaCallErrorTable>().start_ns) time += facts_.base_ns;
  }

  void NameTracks(Part& whole) const {
    std::unordered_map<std::string, std::string_view> threads;
    for (const auto& [id, name] : facts_.thread_names)
      threads.emplace(fmt::format("{}/{}", PidOf(id), TidOf(id)), name);
    auto& tracks = whole.tables.Edit<TimelineTrackTable>();
    auto& processes = whole.tables.Edit<TimelineProcessTable>();
    const StringId stream = whole.pools.Intern(timeline::kStream);
    std::vector<int32_t> device_of(processes.size(), kNone32);
    for (size_t i = 0; i < tracks.size(); ++i) {
      const auto process = static_cast<size_t>(tracks.process[i]);
      if (tracks.kind[i] == stream) {
        device_of[process] = tracks.device[i];
        tracks.name[i] =
            whole.pools.Intern(tracks.stream[i] < 0 ? std::string("all streams")
                                                    : fmt::format("stream {}", tracks.stream[i]));
        continue;
      }
      const auto name = threads.find(fmt::format("{}/{}", whole.pools.Text(processes.pid[process]),
                                                 whole.pools.Text(tracks.tid[i])));
      if (name != threads.end()) tracks.name[i] = whole.pools.Intern(name->second);
    }
    NameProcesses(device_of, whole);
  }

  // A device is shown as a process.
  void NameProcesses(const std::vector<int32_t>& device_of, Part& whole) const {
    constexpr int32_t kBehindHosts = 5'000'000;
    auto& processes = whole.tables.Edit<TimelineProcessTable>();
    for (size_t i = 0; i < processes.size(); ++i) {
      const auto pid = NumberAt(whole.pools.Text(processes.pid[i]), 0).value_or(0);
      if (device_of[i] != kNone32) {
        const std::string label = fmt::format("GPU {}", device_of[i]);
        processes.name[i] = processes.labels[i] = whole.pools.Intern(label);
        processes.sort_index[i] = kBehindHosts + std::clamp(device_of[i], 0, 1'000'000);
        continue;
      }
      const auto name = facts_.process_names.find(pid);
      if (name != facts_.process_names.end()) processes.name[i] = whole.pools.Intern(name->second);
      processes.labels[i] = whole.pools.Intern("CPU");
    }
  }

  void AddFacts(Part& whole) const {
    auto& table = whole.tables.Edit<TimelineTable>();
    table.has_shapes.back() = notes_.has_shapes;
    if (notes_.has_nccl) table.backend.back() = whole.pools.Intern("nccl");
    for (const ExportDevice& device : facts_.devices) {
      auto row = Part::RowOf<TimelineDeviceRow>(who_);
      row.device = Narrow(device.device);
      row.name = whole.pools.Intern(device.name);
      row.memory_bytes = device.memory_bytes;
      row.multiprocessors = Narrow(device.multiprocessors);
      if (!device.compute_capability.empty())
        row.compute_capability = whole.pools.Intern(device.compute_capability);
      whole.tables.Edit<TimelineDeviceTable>().Add(row);
    }
    for (const auto& [key, value] : facts_.facts) {
      auto row = Part::RowOf<TimelineFactRow>(who_);
      row.key = whole.pools.Intern(key);
      row.value = whole.pools.Intern(value);
      whole.tables.Edit<TimelineFactTable>().Add(row);
    }
  }

  Identity who_;
  uint64_t chunk_bytes_;
  int64_t process_;
  std::unique_ptr<SqliteDatabase> database_;
  ExportFacts facts_;
  std::vector<Stretch> stretches_;
  std::set<std::string_view> damaged_;  // tables
  std::vector<uint64_t> begins_;        // of the range that stands for each stretch
  size_t rows_ = 0, device_rows_ = 0;
  bool is_reserved_ = false;
  EventNotes notes_;
  timeline::TimelineJoiner joiner_;
};

}  // namespace

const Importer& Describe() {
  static const Importer kImporter = {
      .info = {.name = "nsys",
               .sentence =
                   "profile of Nsight Systems, exported as SQLite (for a .nsys-rep it says how)",
               .example = "report.rank3.sqlite",
               .makes = kMakes},
      .sniff = Sniff,
      .open = MakeReader<NsysReader>,
      .members = ListMembers};
  return kImporter;
}

}  // namespace debrief::inputs::nsys
