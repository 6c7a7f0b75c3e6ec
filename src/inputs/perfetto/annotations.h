// Debug annotations -> columns.
//
//   "stream": 7, "Input Dims": "[[4, 4]]", "Process Group Ranks": [0, 1]
//
// model/timeline/columns.h says which names are which columns; others are left alone.
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
  };
  Key KeyOf(size_t at) const;

  // Puts the value of annotation `at` into the column; one of another type leaves it alone.
  void Assign(size_t at, int32_t& column) const;
  void Assign(size_t at, int64_t& column) const;
  void Assign(size_t at, uint8_t& column) const;
  void Assign(size_t at, double& column) const;
  void Assign(size_t at, StringId& column) const;
  void Assign(size_t at, ListId& column) const;

  // As above into the column of `row` that has this key, if any.
  template <typename Row>
  void AssignTo(Row& row, std::string_view key, size_t at) const {
    timeline::VisitColumns(row, [&](std::string_view column_key, auto& column) {
      if (column_key == key) Assign(at, column);
    });
  }

  // All annotations into the row.
  template <typename Row>
  void Fill(Row& row) const {
    for (size_t at = 0; at < all_.size(); ++at) {
      const Key key = KeyOf(at);
      if (!key.text.empty()) AssignTo(row, key.text, at);
    }
  }

  // The number under `key`; kNone64 when there is none.
  int64_t NumberOf(std::string_view key) const;
  // The text under `key`; kNone when there is none.
  StringId TextOf(std::string_view key) const;

 private:
  bool IsArgs(const Annotation& annotation) const;

  std::span<const Annotation> all_;
  const Sequence& sequence_;
  Pools& pools_;
};

}  // namespace debrief::inputs::perfetto
