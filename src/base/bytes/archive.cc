// Over libarchive, which has the years of hostile archives behind it. Only tar and zip are switched
// on.
#include "base/bytes/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace debrief {

namespace {

constexpr size_t kBlockBytes = 256 << 10;
constexpr size_t kTarBlock = 512;

// libarchive turns UTF-8 names into the character set of the locale, and drops a name that does not
// fit: in the "C" locale of a batch job, all that are not ASCII. This sets a UTF-8 locale for the
// calling thread as long as it lives; setlocale() would set it for everybody.
class Utf8Scope {
 public:
  explicit Utf8Scope(locale_t utf8)
      : before_(utf8 == locale_t{} ? locale_t{} : ::uselocale(utf8)) {}
  ~Utf8Scope() {
    if (before_ != locale_t{}) ::uselocale(before_);
  }
  Utf8Scope(const Utf8Scope&) = delete;
  Utf8Scope& operator=(const Utf8Scope&) = delete;

 private:
  locale_t before_;
};

bool IsUnsafeName(std::string_view name) {
  constexpr std::string_view kSlashes = "/\\";
  if (!name.empty() && kSlashes.find(name.front()) != std::string_view::npos) return true;
  if (name.size() >= 2 && name[1] == ':') return true;  // C:
  while (!name.empty()) {
    const size_t end = std::min(name.find_first_of(kSlashes), name.size());
    if (name.substr(0, end) == "..") return true;
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return false;
}

ArchiveMember::Type TypeOf(archive_entry* entry) {
  using Type = ArchiveMember::Type;
  if (archive_entry_hardlink(entry) != nullptr) return Type::kLink;
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return Type::kFile;
    case AE_IFDIR:
      return Type::kDirectory;
    case AE_IFLNK:
      return Type::kLink;
    default:
      return Type::kOther;
  }
}

// The archive, its current member, and that member's body.
class Walker final : public ByteStream {
 public:
  Walker(ByteStream& in, const ArchiveLimits& limits)
      : in_(in),
        limits_(limits),
        block_(new char[kBlockBytes]),
        archive_(archive_read_new()),
        utf8_(::newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{})) {}

  ~Walker() override {
    archive_read_free(archive_);
    if (utf8_ != locale_t{}) ::freelocale(utf8_);
  }

  Status Open() {
    if (archive_ == nullptr) return {Code::kLimit, "no memory to read the archive"};
    archive_read_support_format_tar(archive_);
    archive_read_support_format_zip_streamable(archive_);
    if (archive_read_open(archive_, this, nullptr, &Walker::Feed, nullptr) == ARCHIVE_OK) return {};
    return Explain();
  }

