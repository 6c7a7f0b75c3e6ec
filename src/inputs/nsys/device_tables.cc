// Tables of what ran on devices.
#include <fmt/format.h>

#include <array>
#include <initializer_list>

#include "inputs/nsys/event_rows.h"
#include "inputs/nsys/ids.h"
#include "tables/timeline_device_work.h"

namespace debrief::inputs::nsys {

namespace {

// Columns that all of these tables begin with.
#define DEBRIEF_NSYS_DEVICE_COLUMNS \
  "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid", "graphNodeId"
enum DeviceColumn : size_t {
  kDevice = 2,
  kContext,
  kStream,
  kCorrelation,
  kGlobalPid,
  kGraphNode,
  kOwn,  // the first that only this table has
};

// A product of sizes as a file tells them.
int64_t Product(const SqliteScan& row, size_t first, size_t count) {
  int64_t product = 1;
  for (size_t i = first; i < first + count; ++i) {
    if (__builtin_mul_overflow(product, row.Int(i, 1), &product)) return kNone64;
  }
  return product;
}

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? kNone64 : sum;
}

// One piece of work, and what all kinds of it have in common.
struct Work {
  TimelineSliceRow slice;
  TimelineDeviceWorkRow details;
};

bool StartWork(const SqliteScan& row, std::string_view category, EventRows& rows, Work& work) {
  if (!rows.Takes(row.Int(kGlobalPid, 0)) || !rows.StartSlice(row, work.slice)) return false;
  const int64_t device = row.Int(kDevice, 0);
  const int64_t stream = OrMinusOne(row.Int(kStream, -1));
  rows.SetKind(category, work.slice);
  work.slice.track = rows.StreamTrack(device, stream);
  work.slice.correlation = row.Int(kCorrelation);
  work.details = rows.NewRow<TimelineDeviceWorkRow>();
  work.details.device = Narrow(device);
  work.details.stream = stream;
  work.details.context = row.Int(kContext);
  work.details.graph_node = row.Int(kGraphNode, 0) == 0 ? kNone64 : row.Int(kGraphNode);
  return true;
}

void AddWork(Work& work, EventRows& rows) {
  work.details.slice = rows.writer().AddSlice(work.slice);
  rows.Add<TimelineDeviceWorkTable>(work.details);
}

// ---- Kernels.

constexpr std::array<std::string_view, 20> kKernelColumns = {DEBRIEF_NSYS_DEVICE_COLUMNS,
                                                             "demangledName",
                                                             "shortName",
                                                             "gridX",
                                                             "gridY",
                                                             "gridZ",
                                                             "blockX",
                                                             "blockY",
                                                             "blockZ",
                                                             "registersPerThread",
                                                             "staticSharedMemory",
                                                             "dynamicSharedMemory",
                                                             "graphId"};
enum KernelColumn : size_t {
  kFullName = kOwn,
  kShortName,
  kGrid,
  kBlock = kGrid + 3,
  kRegisters = kBlock + 3,
  kStaticShared,
  kDynamicShared,
  kGraph,
};

void AddKernel(const SqliteScan& row, EventRows& rows) {
  Work work;
  if (!StartWork(row, "kernel", rows, work)) return;
  work.slice.name = rows.Name(row.Int(row.IsNull(kFullName) ? kShortName : kFullName, 0));
  work.details.blocks = Product(row, kGrid, 3);
  work.details.threads = Narrow(Product(row, kBlock, 3));
  work.details.registers = Narrow(row.Int(kRegisters));
  work.details.shared_bytes = Sum(row.Int(kStaticShared, 0), row.Int(kDynamicShared, 0));
  work.details.graph = row.Int(kGraph, 0) == 0 ? kNone64 : row.Int(kGraph);
  AddWork(work, rows);
}

// ---- Copies and fills.

constexpr std::array<std::string_view, 12> kCopyColumns = {DEBRIEF_NSYS_DEVICE_COLUMNS, "bytes",
                                                           "copyKind", "srcKind", "dstKind"};
enum CopyColumn : size_t { kBytes = kOwn, kCopyKind, kFrom, kTo };

// Of small numbers; what is out of range has one word for all.
uint64_t KeyOf(std::initializer_list<int64_t> numbers) {
  uint64_t key = 0;
  for (int64_t number : numbers)
    key = key << 8 | static_cast<uint64_t>(number >= 0 && number < 255 ? number : 255);
  return key;
}

std::string_view CopyWord(int64_t kind) {
  constexpr std::array<std::string_view, 14> kWords = {"",     "HtoD", "DtoH", "HtoA", "AtoH",
                                                       "AtoA", "AtoD", "DtoA", "DtoD", "HtoH",
                                                       "PtoP", "HtoD", "DtoH", "DtoD"};
  return kind > 0 && kind < static_cast<int64_t>(kWords.size()) ? kWords[static_cast<size_t>(kind)]
                                                                : std::string_view("Unknown");
}

std::string_view MemoryWord(int64_t kind) {
  constexpr std::array<std::string_view, 7> kWords = {
      "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
  return kind >= 0 && kind < static_cast<int64_t>(kWords.size()) ? kWords[static_cast<size_t>(kind)]
                                                                 : std::string_view("Unknown");
}

void AddCopy(const SqliteScan& row, EventRows& rows) {
  Work work;
  if (!StartWork(row, "gpu_memcpy", rows, work)) return;
  constexpr int64_t kFirstManaged = 11;  // migrations of managed memory
  const int64_t kind = row.Int(kCopyKind, 0);
  const std::string_view managed = kind >= kFirstManaged ? "Managed" : "";
  const std::string_view from = managed.empty() ? MemoryWord(row.Int(kFrom)) : managed;
  const std::string_view to = managed.empty() ? MemoryWord(row.Int(kTo)) : managed;
  work.slice.name = rows.Composed(KeyOf({kind, row.Int(kFrom), row.Int(kTo)}), [&] {
    return fmt::format("Memcpy {} ({} -> {})", CopyWord(kind), from, to);
  });
  work.details.bytes = row.Int(kBytes);
  AddWork(work, rows);
}

constexpr std::array<std::string_view, 10> kFillColumns = {DEBRIEF_NSYS_DEVICE_COLUMNS, "bytes",
                                                           "memKind"};
enum FillColumn : size_t { kFillBytes = kOwn, kFillMemory };

void AddFill(const SqliteScan& row, EventRows& rows) {
  Work work;
  if (!StartWork(row, "gpu_memset", rows, work)) return;
  const int64_t memory = row.Int(kFillMemory);
  work.slice.name = rows.Composed(KeyOf({memory}),
                                  [&] { return fmt::format("Memset ({})", MemoryWord(memory)); });
  work.details.bytes = row.Int(kFillBytes);
  AddWork(work, rows);
}

// ---- Synchronisation, and graphs that were recorded as a whole.

constexpr std::array<std::string_view, 9> kSyncColumns = {DEBRIEF_NSYS_DEVICE_COLUMNS, "syncType"};

std::string_view SyncWord(int64_t type) {
  constexpr std::array<std::string_view, 5> kWords = {"Sync", "Event Sync", "Stream Wait Event",
                                                      "Stream Sync", "Context Sync"};
  return type > 0 && type < static_cast<int64_t>(kWords.size()) ? kWords[static_cast<size_t>(type)]
                                                                : kWords[0];
}

void AddSync(const SqliteScan& row, EventRows& rows) {
  Work work;
  if (!StartWork(row, "cuda_sync", rows, work)) return;
  work.slice.name = rows.Intern(SyncWord(row.Int(kOwn, 0)));
  AddWork(work, rows);
}

constexpr std::array<std::string_view, 9> kGraphColumns = {DEBRIEF_NSYS_DEVICE_COLUMNS, "graphId"};

// Its kernels are not there, so it stands for them: without it the device would look idle.
void AddGraph(const SqliteScan& row, EventRows& rows) {
  Work work;
  if (!StartWork(row, "kernel", rows, work)) return;
  const int64_t graph = row.Int(kOwn, 0);
  work.slice.name = rows.Composed(static_cast<uint64_t>(graph),
                                  [&] { return fmt::format("CUDA graph {}", graph); });
  work.details.graph = graph == 0 ? kNone64 : graph;
  AddWork(work, rows);
}

#undef DEBRIEF_NSYS_DEVICE_COLUMNS

}  // namespace

std::span<const EventTable> DeviceTables() {
  static constexpr std::array<EventTable, 5> kTables = {
      {{"CUPTI_ACTIVITY_KIND_KERNEL", kKernelColumns, AddKernel},
       {"CUPTI_ACTIVITY_KIND_MEMCPY", kCopyColumns, AddCopy},
       {"CUPTI_ACTIVITY_KIND_MEMSET", kFillColumns, AddFill},
       {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kSyncColumns, AddSync},
       {"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kGraphColumns, AddGraph}}};
  return kTables;
}

}  // namespace debrief::inputs::nsys
