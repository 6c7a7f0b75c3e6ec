#include "app/mcp/lines_around.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/bytes/archive.h"
#include "base/bytes/decompress.h"
#include "base/bytes/unique_fd.h"
#include "base/json/writer.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr size_t kWidestLine = 4000;
constexpr size_t kPieceBytes = 256 << 10;

// Takes a stream apart at line ends and keeps the lines of a range.
class RangeOfLines {
 public:
  explicit RangeOfLines(const LineRange& range)
      : first_(std::max<int64_t>(1, range.line - range.before)), last_(range.line + range.after) {}

  Status ReadFrom(ByteStream& stream) {
    std::string piece(kPieceBytes, '\0');
    while (number_ <= last_) {
      ASSIGN_OR_RETURN(const size_t got, stream.Read(piece.data(), piece.size()));
      if (got == 0) return {};
      Take(std::string_view(piece).substr(0, got));
    }
    more_ = true;
    return {};
  }

  std::string Json(const std::string& path) {
    if (!line_.empty()) EndLine();
    std::string out;
    JsonWriter json(&out);
    json.BeginObject().Field("path", path).Field("first_line", first_);
    json.Array("lines", lines_, [&](const std::string& line) { json.Value(line); });
    json.Field("more", more_).EndObject();
    return out;
  }

 private:
  void Take(std::string_view text) {
    while (!text.empty() && number_ <= last_) {
      const size_t end = std::min(text.find('\n'), text.size());
      if (number_ >= first_ && line_.size() < kWidestLine)
        line_ += text.substr(0, std::min(end, kWidestLine - line_.size()));
      if (end == text.size()) return;
      text.remove_prefix(end + 1);
      EndLine();
    }
    more_ |= !text.empty();
  }

  void EndLine() {
    if (line_.ends_with('\r')) line_.pop_back();
    if (number_ >= first_ && number_ <= last_) lines_.push_back(std::move(line_));
    line_.clear();
    ++number_;
  }

  int64_t first_, last_;
  int64_t number_ = 1;
  bool more_ = false;
  std::string line_;
  std::vector<std::string> lines_;
};

Result<UniqueFd> OpenRegular(const std::string& real_path) {
  UniqueFd file(open(real_path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat facts;
  if (!file.valid() || fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode))
    return Status(Code::kNotFound, "not a file that can be read");
  return file;
}

// The unpacked bytes of a stream, whatever its packing is.
Result<std::unique_ptr<ByteStream>> Unpacked(std::unique_ptr<ByteStream> stream) {
  ASSIGN_OR_RETURN(std::string head, ReadHead(*stream, 4));
  const Packing packing = DetectPacking(head);
  return Decompress(packing, MakePrefixedStream(std::move(head), std::move(stream)), {});
}

Status ReadMember(ByteStream& archive, const std::string& name, RangeOfLines& lines) {
  bool is_found = false;
  const Status walked =
      WalkArchive(archive, {}, [&](const ArchiveMember& member, ByteStream& body) -> Status {
        if (is_found || member.name != name) return {};
        is_found = true;
        ASSIGN_OR_RETURN(std::string head, ReadHead(body, 4));
        const Packing packing = DetectPacking(head);
        const auto stream = Decompress(packing, MakePrefixedStream(std::move(head), body), {});
        TRY(lines.ReadFrom(*stream));
        return Status(Code::kLimit, "read");  // nothing behind it is wanted
      });
  if (is_found) return walked.code() == Code::kLimit ? Status() : walked;
  return Status(Code::kNotFound, fmt::format("no member {} in the archive", name));
}

}  // namespace

Result<std::string> LinesAroundJson(const Roots& roots, const std::string& path,
                                    const LineRange& range) {
  std::string file = path, member;
  auto real = roots.Resolve(path);
  if (const size_t mark = path.find('!'); !real.ok() && mark != std::string::npos) {
    file = path.substr(0, mark);
    member = path.substr(mark + 1);
    real = roots.Resolve(file);
  }
  if (!real.ok()) return real.status();
  ASSIGN_OR_RETURN(const UniqueFd opened, OpenRegular(real.value()));
  ASSIGN_OR_RETURN(const auto stream, Unpacked(MakeFdStream(opened.get())));
  RangeOfLines lines(range);
  TRY(member.empty() ? lines.ReadFrom(*stream) : ReadMember(*stream, member, lines));
  return lines.Json(path);
}

}  // namespace debrief