  // The next member into `member`; false at the end.
  Result<bool> Next(ArchiveMember& member) {
    Utf8Scope scope(utf8_);
    archive_entry* entry = nullptr;
    const int code = archive_read_next_header(archive_, &entry);
    if (code == ARCHIVE_EOF) return End();
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) return Explain();
    if (++members_ > limits_.max_members) {
      return Trouble(Code::kLimit, fmt::format("more than {} members", limits_.max_members));
    }
    member = Describe(entry);
    BeginBody(archive_entry_is_data_encrypted(entry) == 1);
    return true;
  }

  // Goes over what the visitor left. A packed body of unknown size must be unpacked to find its
  // end, so that happens through Read, which knows the limits; a known size is only skipped.
  Status Leave(const ArchiveMember& member) {
    if (member.size >= 0 || !trouble_.ok()) return {};
    std::unique_ptr<char[]> waste(new char[kBlockBytes]);
    for (;;) {
      Result<size_t> got = Read(waste.get(), kBlockBytes);
      if (!got.ok()) return got.status().code() == Code::kLimit ? got.status() : Status();
      if (got.value() == 0) return {};
    }
  }

  // The body of the current member. Holes of sparse files are zeros.
  Result<size_t> Read(char* out, size_t capacity) override {
    while (hole_ == 0 && piece_.empty() && trouble_.ok() && !body_ended_) NextPiece();
    if (hole_ == 0 && piece_.empty()) {
      if (!trouble_.ok()) return trouble_;
      return size_t{0};
    }
    size_t count = static_cast<size_t>(std::min<uint64_t>(capacity, hole_));
    if (count > 0) {
      std::memset(out, 0, count);
      hole_ -= count;
    } else {
      count = piece_.copy(out, capacity);
      piece_.remove_prefix(count);
    }
    return Account(count);
  }

 private:
  // The callback of libarchive. An error of `in` looks like the end to libarchive, which then hands
  // out what it has; Explain() puts the error in place of what libarchive says of the end.
  static la_ssize_t Feed(archive*, void* self, const void** block) {
    auto& walker = *static_cast<Walker*>(self);
    *block = walker.block_.get();
    Result<size_t> got = walker.in_.Read(walker.block_.get(), kBlockBytes);
    if (!got.ok()) walker.in_trouble_ = got.status();
    if (!got.ok() || got.value() == 0) walker.in_ended_ = true;
    return got.ok() ? static_cast<la_ssize_t>(got.value()) : 0;
  }

  // A tar ends with two blocks of zeros, which libarchive does not ask for.
  Result<bool> End() {
    if (!in_trouble_.ok()) return in_trouble_;
    const bool tar = (archive_format(archive_) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_TAR;
    if (tar && in_ended_)
      return Trouble(Code::kTruncated, "the tar archive ends without its end mark");
    return false;
  }

  ArchiveMember Describe(archive_entry* entry) const {
    ArchiveMember member;
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(entry);
    // A zip name that is marked as UTF-8 and is not: libarchive has thrown it away.
    member.name = name != nullptr ? name : fmt::format("member-{}", members_);
    member.size = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1;
    member.type = TypeOf(entry);
    member.unsafe_name = IsUnsafeName(member.name);
    return member;
  }

  void BeginBody(bool encrypted) {
    piece_ = {};
    hole_ = 0;
    body_offset_ = 0;
    body_ended_ = false;
    trouble_ = Status();
    if (!encrypted) return;
    trouble_ = Trouble(Code::kUnsupported, "the member is encrypted")
                   .Remedy("Unpack the archive with its password and name the folder.");
  }

  // Fetches the next piece, which may be empty, or the trouble in its place. A piece whose checksum
  // does not match comes with an error; its bytes go out before that.
  void NextPiece() {
    const void* bytes = nullptr;
    size_t size = 0;
    la_int64_t offset = 0;
    const int code = archive_read_data_block(archive_, &bytes, &size, &offset);
    body_ended_ = code == ARCHIVE_EOF;
    if (body_ended_) return;
    if (code != ARCHIVE_OK) trouble_ = Explain();
    if (code < ARCHIVE_FAILED || bytes == nullptr) return;
    if (offset < body_offset_ || offset > INT64_MAX - static_cast<int64_t>(size)) {
      trouble_ = Trouble(Code::kInvalid, "the pieces of a sparse member are out of order");
      return;
    }
    hole_ = static_cast<uint64_t>(offset - body_offset_);
    piece_ = {static_cast<const char*>(bytes), size};
    body_offset_ = offset + static_cast<int64_t>(size);
  }

  Result<size_t> Account(size_t count) {
    made_ += count;
    Status status = limits_.expansion.Check(consumed(), made_);
    if (!status.ok()) {
      trouble_ = std::move(status).At({.file = {}, .offset = static_cast<int64_t>(consumed())});
      hole_ = 0;
      piece_ = {};
    }
    return count;
  }

  uint64_t consumed() const { return static_cast<uint64_t>(archive_filter_bytes(archive_, -1)); }

  Status Trouble(Code code, std::string message) const {
    return Status(code, std::move(message))
        .At({.file = {}, .offset = static_cast<int64_t>(consumed())});
  }

  // What libarchive could not do, in our words.
  Status Explain() const {
    if (!in_trouble_.ok()) return in_trouble_;
    const char* text = archive_error_string(archive_);
    const std::string_view why = text != nullptr ? text : "";
    if (in_ended_ || why.find("runcated") != std::string_view::npos) {
      return Trouble(Code::kTruncated, "the archive ends early")
          .Remedy("Copy the file again if the original is longer.");
    }
    return Trouble(Code::kInvalid, fmt::format("broken archive: {}", why));
  }

  ByteStream& in_;
  ArchiveLimits limits_;
  std::unique_ptr<char[]> block_;  // what libarchive works on
  archive* archive_;
  locale_t utf8_;
  Status in_trouble_;
  bool in_ended_ = false;
  uint64_t members_ = 0;
  uint64_t made_ = 0;

  uint64_t hole_ = 0;        // zeros to give before piece_
  std::string_view piece_;   // bytes of libarchive that were not given yet
  int64_t body_offset_ = 0;  // where the next piece continues without a hole
  bool body_ended_ = false;
  Status trouble_;  // comes after hole_ and piece_
};

// The header's checksum: the sum of its bytes, its own field read as spaces. It stands there in
// octal.
bool HasTarChecksum(std::string_view header) {
  constexpr size_t kField = 148;
  constexpr size_t kFieldBytes = 8;
  unsigned sum = kFieldBytes * ' ';
  for (size_t i = 0; i < kTarBlock; ++i) {
    if (i < kField || i >= kField + kFieldBytes) sum += static_cast<unsigned char>(header[i]);
  }
  unsigned stored = 0;
  size_t at = kField;
  while (at < kField + kFieldBytes && header[at] == ' ') ++at;
  const size_t first = at;
  for (; at < kField + kFieldBytes && header[at] >= '0' && header[at] <= '7'; ++at) {
    stored = stored * 8 + static_cast<unsigned>(header[at] - '0');
  }
  return at > first && stored == sum;
}

}  // namespace

bool LooksLikeArchive(std::string_view head) {
  if (head.starts_with("PK\3\4") || head.starts_with("PK\5\6")) return true;
  if (head.size() < kTarBlock) return false;
  return head.substr(257, 5) == "ustar" || HasTarChecksum(head);
}

Status WalkArchive(ByteStream& in, const ArchiveLimits& limits,
                   const std::function<Status(const ArchiveMember&, ByteStream& body)>& visit) {
  Walker walker(in, limits);
  TRY(walker.Open());
  for (;;) {
    ArchiveMember member;
    ASSIGN_OR_RETURN(const bool more, walker.Next(member));
    if (!more) return {};
    TRY(visit(member, walker));
    TRY(walker.Leave(member));
  }
}

}  // namespace debrief
