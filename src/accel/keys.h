// Texts that passes look for or write. They are the first strings of every pool, in this order, so
// that an id is a constant: `event.Find(key::kTS1)` compares numbers. A name or key that a pass
// needs is added at the end of its list.
#pragma once

#include "base/pools/string_pool.h"

namespace debrief::accel {

// clang-format off
#define DEBRIEF_ACCEL_KEYS(K) \
  K(TS1, "TS1") \
  K(TS2, "TS2") \
  K(TS3, "TS3") \
  K(TS4, "TS4") \
  K(TS5, "TS5") \
  K(Power, "Power") \
  K(BytesRaw, "Bytes") \
  K(Bytes, "bytes") \
  K(CollGroup, "CollGroup") \
  K(Peer, "Peer") \
  K(Peers, "Peers") \
  K(Type, "Type") \
  K(Rank, "rank") \
  K(Device, "device") \
  K(JobName, "jobname") \
  K(Ovc, "OVC") \
  K(TsxOf, "TSxOF") \
  K(TsAdj, "ts_adj") \
  K(OrigTs, "orig_ts") \
  K(OrigDur, "orig_dur") \
  K(OrigName, "orig_name") \
  K(ReqId, "reqID") \
  K(Class, "class") \
  K(Correlation, "correlation") \
  K(Id, "id") \
  K(Bp, "bp") \
  K(Scope, "s") \
  K(OPid, "opid") \
  K(OTid, "otid") \
  K(PtActive, "pt_active") \
  K(CoreUsed, "core used") \
  K(UserCat, "user_cat") \
  K(FnIdx, "fn_idx") \
  K(ExternalId, "External id") \
  K(PythonId, "Python id") \
  K(ExternalIdSmall, "external id") \
  K(SortIndex, "sort_index") \
  K(Labels, "labels") \
  K(Name, "name") \
  K(Concurrency, "Concurrency") \
  K(Watts, "Watts") \
  K(Percent, "Percent") \
  K(GBs, "GB/s") \
  K(GBps, "GBps") \
  K(MemoryBandwidth, "memory bandwidth (GB/s)") \
  K(ConcurrentPreps, "ConcurrentPreps") \
  K(PendingPreps, "Pending Prep Events") \
  K(PtActiveName, "PT Active") \
  K(TransferBw, "TransferBW") \
  K(AiuRoundtrip, "AIU Roundtrip") \
  K(Kernel, "kernel") \
  K(GpuMemcpy, "gpu_memcpy") \
  K(UserAnnotation, "user_annotation") \
  K(CpuOp, "cpu_op") \
  K(E, "e") \
  K(Empty, "") \
  K(CollDataSize, "Coll_data_size") \
  K(CollBandwidth, "Coll_Bandwidth") \
  K(TsCycles, "TS_cycles")
// clang-format on

enum class KeyIndex : uint32_t {
  kNone,
#define DEBRIEF_ACCEL_KEY(name, text) k##name,
  DEBRIEF_ACCEL_KEYS(DEBRIEF_ACCEL_KEY)
#undef DEBRIEF_ACCEL_KEY
};

namespace key {
#define DEBRIEF_ACCEL_KEY(name, text) \
  inline constexpr StringId k##name = static_cast<StringId>(KeyIndex::k##name);
DEBRIEF_ACCEL_KEYS(DEBRIEF_ACCEL_KEY)
#undef DEBRIEF_ACCEL_KEY
}  // namespace key

// A pool that begins with the texts above.
StringPool MakeStrings();

}  // namespace debrief::accel
