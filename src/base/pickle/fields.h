// The fields of one pickled dict, by what its keys mean.
//
//   class DumpBuilder : public PickleBuilder, PickleFields<Field> { ... };
//
//   Gather(items);                              the dict that is complete
//   if (Has(Field::kState)) row.state = Text(Field::kState);
//
// A key is compared once per file: it has a number, and the number's field is remembered; the same
// holds for the ids of texts. `Field` is an enum of at most 64 with kOther = 0 for all other keys
// and kCount at its end.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/pickle/pickle.h"
#include "base/pools/ids.h"

namespace debrief {

template <typename Field>
class PickleFields {
 public:
  using Find = Field (*)(std::string_view key);

  // `reader` and `pools` must outlive it; neither is used before Gather or Text.
  PickleFields(const PickleReader& reader, Pools& pools, Find find)
      : reader_(reader), pools_(pools), find_(find) {}

  void Gather(std::span<const PickleValue> items) {
    present_ = 0;
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (!items[i].is(PickleKind::kString)) continue;
      auto field = static_cast<size_t>(FieldOfKey(items[i]));
      present_ |= uint64_t{1} << field;
      values_[field] = items[i + 1];
    }
    present_ &= ~uint64_t{1};  // kOther
  }

  bool Has(Field field) const { return (present_ >> static_cast<unsigned>(field) & 1) != 0; }
  PickleValue At(Field field) const {
    return Has(field) ? values_[static_cast<size_t>(field)] : PickleValue();
  }
  bool HasText(Field field) const { return At(field).is(PickleKind::kString); }
  bool IsTrue(Field field) const { return At(field).is(PickleKind::kBool) && At(field).number; }

  // kNone for what is no text.
  StringId Text(PickleValue value) {
    if (!value.is(PickleKind::kString)) return StringId::kNone;
    if (value.id >= text_of_.size()) text_of_.resize(reader_.text_count());
    StringId& id = text_of_[value.id];
    if (id == StringId::kNone) id = pools_.Intern(reader_.Text(value));
    return id;
  }
  StringId Text(Field field) { return Text(At(field)); }

  // Whether a container folded to something of that tag.
  static bool Is(PickleValue value, uint32_t tag) {
    return value.is(PickleKind::kFolded) && value.id == tag;
  }

 protected:
  Field FieldOfKey(PickleValue key) {
    if (key.id >= field_of_.size()) field_of_.resize(reader_.text_count(), Field::kCount);
    Field& field = field_of_[key.id];
    if (field == Field::kCount) field = find_(reader_.Text(key));
    return field;
  }

 private:
  static constexpr auto kFields = static_cast<size_t>(Field::kCount);
  static_assert(kFields <= 64, "present_ has a bit for each");

  const PickleReader& reader_;
  Pools& pools_;
  Find find_;
  uint64_t present_ = 0;
  std::array<PickleValue, kFields> values_;
  std::vector<Field> field_of_;    // by number of a text; kCount when not looked up yet
  std::vector<StringId> text_of_;  // by number of a text; kNone when not interned yet
};

}  // namespace debrief
