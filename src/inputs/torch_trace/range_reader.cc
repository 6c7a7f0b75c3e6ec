#include "inputs/torch_trace/range_reader.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/md5.h"
#include "base/json/cursor.h"
#include "base/text/escape.h"
#include "base/text/scan.h"
#include "inputs/importer.h"
#include "inputs/torch_trace/diagnostics.h"
#include "inputs/torch_trace/entry.h"
#include "inputs/torch_trace/envelope.h"
#include "inputs/torch_trace/kind.h"
#include "model/compile/payload.h"
#include "tables/compile_string.h"
#include "torch/glog_time.h"
#include "torch/prefixes/glog_prefix.h"

namespace debrief::inputs::torch_trace {

namespace {

RangeNotes& AttachNotes(Part& part) {
  part.notes = std::make_unique<RangeNotes>();
  return static_cast<RangeNotes&>(*part.notes);
}

}  // namespace

class EntryReader::Impl {
 public:
  Impl(const LogIdentity& log, int64_t now_ns, Part& part)
      : log_(log), who_(log.who), now_ns_(now_ns), part_(part), notes_(AttachNotes(part)) {}

  void Read(std::string_view text, uint64_t offset, std::span<const LinePlace> places) {
    text_ = text;
    offset_ = offset;
    places_ = places;
    is_placed_ = !places.empty();
    at_ = 0;
    for (Line line; NextLine(line);) {
      if (!line.text.empty()) ReadEntry(line);
    }
  }

  void SetLines(int64_t lines) { notes_.counts.lines = lines; }
  int64_t lines() const { return line_number_; }

 private:
  struct Line {
    std::string_view text;  // without its end
    size_t begin = 0;       // in the range
    size_t end = 0;         // behind its end
    LinePlace place;        // in the log
  };

  bool NextLine(Line& line) {
    if (at_ >= text_.size()) return false;
    line.begin = at_;
    const void* newline = std::memchr(text_.data() + at_, '\n', text_.size() - at_);
    size_t stop = newline == nullptr
                      ? text_.size()
                      : static_cast<size_t>(static_cast<const char*>(newline) - text_.data());
    line.end = newline == nullptr ? stop : stop + 1;
    if (newline != nullptr && stop > at_ && text_[stop - 1] == '\r') --stop;
    line.text = text_.substr(at_, stop - at_);
    at_ = line.end;
    ++line_number_;
    if (!is_placed_) {
      line.place = {.offset = static_cast<int64_t>(offset_ + line.begin),
                    .number = line_number_,
                    .bytes = static_cast<int64_t>(line.end - line.begin)};
    } else if (!places_.empty()) {
      line.place = places_.front();
      places_ = places_.subspan(1);
    }
    return true;
  }

  void ReadEntry(const Line& line) {
    if (line.text[0] == '\t') return AddLoose(line);  // what a payload says is never an entry
    auto prefix = FindGlogPrefix(line.text);
    if (!prefix) {
      ++notes_.counts.bad_prefix;
      return Report(kBadPrefix, line);
    }
    std::string_view json = line.text.substr(prefix->rest);
    const Envelope& envelope = ParseEnvelope(line, json);
    auto row = Part::RowOf<CompileEntryRow>(who_);
    row.input = who_.input;
    row.entry = line.place.offset;
    row.line = line.place.number;
    row.life = 0;
    if (auto time = ParseGlogTime(prefix->time)) row.time_ns = GuessTime(*time, now_ns_);
    row.thread = LeadingNumber(prefix->thread, kNone64);
    row.source_file = part_.pools.Intern(Trimmed(prefix->path, " "));
    row.source_line = static_cast<int32_t>(LeadingNumber(prefix->line, kNone64));
    row.header_bytes = static_cast<int32_t>(line.text.size());
    row.json_offset = static_cast<int32_t>(prefix->rest);
    row.state = part_.pools.Intern("read");
    row.payload_bytes = 0;
    row.payload_ok = 1;
    if (envelope.state != Envelope::State::kOk) return AddRefused(line, envelope, row);
    if (envelope.string) return AddString(line, envelope, row);
    ReadParsed(line, envelope, row, json);
  }

