#include "inputs/open_input.h"

#include <fmt/format.h>

#include <memory>
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

// The bytes of `in`, counted as they are read.
class CountedStream final : public ByteStream {
 public:
  CountedStream(std::unique_ptr<ByteStream> in, const std::function<void(uint64_t)>& on_read)
      : in_(std::move(in)), on_read_(on_read) {}

  Result<size_t> Read(char* out, size_t capacity) override {
    Result<size_t> got = in_->Read(out, capacity);
    if (got.ok() && on_read_) on_read_(got.value());
    return got;
  }

 private:
  std::unique_ptr<ByteStream> in_;
  const std::function<void(uint64_t)>& on_read_;
};

}  // namespace

Spilled OpenInput(FoundInput& input, SpillBudget& budget,
                  const std::function<void(uint64_t)>& on_read) {
  if (input.unpacked != nullptr) return {std::move(input.unpacked), {}};
  auto file = OpenFileSource(input.file);
  if (!file.ok()) return {nullptr, file.status()};
  Status shrunk = CheckSize(input, *file.value());
  if (input.packing == Packing::kNone) return {std::move(file).value(), shrunk};
  auto packed = std::make_unique<CountedStream>(MakeSourceStream(*file.value()), on_read);
  auto stream = Decompress(input.packing, std::move(packed), ExpansionLimits());
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
