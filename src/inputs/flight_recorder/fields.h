// The keys of a dump, of all versions.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::inputs::flight_recorder {

enum class Field : uint8_t {
  kOther,
  // of an entry
  kFrames,
  kRecordId,
  kPgId,
  kProcessGroup,
  kProcessGroupName,  // before 1.5
  kCollectiveSeq,
  kSeq,  // before 2.0
  kP2pSeq,
  kOpId,
  kIsP2p,
  kProfilingName,
  kCreatedNs,
  kCreatedUs,  // before 1.0
  kDurationMs,
  kInputSizes,
  kOutputSizes,
  kInputDtypes,
  kOutputDtypes,
  kState,
  kStartedNs,
  kCompletedNs,
  kRetired,
  kTimeoutMs,
  kThreadId,
  kThreadName,
  // of a frame; `name` also of a group
  kName,
  kFilename,
  kLine,
  // of a group
  kDesc,
  kRanks,
  // of a group's counters
  kLastEnqueued,
  kLastStarted,
  kLastCompleted,
  // of the dump
  kVersion,
  kEntries,
  kPgConfig,
  kPgStatus,
  kNcclVersion,
  kCommLibVersion,
  kCommState,
  kCount,
};

Field FieldOf(std::string_view key);

}  // namespace debrief::inputs::flight_recorder
