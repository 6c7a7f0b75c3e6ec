// Rows of an export -> rows of the timeline tables, in the words that profiles of PyTorch use
// (docs/formats/nsys.md), so that analyses need not know where a timeline comes from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/sqlite/database.h"
#include "inputs/nsys/export_facts.h"
#include "model/model.h"
#include "model/timeline/writer.h"

namespace debrief::inputs::nsys {

struct EventTable;

// For the one that joins the parts.
struct EventNotes final : PartNotes {
  int64_t events = 0;
  int64_t lost = 0;
  bool has_shapes = false;
  bool has_nccl = false;
  const EventTable* damaged = nullptr;  // the table, where pages of it could not be read
};

// Writes what one stretch of one table holds.
class EventRows {
 public:
  // `process`: whose rows are kept; none: all. Everything must outlive this.
  EventRows(const Identity& who, const ExportFacts& facts, int64_t process,
            SqliteDatabase& database, Part& part);

  // Whether the event is of the process.
  bool Takes(int64_t global_id) const;

  // A slice with the times of the row, whose first two columns are start and end. False, with a
  // diagnostic, where they are no times.
  bool StartSlice(const SqliteScan& row, TimelineSliceRow& slice);

  // Texts of StringIds; kNone when there is no such text.
  StringId Name(int64_t string_id);
  std::string_view Text(int64_t string_id) { return texts_.Find(string_id); }
  // Of a call, without the version that its name ends with.
  StringId CallName(int64_t string_id);
  // A name that is put together from numbers, of which `key` is made.
  template <typename Make>
  StringId Composed(uint64_t key, const Make& make) {
    auto [found, is_new] = composed_.try_emplace(key);
    if (is_new) found->second = Intern(make());
    return found->second;
  }
  std::string_view Domain(int64_t global_tid, int64_t domain) const;

  int32_t StreamTrack(int64_t device, int64_t stream);
  int32_t ThreadTrack(int64_t global_tid);
  // Ranges that need not be nested within their thread.
  int32_t RangeTrack(int64_t global_tid);

  void SetKind(std::string_view category, TimelineSliceRow& slice);

  timeline::TimelineWriter& writer() { return writer_; }
  EventNotes& notes() { return *notes_; }
  StringId Intern(std::string_view text) { return writer_.Intern(text); }

  template <typename Row>
  Row NewRow() const {
    return writer_.NewRow<Row>();
  }
  template <typename Table, typename Row>
  void Add(const Row& row) {
    writer_.part().tables.template Edit<Table>().Add(row);
  }

 private:
  // Of the category that came last, which is that of all rows but a few.
  struct Words {
    std::string_view category;
    StringId category_id = StringId::kNone, kind = StringId::kNone;
  };

  Identity who_;
  const ExportFacts& facts_;
  int64_t process_;
  SqliteTexts texts_;
  timeline::TimelineWriter writer_;
  EventNotes* notes_;
  Words words_;
  std::unordered_map<int64_t, StringId> names_, call_names_;  // by number of the text
  std::unordered_map<uint64_t, StringId> composed_;           // for this table alone
  std::unordered_map<int64_t, int32_t> threads_, ranges_;     // tracks by global thread id
  std::unordered_map<uint64_t, int32_t> streams_;             // by device and stream
};

// One table of an export that holds events.
struct EventTable {
  std::string_view name;
  std::span<const std::string_view> columns;  // the first two: start and end
  void (*add)(const SqliteScan& row, EventRows& rows);
};

std::span<const EventTable> DeviceTables();  // kernels, copies, fills, synchronisation, graphs
std::span<const EventTable> HostTables();    // calls of CUDA, libraries and the system
std::span<const EventTable> NvtxTables();    // ranges and marks of programs and libraries

}  // namespace debrief::inputs::nsys
