// Arguments of a slice that have no column, as table timeline_args has them: a JSON object.
//
//   "args": {"stream": 7, "grid": [8, 4, 1], "mine": "x"}   ->   {"grid": [8, 4, 1], "mine": "x"}
//
// Values are kept as they stand, so that a format that has room for them gets them back unchanged.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json/cursor.h"

namespace debrief::trace_events {

// Arguments that another column tells less exactly: where they are there, the column is not shown.
//   blocks, threads   the products of grid and block
//   Dst Rank          the other rank, whichever direction it was
struct BetterTold {
  bool grid = false, block = false, source_rank = false;

  void Note(std::string_view key);
  // Whether the column under this key (model/timeline/columns.h) is one of these.
  bool Covers(std::string_view column_key) const;
};

// The key of a column for a key that profilers also spell in another way.
std::string_view SpelledAsColumn(std::string_view key);

// Adds `"key": value` to the text of an object that is being written; `json` as it stands in a
// file. What JSON has not (NaN) becomes a text.
void AppendRest(std::string_view key, std::string_view json, std::string& object);

class RestArgs {
 public:
  // The fields of `objects` but those that `told` names; empty when there are none.
  std::string_view Collect(std::span<const std::string_view> objects,
                           std::span<const std::string_view> told);

  // Calls visit(std::string_view key, JsonValue value) for each field of an object.
  template <typename Visit>
  void ForEach(std::string_view object, Visit&& visit) {
    if (object.empty() || !reader_.OpenElements(object).ok()) return;
    (void)reader_.root().ForEachElement([&](JsonValue fields) {
      (void)fields.ForEachField([&](std::string_view key, JsonValue value) { visit(key, value); });
    });
  }

  BetterTold BetterToldIn(std::string_view object);

 private:
  JsonReader reader_;
  std::string text_;
};

}  // namespace debrief::trace_events
