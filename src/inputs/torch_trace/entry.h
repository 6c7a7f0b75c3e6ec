// What a kind sees of the entry it reads: its row, and ways to add rows to other tables.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/cursor.h"
#include "base/pools/arena.h"
#include "base/status.h"
#include "model/model.h"
#include "tables/compile_entry.h"
#include "tables/compile_log.h"

namespace debrief::inputs::torch_trace {

// Whose log it is. A log whose file belongs to one rank may name another in its entries (somebody
// copied or renamed it): the file is right for the rank that the log names first.
struct LogIdentity {
  Identity who;
  int32_t first_logged = kNone32;

  int32_t RankOf(int32_t logged) const {
    return logged == first_logged && who.rank != kNone32 ? who.rank : logged;
  }
};

// A frame as the log has it: {"line": 43, "name": "f", "filename": 1, "loc": "x = f(y)"}. The file
// is a number of the string table, which only the joined log knows.
struct LoggedFrame {
  std::string_view function;
  std::string_view text;
  std::string_view file;  // "uninterned_filename"; wins over the number
  uint32_t file_number = 0;
  int32_t line = 0;
};

enum class StackColumn : uint8_t { kStack, kUserStack, kEntryStack };

struct LoggedStack {
  size_t row = 0;  // of compile_entry in this part
  StackColumn column = StackColumn::kStack;
  size_t begin = 0;  // in RangeNotes::frames
  size_t count = 0;
};

// {"str": ["text", 7]}
struct LoggedString {
  size_t row = 0;     // rows of compile_entry in this part that came before it
  size_t string = 0;  // row of compile_string in this part
  int64_t thread = 0;
  uint32_t index = 0;
};

// A payload that does not fit its checksum, or its kind.
struct Trouble {
  const DiagnosticKind* kind = nullptr;
  size_t row = 0;  // of compile_entry in this part
  std::string detail;
};

// What a range tells the joined log.
struct RangeNotes final : PartNotes {
  Arena texts;
  std::vector<LoggedFrame> frames;
  std::vector<LoggedStack> stacks;
  std::vector<LoggedString> strings;
  CompileLogRow counts = {.lines = 0,
                          .entries = 0,
                          .bad_prefix = 0,
                          .bad_json = 0,
                          .bad_json_lost = 0,
                          .bad_checksum = 0,
                          .unknown_keys = 0};
  int64_t clock_offset_ns =
      kNone64;  // unix time - time in the prefix, of the first event with both
  // What several ranks in one log may explain, and a repair undo: told only at the end.
  std::vector<Trouble> troubles;
  int64_t loose_lines = 0;   // payload lines without an entry
  int64_t first_loose = -1;  // byte of the first of them
  int64_t first_loose_line = 0;
};

class Entry {
 public:
  Entry(Part& part, RangeNotes& notes)
      : part_(part),
        notes_(notes),
        frames_before_(notes.frames.size()),
        stacks_before_(notes.stacks.size()) {}

  // Not yet in its table: a kind may set name, detail, file, form and state.
  CompileEntryRow row;

  // A row of another table that belongs to this entry.
  template <typename Row>
  Row NewRow() const {
    Row made = Part::RowOf<Row>({.job = row.job, .attempt = row.attempt, .rank = row.rank});
    made.input = row.input;
    made.entry = row.entry;
    if constexpr (requires { made.compile_id; }) made.compile_id = row.compile_id;
    if constexpr (requires { made.kind; }) made.kind = row.kind;
    return made;
  }

  // The row comes into its table once the whole entry was read: one that is refused leaves nothing.
  template <typename Table, typename Row>
  void Add(const Row& made) {
    added_.push_back([made](Part& part) { part.tables.Edit<Table>().Add(made); });
  }

  StringId Intern(std::string_view text) { return part_.pools.Intern(text); }
  std::string TextOf(StringId id) const { return std::string(part_.pools.Text(id)); }
  ListId InternList(std::span<const int64_t> values) { return part_.pools.lists.Intern(values); }

  // Reads an array of frames; the entry's row gets it when the log is joined.
  Status AddStack(JsonValue frames, StackColumn column);

  // Another kind of content of the same entry follows: the row so far is kept and begins anew.
  void NextKind(const CompileEntryRow& begin);
  // Where its payload lies, for the rows of all kinds.
  void SetPayload(const CompileEntryRow& payload);
  // The kind `key` cannot use the payload.
  void MarkUnusable(std::string_view key);
  // Everything read goes into the tables; or nothing does.
  void Commit();
  void CommitAdded();  // rows of other tables only
  void Discard();

  // The unix time of something that happened when this entry was logged.
  void SetUnixTime(int64_t unix_ns);

 private:
  Status AddFrame(JsonValue frame);

  Part& part_;
  RangeNotes& notes_;
  size_t frames_before_, stacks_before_;
  std::vector<CompileEntryRow> rows_;  // of kinds before this one; nearly always none
  std::vector<std::function<void(Part&)>> added_;
};

}  // namespace debrief::inputs::torch_trace
