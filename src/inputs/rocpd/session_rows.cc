#include "inputs/rocpd/session_rows.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <string>

#include "base/text/strings.h"
#include "inputs/rocpd/diagnostics.h"
#include "model/timeline/kinds.h"
#include "tables/timeline_collective.h"
#include "tables/timeline_device_work.h"
#include "tables/timeline_op.h"
#include "torch/nvtx_text.h"

namespace debrief::inputs::rocpd {

namespace {

constexpr int64_t kMostTime = 4'000'000'000'000'000'000;

int32_t Narrow(int64_t number) {
  return number >= 0 && number <= std::numeric_limits<int32_t>::max() ? static_cast<int32_t>(number)
                                                                      : kNone32;
}

// Columns that kernels, copies and regions begin with.
#define DEBRIEF_ROCPD_COLUMNS "start", "end", "pid", "tid", "event_id"
enum RocpdColumn : size_t { kStart, kEnd, kProcess, kThread, kEvent, kFirstOwn };

class SessionRows {
 public:
  SessionRows(SqliteDatabase& database, const Session& session, int64_t process,
              const Identity& who, timeline::TimelineWriter& writer)
      : database_(database),
        session_(session),
        process_(process),
        who_(who),
        writer_(writer),
        refs_(database, session),
        texts_(database, session.Table("rocpd_string"), "string") {}

  EventCounts Add() {
    if (!refs_.damage().empty()) ReportDamage(session_.Table("rocpd_event"), refs_.damage());
    AddKernels();
    AddCopies();
    AddRegions();
    return counts_;
  }

 private:
  template <size_t count, typename Add>
  void ForEach(std::string_view base, const std::array<std::string_view, count>& columns,
               const Add& add) {
    const std::string table = session_.Table(base);
    SqliteScan scan(database_, table, columns);
    while (scan.Next()) {
      if (process_ == kNone64 || scan.Int(kProcess) == process_) add(scan);
    }
    if (!scan.damage().empty()) ReportDamage(table, scan.damage());
  }

  void ReportDamage(std::string_view table, std::string_view damage) {
    writer_.part().diagnostics.Add(kDamaged, who_.input,
                                   {.detail = fmt::format("{}: {}", table, damage)});
  }

  bool StartSlice(const SqliteScan& row, TimelineSliceRow& slice) {
    const int64_t start = row.Int(kStart), end = row.Int(kEnd);
    ++counts_.events;
    if (start <= -kMostTime || end >= kMostTime || end < start) {
      ++counts_.lost;
      writer_.part().diagnostics.Add(kBadTime, who_.input,
                                     {.detail = fmt::format("row {}", row.rowid())});
      return false;
    }
    slice = writer_.NewRow<TimelineSliceRow>();
    slice.start_ns = start;
    slice.duration_ns = end - start;
    slice.correlation = refs_.Find(row.Int(kEvent)).stack;
    return true;
  }

  void SetKind(std::string_view category, TimelineSliceRow& slice) {
    slice.category = writer_.Intern(category);
    slice.kind = writer_.Intern(timeline::KindOfCategory(category));
  }

  // Of the device on which something ran.
  void AddWork(TimelineSliceRow& slice, TimelineDeviceWorkRow& work, int64_t device,
               int64_t stream) {
    slice.track = writer_.Track(std::to_string(device), std::to_string(stream), timeline::kStream);
    writer_.tracks().device[static_cast<size_t>(slice.track)] = Narrow(device);
    writer_.tracks().stream[static_cast<size_t>(slice.track)] = stream;
    work.device = Narrow(device);
    work.stream = stream;
    work.slice = writer_.AddSlice(slice);
    writer_.part().tables.Edit<TimelineDeviceWorkTable>().Add(work);
  }

  void AddKernels() {
    constexpr std::array<std::string_view, 16> kColumns = {
        DEBRIEF_ROCPD_COLUMNS, "agent_id",         "kernel_id",        "queue_id",
        "stream_id",           "grid_size_x",      "grid_size_y",      "grid_size_z",
        "workgroup_size_x",    "workgroup_size_y", "workgroup_size_z", "group_segment_size"};
    enum : size_t {
      kAgent = kFirstOwn,
      kKernel,
      kQueue,
      kStream,
      kGrid,
      kGroup = kGrid + 3,
      kShared = kGroup + 3
    };
    ForEach("rocpd_kernel_dispatch", kColumns, [&](const SqliteScan& row) {
      TimelineSliceRow slice;
      if (!StartSlice(row, slice)) return;
      SetKind("kernel", slice);
      const auto name = session_.kernels.find(row.Int(kKernel));
      slice.name = writer_.Intern(name == session_.kernels.end() ? "" : name->second);
      auto work = writer_.NewRow<TimelineDeviceWorkRow>();
      int64_t blocks = 1, threads = 1;
      for (size_t i = 0; i < 3; ++i) {
        // Grids are counted in threads.
        const int64_t group = std::max<int64_t>(row.Int(kGroup + i, 1), 1);
        const int64_t grid = std::max<int64_t>(row.Int(kGrid + i, 1), 1);
        const bool too_many = __builtin_mul_overflow(blocks, (grid - 1) / group + 1, &blocks) ||
                              __builtin_mul_overflow(threads, group, &threads);
        if (too_many) blocks = threads = 0;
      }
      work.blocks = blocks;
      work.threads = Narrow(threads);
      work.shared_bytes = row.Int(kShared);
      AddWork(slice, work, DeviceOf(row.Int(kAgent)), StreamOf(row.Int(kStream), row.Int(kQueue)));
    });
  }

