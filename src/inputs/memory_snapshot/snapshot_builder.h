// From the values of a pickled snapshot to rows.
//
// Every container folds, innermost first, to something small: the dict of a frame to a FrameId, a
// list of frames to a StackId, the dict of a block or of a trace entry to the number of its row,
// which is in its table by then. Which dict is which its keys tell. Lists of blocks and entries are
// ranges of rows. What a snapshot of any size needs beyond its tables is the memo of the pickle.
//
// Entries do not tell their device: it is the position of their list in device_traces, so rows get
// it when that is complete. The same holds for the segment of a block.
#pragma once

#include <span>
#include <vector>

#include "base/pickle/fields.h"
#include "model/model.h"
#include "tables/memory_block.h"
#include "tables/memory_event.h"
#include "tables/memory_segment.h"

namespace debrief::inputs::memory_snapshot {

// The keys of a snapshot, of all versions.
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
  kOriginalTrace,
  // of an annotation
  kStage,
  kCount,
};

Field FieldOf(std::string_view key);

// What a container folded to; `number` of the value means
enum Tag : uint32_t {
  kOther,       // nothing: not known here
  kEmpty,       // nothing: a list without items
  kFrame,       // FrameId
  kStack,       // StackId
  kPool,        // StringId
  kHistory,     // position in histories_
  kHistories,   // likewise, of the newest
  kBlock,       // row
  kBlockPiece,  // range of rows: some of a long list
  kBlocks,      // range of rows: a whole list
  kEvent,       // row
  kEventPiece,  // range of rows
  kEvents,      // range of rows: what one device did
  kTraces,      // nothing: rows have their device
  kRow,         // nothing: a segment or an annotation is in its table
  kSnapshot,    // nothing
};

class SnapshotBuilder final : public PickleBuilder, PickleFields<Field> {
 public:
  SnapshotBuilder(const Source& source, ByteRange range, size_t window_bytes, const Identity& who,
                  Part& part)
      : PickleFields(reader_, part.pools, FieldOf),
        who_(who),
        part_(part),
        segments_(part.tables.Edit<MemorySegmentTable>()),
        blocks_(part.tables.Edit<MemoryBlockTable>()),
        events_(part.tables.Edit<MemoryEventTable>()),
        reader_(source, range, window_bytes, *this) {}

  // Adds all rows of the snapshot to the part. One that is cut, broken or asks to run code gives
  // what is whole before that and a diagnostic. An error means that the source could not be read.
  Status Read();

  bool Fold(PickleKind kind, std::span<const PickleValue> items, PickleValue& folded) override;
  bool FoldPiece(std::span<const PickleValue> items, PickleValue& folded) override;

 private:
  // Rows [first, first + count).
  struct Rows {
    size_t first = 0;
    size_t count = 0;
    int64_t Packed() const { return static_cast<int64_t>(uint64_t{first} << 32 | count); }
    static Rows Of(PickleValue value) {
      auto packed = static_cast<uint64_t>(value.number);
      return {packed >> 32, packed & 0xFFFFFFFF};
    }
  };
  struct History {
    int64_t requested_bytes = kNone64;
    StackId stack = StackId::kNone;
  };

  template <typename Row>
  Row NewRow() const {
    return Part::RowOf<Row>(who_);
  }

  bool FoldDict(std::span<const PickleValue> items, PickleValue& folded);
  PickleValue FoldList(std::span<const PickleValue> items);
  PickleValue FoldFrame();
  PickleValue FoldFrames(std::span<const PickleValue> items);
  PickleValue FoldPool(std::span<const PickleValue> items);
  PickleValue FoldHistory();
  PickleValue FoldBlock();
  PickleValue FoldSegment();
  PickleValue FoldEvent();
  PickleValue FoldAnnotation();
  PickleValue FoldTraces(std::span<const PickleValue> items);
  static bool FoldRows(std::span<const PickleValue> items, Tag one, Tag piece, Rows& rows);
  static bool IsOf(PickleValue value, Tag a, Tag b) { return Is(value, a) || Is(value, b); }

  void SetDevice(Rows rows, int32_t device);
  void OwnBlocks(PickleValue blocks, const MemorySegmentRow& segment);
  void AddSettings(PickleValue settings, StringId outer);
  StringId SettingText(PickleValue value);
  void GuessDevices();
  void GuessDevice(std::span<const size_t> by_address, Rows rows);
  void AddSnapshot(bool whole);
  void Report(const Status& status);

  int64_t Number(Field field) const {
    return At(field).is(PickleKind::kInt) ? At(field).number : kNone64;
  }
  int32_t Number32(Field field) const;
  int64_t Time(Field field) const;
  StackId Stack(Field field) const {
    return Is(At(field), kStack) ? static_cast<StackId>(At(field).number) : StackId::kNone;
  }

  Identity who_;
  Part& part_;
  MemorySegmentTable& segments_;
  MemoryBlockTable& blocks_;
  MemoryEventTable& events_;
  PickleReader reader_;

  std::vector<History> histories_;
  std::vector<Rows> traces_;  // of whole lists, while the list of them is not complete
  std::vector<FrameId> frames_;
  size_t kept_dicts_ = 0;
  size_t odd_lists_ = 0;
};

}  // namespace debrief::inputs::memory_snapshot
