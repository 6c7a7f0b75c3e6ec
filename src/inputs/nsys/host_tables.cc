// Tables of what threads of the host called: CUDA, libraries, the system.
#include <array>

#include "inputs/nsys/event_rows.h"
#include "inputs/nsys/ids.h"
#include "tables/cuda_call_error.h"

namespace debrief::inputs::nsys {

namespace {

// ---- Calls of CUDA.

constexpr std::array<std::string_view, 7> kCallColumns = {
    "start", "end", "globalTid", "nameId", "correlationId", "eventClass", "returnValue"};
enum CallColumn : size_t { kCallThread = 2, kCallName, kCallCorrelation, kCallClass, kReturned };

constexpr int64_t kDriverClass = 1;
constexpr int64_t kNotReady = 600;  // what a query answers while work goes on

void AddError(const SqliteScan& row, const TimelineSliceRow& slice, EventRows& rows) {
  auto error = rows.NewRow<CudaCallErrorRow>();
  error.start_ns = slice.start_ns;
  error.duration_ns = slice.duration_ns;
  error.tid = TidOf(row.Int(kCallThread, 0));
  error.call = slice.name;
  error.code = Narrow(row.Int(kReturned));
  error.correlation = slice.correlation;
  rows.Add<CudaCallErrorTable>(error);
}

void AddCall(const SqliteScan& row, EventRows& rows) {
  TimelineSliceRow slice;
  const int64_t thread = row.Int(kCallThread, 0);
  if (!rows.Takes(thread) || !rows.StartSlice(row, slice)) return;
  rows.SetKind(row.Int(kCallClass, 0) == kDriverClass ? "cuda_driver" : "cuda_runtime", slice);
  slice.track = rows.ThreadTrack(thread);
  slice.name = rows.CallName(row.Int(kCallName, 0));
  slice.correlation = row.Int(kCallCorrelation);
  rows.writer().AddSlice(slice);
  const int64_t returned = row.Int(kReturned, 0);
  if (returned != 0 && returned != kNotReady) AddError(row, slice, rows);
}

// ---- Others: a name, and the library that has it.

constexpr std::array<std::string_view, 5> kLibraryColumns = {"start", "end", "globalTid", "nameId",
                                                             "eventClass"};
constexpr std::array<std::string_view, 4> kMpiColumns = {"start", "end", "globalTid", "textId"};
enum LibraryColumn : size_t { kThreadOfCall = 2, kNameOfCall, kClassOfCall };

void AddNamed(const SqliteScan& row, std::string_view category, EventRows& rows) {
  TimelineSliceRow slice;
  const int64_t thread = row.Int(kThreadOfCall, 0);
  if (!rows.Takes(thread) || !rows.StartSlice(row, slice)) return;
  rows.SetKind(category, slice);
  slice.track = rows.ThreadTrack(thread);
  slice.name = rows.CallName(row.Int(kNameOfCall, 0));
  rows.writer().AddSlice(slice);
}

void AddSystemCall(const SqliteScan& row, EventRows& rows) {
  constexpr int64_t kRecordingStarts = 31, kRecordingEnds = 32;  // marks, not calls
  const int64_t event_class = row.Int(kClassOfCall, 0);
  if (event_class == kRecordingStarts || event_class == kRecordingEnds) return;
  AddNamed(row, "os_runtime", rows);
}

void AddOverhead(const SqliteScan& row, EventRows& rows) { AddNamed(row, "overhead", rows); }
void AddBlas(const SqliteScan& row, EventRows& rows) { AddNamed(row, "cublas", rows); }
void AddDnn(const SqliteScan& row, EventRows& rows) { AddNamed(row, "cudnn", rows); }
void AddMpi(const SqliteScan& row, EventRows& rows) { AddNamed(row, "mpi", rows); }

}  // namespace

std::span<const EventTable> HostTables() {
  static constexpr std::array<EventTable, 9> kTables = {
      {{"CUPTI_ACTIVITY_KIND_RUNTIME", kCallColumns, AddCall},
       {"OSRT_API", kLibraryColumns, AddSystemCall},
       {"PROFILER_OVERHEAD", kLibraryColumns, AddOverhead},
       {"CUBLAS_EVENTS", kLibraryColumns, AddBlas},
       {"CUDNN_EVENTS", kLibraryColumns, AddDnn},
       {"MPI_P2P_EVENTS", kMpiColumns, AddMpi},
       {"MPI_COLLECTIVES_EVENTS", kMpiColumns, AddMpi},
       {"MPI_START_WAIT_EVENTS", kMpiColumns, AddMpi},
       {"MPI_OTHER_EVENTS", kMpiColumns, AddMpi}}};
  return kTables;
}

}  // namespace debrief::inputs::nsys
