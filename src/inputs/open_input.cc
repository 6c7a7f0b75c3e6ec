#include "inputs/open_input.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace debrief {

namespace {

// A live file may grow; one that is shorter than when it was found has lost something.
Status CheckSize(const FoundInput& input, const Source& file) {
  if (file.size() >= input.bytes) return {};
  return Status(Code::kChanged,
                fmt::format("{} bytes when found, {} when read", input.bytes, file.size()));
}

}  // namespace

Spilled OpenInput(FoundInput& input, SpillBudget& budget) {
  if (input.unpacked != nullptr) return {std::move(input.unpacked), {}};
  auto file = OpenFileSource(input.file);
  if (!file.ok()) return {nullptr, file.status()};
  Status shrunk = CheckSize(input, *file.value());
  if (input.packing == Packing::kNone) return {std::move(file).value(), shrunk};
  auto stream = Decompress(input.packing, MakeSourceStream(*file.value()), ExpansionLimits());
  return Spill(*stream, budget);
}

Status CheckPacked(const FoundInput& input, int64_t& content_bytes) {
  ASSIGN_OR_RETURN(auto file, OpenFileSource(input.file));
  auto stream = Decompress(input.packing, MakeSourceStream(*file), ExpansionLimits());
  return ReadToEnd(*stream, content_bytes);
}

Status ReadToEnd(ByteStream& stream, int64_t& bytes) {
  std::string buffer(256 * 1024, '\0');
  bytes = 0;
  while (true) {
    ASSIGN_OR_RETURN(size_t got, stream.Read(buffer.data(), buffer.size()));
    if (got == 0) return {};
    bytes += static_cast<int64_t>(got);
  }
}

}  // namespace debrief
