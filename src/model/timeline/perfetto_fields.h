// Numbers of the fields of Perfetto's messages that we read or write. They are the format: the
// names of fields never reach a file.
//
//   Trace { repeated TracePacket packet = 1; }
//
// A message is named like Perfetto's own; numbers that stand for the same thing in several messages
// are repeated, so that each list can be compared with the format's description.
#pragma once

#include <cstdint>

namespace debrief::perfetto {

enum class Trace : uint32_t { kPacket = 1 };

enum class TracePacket : uint32_t {
  kClockSnapshot = 6,
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kIncrementalStateCleared = 41,  // before there were flags
  kPreviousPacketDropped = 42,
  kThreadDescriptor = 44,
  kCompressedPackets = 50,
  kTimestampClockId = 58,
  kDefaults = 59,
  kTrackDescriptor = 60,
};

inline constexpr uint32_t kStateCleared = 1;  // sequence flags
inline constexpr uint32_t kNeedsState = 2;

enum class PacketDefaults : uint32_t { kTrackEventDefaults = 11, kTimestampClockId = 58 };

enum class EventDefaults : uint32_t {
  kTrackUuid = 11,
  kExtraCounterTracks = 31,
  kExtraDoubleCounterTracks = 45,
};

enum class InternedData : uint32_t {
  kEventCategories = 1,
  kEventNames = 2,
  kAnnotationNames = 3,
  kAnnotationStrings = 29,
};
enum class InternedEntry : uint32_t { kIid = 1, kText = 2 };

enum class ClockSnapshot : uint32_t { kClocks = 1, kPrimaryClock = 2 };
enum class Clock : uint32_t { kId = 1, kTimestamp = 2, kIsIncremental = 3, kUnitNs = 4 };
inline constexpr uint32_t kRealtime = 1;  // clock ids
inline constexpr uint32_t kBoottime = 6;
inline constexpr uint32_t kFirstSequenceClock = 64;  // these belong to one sequence each
inline constexpr uint32_t kLastSequenceClock = 127;

enum class TrackDescriptor : uint32_t {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kThread = 4,
  kParentUuid = 5,
  kCounter = 8,
  kStaticName = 10,
  kChildOrdering = 11,
  kSiblingOrderRank = 12,
  kAtraceName = 13,
};
inline constexpr uint32_t kExplicitOrder = 3;  // child ordering

enum class ProcessDescriptor : uint32_t { kPid = 1, kName = 6, kLabels = 8 };
enum class ThreadDescriptor : uint32_t { kPid = 1, kTid = 2, kName = 5, kReferenceUs = 6 };
enum class CounterDescriptor : uint32_t {
  kUnitMultiplier = 4,
  kIsIncremental = 5,
  kUnitName = 6,
};

enum class TrackEvent : uint32_t {
  kTimestampDeltaUs = 1,
  kCategoryIids = 3,
  kAnnotations = 4,
  kLegacyEvent = 6,
  kType = 9,
  kNameIid = 10,
  kTrackUuid = 11,
  kExtraCounterValues = 12,
  kTimestampAbsoluteUs = 16,
  kCategories = 22,
  kName = 23,
  kCounterValue = 30,
  kExtraCounterTracks = 31,
  kFlowIdsOld = 36,
  kTerminatingFlowIdsOld = 42,
  kDoubleCounterValue = 44,
  kExtraDoubleCounterTracks = 45,
  kExtraDoubleCounterValues = 46,
  kFlowIds = 47,
  kTerminatingFlowIds = 48,
};
inline constexpr int32_t kSliceBegin = 1;  // types
inline constexpr int32_t kSliceEnd = 2;
inline constexpr int32_t kInstant = 3;
inline constexpr int32_t kCounter = 4;

enum class LegacyEvent : uint32_t { kNameIid = 1, kPhase = 2, kDurationUs = 3 };

enum class Annotation : uint32_t {
  kNameIid = 1,
  kBool = 2,
  kUint = 3,
  kInt = 4,
  kDouble = 5,
  kString = 6,
  kPointer = 7,
  kNested = 8,
  kLegacyJson = 9,
  kName = 10,
  kDictEntries = 11,
  kArrayValues = 12,
  kStringIid = 17,
};

enum class NestedValue : uint32_t {
  kDictKeys = 2,
  kDictValues = 3,
  kArrayValues = 4,
  kInt = 5,
  kDouble = 6,
  kBool = 7,
  kString = 8,
};

}  // namespace debrief::perfetto
