#include "inputs/torch_trace/entry.h"

#include "inputs/torch_trace/fields.h"

namespace debrief::inputs::torch_trace {

Status Entry::AddFrame(JsonValue frame) {
  LoggedFrame logged;
  uint32_t seen = 0;
  TRY(frame.ForEachField([&](std::string_view key, JsonValue value) -> Status {
    auto text = [&](std::string_view& to) -> Status {
      auto string = value.kind() == JsonKind::kString ? value.String() : std::nullopt;
      if (!string) return WrongField(key, "of a frame is no string");
      to = notes_.texts.Copy(*string);
      return {};
    };
    if (key == "filename") {
      seen |= 1;
      ASSIGN_OR_RETURN(FieldValue number, ReadFieldValue(value, FieldType::kUint32, *this));
      logged.file_number = static_cast<uint32_t>(std::get<int64_t>(number.value));
    } else if (key == "line") {
      seen |= 2;
      ASSIGN_OR_RETURN(FieldValue number, ReadFieldValue(value, FieldType::kInt32, *this));
      logged.line = static_cast<int32_t>(std::get<int64_t>(number.value));
    } else if (key == "name") {
      seen |= 4;
      return text(logged.function);
    } else if (key == "loc" && !value.IsNull()) {
      return text(logged.text);
    } else if (key == "uninterned_filename" && !value.IsNull()) {
      return text(logged.file);
    }
    return {};
  }));
  if (seen != 7)
    return MissingField((seen & 1) == 0 ? "filename" : (seen & 2) == 0 ? "line" : "name");
  notes_.frames.push_back(logged);
  return {};
}

Status Entry::AddStack(JsonValue frames, StackColumn column) {
  size_t begin = notes_.frames.size();
  TRY(frames.ForEachElement([&](JsonValue frame) { return AddFrame(frame); }));
  size_t row_number = part_.tables.Get<CompileEntryTable>().size() + rows_.size();
  notes_.stacks.push_back({row_number, column, begin, notes_.frames.size() - begin});
  return {};
}

void Entry::NextKind(const CompileEntryRow& begin) {
  rows_.push_back(row);
  row = begin;
}

void Entry::SetPayload(const CompileEntryRow& payload) {
  auto set = [&](CompileEntryRow& to) {
    to.payload_md5 = payload.payload_md5;
    to.payload_ok = payload.payload_ok;
    to.payload_offset = payload.payload_offset;
    to.payload_bytes = payload.payload_bytes;
    to.payload_pieces = payload.payload_pieces;
  };
  for (CompileEntryRow& before : rows_) set(before);
  set(row);
}

void Entry::MarkUnusable(std::string_view key) {
  StringId kind = Intern(key);
  StringId unusable = Intern("unusable");
  for (CompileEntryRow& before : rows_) {
    if (before.kind == kind) before.state = unusable;
  }
  if (row.kind == kind) row.state = unusable;
}

void Entry::Commit() {
  for (const CompileEntryRow& before : rows_) part_.tables.Edit<CompileEntryTable>().Add(before);
  part_.tables.Edit<CompileEntryTable>().Add(row);
  CommitAdded();
}

void Entry::CommitAdded() {
  for (const auto& add : added_) add(part_);
  added_.clear();
}

void Entry::Discard() {
  notes_.frames.resize(frames_before_);
  notes_.stacks.resize(stacks_before_);
  rows_.clear();
  added_.clear();
}

void Entry::SetUnixTime(int64_t unix_ns) {
  if (notes_.clock_offset_ns == kNone64 && row.time_ns != kNone64)
    notes_.clock_offset_ns = unix_ns - row.time_ns;
}

}  // namespace debrief::inputs::torch_trace
