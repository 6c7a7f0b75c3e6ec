#include "inputs/memory_snapshot/fields.h"

#include <algorithm>
#include <array>

namespace debrief::inputs::memory_snapshot {

Field FieldOf(std::string_view key) {
  struct Name {
    std::string_view key;
    Field field;
  };
  static constexpr std::array kNames = {
      Name{"segments", Field::kSegments},
      Name{"device_traces", Field::kDeviceTraces},
      Name{"allocator_settings", Field::kSettings},
      Name{"external_annotations", Field::kAnnotations},
      Name{"device", Field::kDevice},
      Name{"address", Field::kAddress},
      Name{"total_size", Field::kTotalSize},
      Name{"allocated_size", Field::kAllocatedSize},
      Name{"active_size", Field::kActiveSize},
      Name{"requested_size", Field::kRequestedSize},
      Name{"stream", Field::kStream},
      Name{"segment_type", Field::kSegmentType},
      Name{"segment_pool_id", Field::kPoolId},
      Name{"is_expandable", Field::kExpandable},
      Name{"blocks", Field::kBlocks},
      Name{"frames", Field::kFrames},
      Name{"size", Field::kSize},
      Name{"state", Field::kState},
      Name{"history", Field::kHistory},
      Name{"real_size", Field::kRealSize},
      Name{"action", Field::kAction},
      Name{"addr", Field::kAddr},
      Name{"device_free", Field::kDeviceFree},
      Name{"time_us", Field::kTimeUs},
      Name{"compile_context", Field::kCompileContext},
      Name{"user_metadata", Field::kUserMetadata},
      Name{"name", Field::kName},
      Name{"filename", Field::kFilename},
      Name{"line", Field::kLine},
      Name{"stage", Field::kStage},
  };
  const auto* found =
      std::find_if(kNames.begin(), kNames.end(), [&](const Name& name) { return name.key == key; });
  return found == kNames.end() ? Field::kOther : found->field;
}

}  // namespace debrief::inputs::memory_snapshot