  void AddCopies() {
    constexpr std::array<std::string_view, 10> kColumns = {
        DEBRIEF_ROCPD_COLUMNS, "src_agent_id", "dst_agent_id", "size", "queue_id", "stream_id"};
    enum : size_t { kFrom = kFirstOwn, kTo, kSize, kQueue, kStream };
    ForEach("rocpd_memory_copy", kColumns, [&](const SqliteScan& row) {
      TimelineSliceRow slice;
      if (!StartSlice(row, slice)) return;
      SetKind("gpu_memcpy", slice);
      const bool from = IsGpu(row.Int(kFrom)), to = IsGpu(row.Int(kTo));
      auto word = [](bool is_gpu) { return is_gpu ? "Device" : "Host"; };
      slice.name = writer_.Intern(fmt::format("Memcpy {}to{} ({} -> {})", from ? 'D' : 'H',
                                              to ? 'D' : 'H', word(from), word(to)));
      auto work = writer_.NewRow<TimelineDeviceWorkRow>();
      work.bytes = row.Int(kSize);
      AddWork(slice, work, DeviceOf(row.Int(to ? kTo : kFrom)),
              StreamOf(row.Int(kStream), row.Int(kQueue)));
    });
  }

  // Calls of HIP and HSA, and what programs marked with roctx.
  void AddRegions() {
    constexpr std::array<std::string_view, 6> kColumns = {DEBRIEF_ROCPD_COLUMNS, "name_id"};
    ForEach("rocpd_region", kColumns, [&](const SqliteScan& row) {
      TimelineSliceRow slice;
      if (!StartSlice(row, slice)) return;
      const std::string category(texts_.Find(refs_.Find(row.Int(kEvent)).category));
      const std::string name(texts_.Find(row.Int(kFirstOwn)));
      const bool is_marker = Contains(category, "MARKER");
      const NvtxText told = is_marker ? ReadNvtxText(name) : NvtxText{.name = name};
      SetKind(CategoryOf(category, told), slice);
      slice.name = writer_.Intern(told.name);
      slice.track =
          writer_.Track(std::to_string(session_.Pid(row.Int(kProcess))),
                        std::to_string(session_.Tid(row.Int(kThread))), timeline::kThread);
      const int32_t number = writer_.AddSlice(slice);
      if (told.sequence != kNone64 || !told.shapes.empty()) AddOp(told, number);
      if (Contains(category, "RCCL") && IsNcclRange("RCCL", told.name)) AddCollective(told, number);
    });
  }

  static std::string_view CategoryOf(std::string_view category, const NvtxText& told) {
    if (Contains(category, "MARKER")) return told.is_op ? "cpu_op" : "user_annotation";
    if (Contains(category, "RCCL")) return "user_annotation";
    // The runtime is written on top of HSA: one of the two launches what both are seen to do.
    return Contains(category, "HSA") ? "hsa" : "cuda_runtime";
  }

  void AddOp(const NvtxText& told, int32_t slice) {
    auto op = writer_.NewRow<TimelineOpRow>();
    op.slice = slice;
    op.sequence = told.sequence;
    if (!told.shapes.empty()) op.shapes = writer_.Intern(told.shapes);
    writer_.part().tables.Edit<TimelineOpTable>().Add(op);
  }

  void AddCollective(const NvtxText& told, int32_t slice) {
    auto collective = writer_.NewRow<TimelineCollectiveRow>();
    collective.slice = slice;
    collective.op = writer_.Intern(told.name);
    writer_.part().tables.Edit<TimelineCollectiveTable>().Add(collective);
  }

  bool IsGpu(int64_t agent) const {
    const auto found = session_.agents.find(agent);
    return found != session_.agents.end() && found->second.is_gpu;
  }
  int64_t DeviceOf(int64_t agent) const {
    const auto found = session_.agents.find(agent);
    return found == session_.agents.end() ? 0 : found->second.device;
  }
  static int64_t StreamOf(int64_t stream, int64_t queue) {
    return stream != kNone64 ? stream : std::max<int64_t>(queue, -1);
  }

  SqliteDatabase& database_;
  const Session& session_;
  int64_t process_;
  const Identity& who_;
  timeline::TimelineWriter& writer_;
  EventRefs refs_;
  SqliteTexts texts_;
  EventCounts counts_;
};

#undef DEBRIEF_ROCPD_COLUMNS

}  // namespace

EventCounts AddSession(SqliteDatabase& database, const Session& session, int64_t process,
                       const Identity& who, timeline::TimelineWriter& writer) {
  return SessionRows(database, session, process, who, writer).Add();
}

}  // namespace debrief::inputs::rocpd
