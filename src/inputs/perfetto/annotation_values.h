// Debug annotations of one event -> columns, and JSON for those that have none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "inputs/perfetto/packet.h"
#include "inputs/perfetto/sequence.h"
#include "model/model.h"
#include "model/timeline/columns.h"

namespace debrief::inputs::perfetto {

// Debug annotations -> columns.
//
//   "stream": 7, "Input Dims": "[[4, 4]]", "Process Group Ranks": [0, 1]
//
// model/timeline/columns.h says which names are which columns; others are left alone.
class AnnotationValues {
 public:
  // All must outlive it.
  AnnotationValues(std::span<const Annotation> all, const Sequence& sequence, Pools& pools)
      : all_(all), sequence_(sequence), pools_(pools) {}

  size_t size() const { return all_.size(); }

  // The name of an annotation of the event itself, or of a dictionary "args"; empty for those
  // inside of others and for names that were lost.
  struct Key {
    std::string_view text;
    Group group = Group::kNone;
    bool in_args = false;  // of the dictionary
  };
  Key KeyOf(size_t at) const;

  // Puts the value of annotation `at` into the column. False: one of another type, which leaves it
  // alone.
  bool Assign(size_t at, int32_t& column) const;
  bool Assign(size_t at, int64_t& column) const;
  bool Assign(size_t at, uint8_t& column) const;
  bool Assign(size_t at, double& column) const;
  bool Assign(size_t at, StringId& column) const;
  bool Assign(size_t at, ListId& column) const;

  // As above into the column of `row` that has this key, if any.
  template <typename Row>
  bool AssignTo(Row& row, std::string_view key, size_t at) const {
    bool is_told = false;
    timeline::VisitColumns(row, [&](std::string_view column_key, auto& column) {
      if (column_key == key) is_told = Assign(at, column);
    });
    return is_told;
  }

  // The product of a list of whole numbers; kNone64 when it is none.
  int64_t ProductOf(size_t at) const;
  // Annotation `at` as JSON.
  void AppendJsonOf(size_t at, std::string& out) const;
  // Whether it is the dictionary whose entries count as arguments of the event.
  bool IsArgs(size_t at) const { return IsArgs(all_[at]); }

  // All annotations into the row.
  template <typename Row>
  void Fill(Row& row) const {
    for (size_t at = 0; at < all_.size(); ++at) {
      const Key key = KeyOf(at);
      if (!key.text.empty()) (void)AssignTo(row, key.text, at);
    }
  }

  // The number under `key`; kNone64 when there is none.
  int64_t NumberOf(std::string_view key) const;
  // The text under `key`; kNone when there is none.
  StringId TextOf(std::string_view key) const;

 private:
  bool IsArgs(const Annotation& annotation) const;
  std::string_view NameOf(const Annotation& annotation) const;
  void AppendEntries(size_t at, std::string& out) const;

  std::span<const Annotation> all_;
  const Sequence& sequence_;
  Pools& pools_;
};

}  // namespace debrief::inputs::perfetto
