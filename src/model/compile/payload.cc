#include "model/compile/payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/pools/ids.h"
#include "tables/compile_entry.h"

namespace debrief {

namespace {

constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

const Source* SourceOf(const Model& model, const CompileEntryTable& entries, size_t row) {
  auto input = static_cast<size_t>(entries.input[row]);
  return input < model.sources.size() ? model.sources[input].get() : nullptr;
}

Result<ByteView> Look(const Source* source, int64_t offset, int64_t bytes) {
  if (source == nullptr || bytes <= 0) return ByteView();
  return source->View(static_cast<uint64_t>(offset), static_cast<size_t>(bytes));
}

// At most `most` bytes of the payload's lines.
Result<ByteView> FirstLines(const Model& model, const CompileEntryTable& entries, size_t row,
                            int64_t most) {
  const Source* source = SourceOf(model, entries, row);
  auto pieces = model.pools.lists.Get(entries.payload_pieces[row]);
  if (pieces.empty())
    return Look(source, entries.payload_offset[row], std::min(entries.payload_bytes[row], most));
  auto lines = std::make_shared<std::string>();
  for (size_t i = 0; i + 1 < pieces.size() && most > 0; i += 2) {
    ASSIGN_OR_RETURN(ByteView piece, Look(source, pieces[i], std::min(pieces[i + 1], most)));
    lines->append(piece.text());
    most -= pieces[i + 1];
  }
  size_t size = lines->size();
  lines->append(kPadding, '\0');
  std::shared_ptr<const char[]> owner(lines, lines->data());
  return ByteView(std::move(owner), lines->data(), size);
}

}  // namespace

void AppendPayload(std::string_view lines, std::string& payload) {
  size_t begin = payload.size();
  payload.resize(begin + lines.size());  // never longer: each line loses a tab
  char* out = payload.data() + begin;
  const char* at = lines.data();
  const char* end = at + lines.size();
  bool first = true;
  while (at < end) {
    const char* stop =
        static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
    if (stop == nullptr) stop = end;
    if (*at == '\t') {
      if (!first) *out++ = '\n';
      first = false;
      auto size = static_cast<size_t>(stop - at - 1);
      if (size > 0 && stop[-1] == '\r' && stop != end) --size;
      std::memcpy(out, at + 1, size);
      out += size;
    }
    at = stop + 1;
  }
  payload.resize(static_cast<size_t>(out - payload.data()));
}

Result<ByteView> PayloadLines(const Model& model, const CompileEntryTable& entries, size_t row) {
  return FirstLines(model, entries, row, kAll);
}

Status ReadPayload(const Model& model, const CompileEntryTable& entries, size_t row,
                   std::string& payload) {
  return ReadPayloadStart(model, entries, row, kAll, payload);
}

Status ReadPayloadStart(const Model& model, const CompileEntryTable& entries, size_t row,
                        int64_t most, std::string& payload) {
  payload.clear();
  ASSIGN_OR_RETURN(ByteView lines, FirstLines(model, entries, row, most));
  AppendPayload(lines.text(), payload);
  return {};
}

Result<ByteView> HeaderLine(const Model& model, const CompileEntryTable& entries, size_t row) {
  return Look(SourceOf(model, entries, row), entries.entry[row], entries.header_bytes[row]);
}

std::string GraphDirectory(const CompileEntryTable& entries, size_t row) {
  if (entries.compile_id[row] == StringId::kNone)
    return fmt::format("unknown_{}", entries.line[row]);
  auto part = [](int64_t id) { return id == kNone64 ? std::string("-") : fmt::format("{}", id); };
  return fmt::format("{}_{}_{}_{}", part(entries.autograd_id[row]), part(entries.frame_id[row]),
                     part(entries.frame_compile_id[row]), part(entries.compile_attempt[row]));
}

}  // namespace debrief
