// From the values of a pickle to rows.
//
// Every container folds, innermost first, to something small: the dict of a frame to a FrameId, a
// list of frames to a StackId, [[4, 4], [8]] to the id of its text, the dict of an entry to a row
// of comm_op. Which dict is which its keys tell.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/pickle/fields.h"
#include "base/pickle/pickle.h"
#include "inputs/flight_recorder/dump.h"
#include "inputs/flight_recorder/fields.h"

namespace debrief::inputs::flight_recorder {

// What a container folded to; `number` of the value means
enum Tag : uint32_t {
  kFrame,   // FrameId
  kStack,   // StackId
  kInts,    // number of a list of whole numbers in ints_
  kShapes,  // StringId of its text
  kTexts,   // position in texts_
  kRow,     // nothing: the row is in the table, or reported
  kRows,    // nothing
  kGroup,   // position in groups_
  kStatus,  // position in statuses_
  kDump,    // nothing
};

// A field of an entry that is a number, and where a row has it: as it is, or as a time. The
// duration is neither.
struct NumberField {
  Field field;
  int32_t CommOpRow::* narrow = nullptr;
  int64_t CommOpRow::* time = nullptr;
};
inline constexpr size_t kNumberFields = 10;

class DumpBuilder final : public PickleBuilder, PickleFields<Field> {
 public:
  // `text` must be followed by kPadding readable bytes.
  DumpBuilder(std::string_view text, const Identity& who, Part& part)
      : PickleFields(reader_, part.pools, FieldOf),
        who_(who),
        part_(part),
        rows_(who, part),
        bytes_(text.size()),
        reader_(text, *this) {}

  // Adds all rows of the dump to the part. A pickle that is cut or broken gives the entries before
  // the damage and a diagnostic; a hostile one gives the diagnostic alone.
  void Read();

  bool Fold(PickleKind kind, std::span<const PickleValue> items, PickleValue& folded) override;
  void Learned(uint32_t layout, std::span<const PickleValue> items) override;
  bool FoldAlike(uint32_t layout, std::span<const PickleValue> items, PickleValue& folded) override;

 private:
  // What the entries of one layout become: a row in which only these numbers differ.
  struct Alike {
    bool is_entry = false;
    size_t count = 0;
    std::array<std::pair<const NumberField*, uint32_t>, kNumberFields> numbers;  // where in items
    CommOpRow row;
  };

  // A list of texts, and its first two on their own: a group is (name, description).
  struct Texts {
    StringId joined = StringId::kNone;
    StringId first = StringId::kNone;
    StringId second = StringId::kNone;
  };
  struct Pair {
    uint32_t first = ~uint32_t{0};
    uint32_t second = ~uint32_t{0};
    PickleValue texts;
  };
  struct Group {
    StringId name = StringId::kNone;
    StringId description = StringId::kNone;
    MemberList members;
  };
  struct GroupStatus {
    int64_t enqueued = kNone64;
    int64_t started = kNone64;
    int64_t completed = kNone64;
  };

  bool FoldDict(std::span<const PickleValue> items, PickleValue& folded);
  bool FoldList(std::span<const PickleValue> items, PickleValue& folded);
  PickleValue FoldInts(std::span<const PickleValue> items);
  PickleValue FoldShapes(std::span<const PickleValue> items);
  StringId ShapeText(std::span<const PickleValue> items);
  PickleValue FoldPair(PickleValue first, PickleValue second);
  PickleValue FoldTexts(std::span<const PickleValue> items);
  StringId Joined(std::span<const PickleValue> items);
  PickleValue FoldFrames(std::span<const PickleValue> items);
  PickleValue FoldFrame();
  PickleValue FoldGroup();
  PickleValue FoldStatus();
  PickleValue FoldEntry();
  void SetNumber(const NumberField& field, PickleValue value, CommOpRow& row) const;
  void Identify(CommOpRow& row);
  void Describe(CommOpRow& row);
  void FoldHeader();
  void AddGroups(PickleValue config);
  void AddStatuses(PickleValue status);
  void AddCommStates(PickleValue states);
  void Report(const Status& status);

  int64_t Number(PickleValue value) const;
  int64_t Number(Field field) const { return Has(field) ? Number(At(field)) : kNone64; }
  StringId Sizes(PickleValue value);
  StringId Dtypes(PickleValue value);

  Identity who_;
  Part& part_;
  DumpRows rows_;
  size_t bytes_;
  PickleReader reader_;
  DumpHeader header_{.version = {}, .library = {}, .form = "pickle"};

  SequencePool<int64_t, ListId> ints_;
  std::vector<StringId> shape_of_;  // by number of a list: the text of it as the only shape
  std::vector<Texts> texts_;
  std::array<Pair, 256> pairs_;
  std::vector<Group> groups_;
  std::vector<GroupStatus> statuses_;
  std::vector<int64_t> numbers_;
  std::vector<FrameId> frames_;
  std::string line_;
  CommOpRow row_;             // of the newest entry that was read field by field
  bool is_row_ = false;       // the dict that was read last is that entry
  std::vector<Alike> alike_;  // by layout
};

}  // namespace debrief::inputs::flight_recorder