  void ReadParsed(const Line& line, const Envelope& envelope, CompileEntryRow row,
                  std::string_view json) {
    const LoggedId& id = envelope.id;
    row.compile_id = id.broken ? StringId::kNone : part_.pools.Intern(id.Text());
    if (!id.broken) {
      row.autograd_id = id.autograd;
      row.frame_id = id.frame;
      row.frame_compile_id = id.frame_compile;
      row.compile_attempt = id.attempt;
    }
    SetRank(envelope, row);
    size_t first_row = part_.tables.Get<CompileEntryTable>().size();
    Entry entry(part_, notes_);
    entry.row = row;
    if (Status status = ReadKinds(envelope, json, entry); !status.ok()) {
      entry.Discard();
      Envelope refused;
      refused.state = Envelope::State::kWrongField;
      refused.trouble = status.message();
      return AddRefused(line, refused, row);
    }
    ++notes_.counts.entries;
    std::string_view lines = TakePayload(envelope, row);
    entry.SetPayload(row);
    if (row.payload_ok == 0) {
      ++notes_.counts.bad_checksum;
      notes_.troubles.push_back({.kind = &kBadChecksum, .row = first_row, .detail = {}});
    }
    for (const Kind* kind : envelope.kinds) {
      if (kind->read_payload == nullptr) continue;
      if (Status status = kind->read_payload(lines, entry); !status.ok()) {
        entry.MarkUnusable(kind->key);
        notes_.troubles.push_back({.kind = &kUnusable,
                                   .row = first_row,
                                   .detail = std::string(kind->key) + ": " + status.message()});
      }
    }
    entry.Commit();
    AddUnknown(envelope, row);
  }

