// The keys of a snapshot, of all versions.
#pragma once

#include <cstdint>
#include <string_view>

namespace debrief::inputs::memory_snapshot {

enum class Field : uint8_t {
  kOther,
  // of the snapshot
  kSegments,
  kDeviceTraces,
  kSettings,
  kAnnotations,
  // of a segment
  kDevice,
  kAddress,  // of a block, too
  kTotalSize,
  kAllocatedSize,
  kActiveSize,
  kRequestedSize,  // of a block, too
  kStream,         // of a trace entry, too
  kSegmentType,
  kPoolId,
  kExpandable,
  kBlocks,
  kFrames,  // of blocks, trace entries and histories, too
  // of a block
  kSize,  // of a trace entry, too
  kState,
  kHistory,  // before 2.1: who allocated it, a list of at most a few
  // of a history
  kRealSize,
  // of a trace entry
  kAction,
  kAddr,  // of a history, too
  kDeviceFree,
  kTimeUs,  // of an annotation, too
  kCompileContext,
  kUserMetadata,
  // of a frame; `name` of an annotation, too
  kName,
  kFilename,
  kLine,
  // of an annotation
  kStage,
  kCount,
};

Field FieldOf(std::string_view key);

}  // namespace debrief::inputs::memory_snapshot