  // One row a kind; an entry of no kind that we know has one row all the same.
  Status ReadKinds(const Envelope& envelope, std::string_view json, Entry& entry) {
    CompileEntryRow begin = entry.row;
    bool first = true;
    for (const Kind* kind : envelope.kinds) {
      if (!first) entry.NextKind(begin);
      first = false;
      entry.row.kind = part_.pools.Intern(kind->key);
      if (!kind->form.empty()) {
        entry.row.form = part_.pools.Intern(kind->form);
        entry.row.file =
            part_.pools.Intern(std::string(kind->key) + (kind->is_page() ? ".html" : ".txt"));
      }
      if (kind->read != nullptr) TRY(ReadContent(json, *kind, entry));
    }
    if (envelope.kinds.empty() && !envelope.unknown.empty()) {
      entry.row.kind = part_.pools.Intern(envelope.unknown.front());
      entry.row.state = part_.pools.Intern("unknown");
    }
    if (!envelope.has_stack) return {};
    TRY(json_.Open(json));
    return json_.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
      if (key != "stack" || value.IsNull()) return {};
      return entry.AddStack(value, StackColumn::kEntryStack);
    });
  }

  Status ReadContent(std::string_view json, const Kind& kind, Entry& entry) {
    TRY(json_.Open(json));
    return json_.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
      return key == kind.key ? kind.read(value, entry) : Status();
    });
  }

  // The lines that begin with a tab, and empty ones between them.
  std::string_view TakePayload(const Envelope& envelope, CompileEntryRow& row) {
    if (!envelope.payload_md5) return {};
    row.payload_offset = static_cast<int64_t>(offset_ + at_);
    row.payload_bytes = 0;
    pieces_.clear();
    size_t begin = at_;
    size_t end = at_;
    while (at_ < text_.size()) {
      char first = text_[at_];
      bool blank =
          first == '\n' || (first == '\r' && at_ + 1 < text_.size() && text_[at_ + 1] == '\n');
      if (first != '\t' && !blank) break;
      Line line;
      NextLine(line);
      if (blank) continue;
      end = line.end;
      row.payload_bytes += line.place.bytes;
      if (is_placed_) pieces_.insert(pieces_.end(), {line.place.offset, line.place.bytes});
    }
    if (is_placed_) row.payload_offset = pieces_.empty() ? 0 : pieces_[0];
    if (is_placed_ && !pieces_.empty()) row.payload_pieces = part_.pools.lists.Intern(pieces_);
    if (!is_placed_) row.payload_bytes = static_cast<int64_t>(end - begin);
    std::string_view lines = text_.substr(begin, end - begin);
    row.payload_ok = ChecksumHolds(lines, *envelope.payload_md5) ? 1 : 0;
    bool forget = row.payload_ok != 0 && !envelope.kinds.empty() &&
                  std::all_of(envelope.kinds.begin(), envelope.kinds.end(),
                              [](const Kind* kind) { return kind->forgets_checksum; });
    if (!forget) row.payload_md5 = part_.pools.Intern(*envelope.payload_md5);
    return lines;
  }

  bool ChecksumHolds(std::string_view lines, std::string_view md5) {
    payload_.clear();
    AppendPayload(lines, payload_);
    return Md5Hex(payload_) == md5;
  }

  // A line with bytes that are no UTF-8 is read with U+FFFD in their place.
  const Envelope& ParseEnvelope(const Line& line, std::string_view& json) {
    const Envelope& envelope = envelopes_.Parse(json);
    if (envelope.state != Envelope::State::kNotJson) return envelope;
    repaired_ = ValidUtf8(json);
    if (repaired_ == json) return envelope;
    Report(kBadText, line);
    size_t size = repaired_.size();
    repaired_.append(kPadding, '\0');
    json = std::string_view(repaired_).substr(0, size);
    return envelopes_.Parse(json);
  }

  void AddLoose(const Line& line) {
    ++notes_.counts.bad_prefix;
    ++notes_.loose_lines;
    if (notes_.first_loose >= 0) return;
    notes_.first_loose = line.place.offset;
    notes_.first_loose_line = line.place.number;
  }

  void SetRank(const Envelope& envelope, CompileEntryRow& row) const {
    if (envelope.rank == kNone64) return;
    row.logged_rank = static_cast<int32_t>(envelope.rank);
    row.rank = log_.RankOf(row.logged_rank);
  }

  void AddString(const Line& line, const Envelope& envelope, const CompileEntryRow& row) {
    auto& strings = part_.tables.Edit<CompileStringTable>();
    notes_.strings.push_back({.row = part_.tables.Get<CompileEntryTable>().size(),
                              .string = strings.size(),
                              .thread = row.thread,
                              .index = envelope.string->second});
    auto made = Part::RowOf<CompileStringRow>(who_);
    made.input = who_.input;
    made.entry = row.entry;
    made.header_bytes = static_cast<int32_t>(line.text.size());
    made.life = 0;
    made.number = envelope.string->second;
    made.text = part_.pools.Intern(envelope.string->first);
    strings.Add(made);
  }

  void AddUnknown(const Envelope& envelope, const CompileEntryRow& row) {
    notes_.counts.unknown_keys += static_cast<int64_t>(envelope.unknown.size());
    bool first = envelope.kinds.empty();  // it has its row already
    for (std::string_view key : envelope.unknown) {
      part_.diagnostics.Add(kUnknownKey, who_.input,
                            {.offset = row.entry, .line = row.line, .detail = std::string(key)});
      if (!std::exchange(first, false)) {
        CompileEntryRow more = row;
        more.kind = part_.pools.Intern(key);
        more.state = part_.pools.Intern("unknown");
        part_.tables.Edit<CompileEntryTable>().Add(more);
      }
    }
  }

  void AddRefused(const Line& line, const Envelope& envelope, CompileEntryRow row) {
    ++notes_.counts.bad_json;
    if (envelope.state == Envelope::State::kNotJson) {
      ++notes_.counts.bad_json_lost;
      return Report(kBadJson, line, envelope.trouble);
    }
    Report(kBadField, line, envelope.trouble);
    row.state = part_.pools.Intern("refused");
    SetRank(envelope, row);
    part_.tables.Edit<CompileEntryTable>().Add(row);
  }

  void Report(const DiagnosticKind& kind, const Line& line, std::string detail = {}) {
    part_.diagnostics.Add(
        kind, who_.input,
        {.offset = line.place.offset, .line = line.place.number, .detail = std::move(detail)});
  }

  LogIdentity log_;
  Identity who_;
  int64_t now_ns_;
  std::string_view text_;
  uint64_t offset_ = 0;                // of the range in the log
  std::span<const LinePlace> places_;  // of lines to come, where the text does not lie in one piece
  bool is_placed_ = false;             // there are such
  std::vector<int64_t> pieces_;        // scratch
  size_t at_ = 0;
  int64_t line_number_ = 0;  // of the line read last, from 1 in the range
  Part& part_;
  RangeNotes& notes_;
  EnvelopeParser envelopes_;
  JsonReader json_;
  std::string payload_;   // scratch for the checksum
  std::string repaired_;  // scratch for lines that are no UTF-8
};

EntryReader::EntryReader(const LogIdentity& log, int64_t now_ns, Part& part)
    : impl_(std::make_unique<Impl>(log, now_ns, part)) {}

EntryReader::~EntryReader() = default;

void EntryReader::Read(std::string_view text, std::span<const LinePlace> places) {
  impl_->Read(text, 0, places);
}

void EntryReader::SetLines(int64_t lines) { impl_->SetLines(lines); }

void ReadRange(const LogIdentity& log, int64_t now_ns, std::string_view text, uint64_t offset,
               Part& part) {
  EntryReader::Impl reader(log, now_ns, part);
  reader.Read(text, offset, {});
  reader.SetLines(reader.lines());
}

}  // namespace debrief::inputs::torch_trace
