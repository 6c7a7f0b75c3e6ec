// The buffer grows by realloc, which for large blocks moves pages and not bytes. A stream that
// turns out to be long is written out of the buffer, which then serves to copy the rest.
#include "base/bytes/spill.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/bytes/source_parts.h"

namespace debrief {

namespace {

constexpr size_t kFirstBytes = 64 << 10;
constexpr size_t kCopyBytes = 1 << 20;

// A part of a budget, given back at the end of its life.
class Lease {
 public:
  Lease(std::atomic<uint64_t>& used, uint64_t limit) : used_(&used), limit_(limit) {}
  Lease(Lease&& other) noexcept
      : used_(other.used_), limit_(other.limit_), held_(std::exchange(other.held_, 0)) {}
  ~Lease() { used_->fetch_sub(held_); }

  // Holds `bytes` in all from now on; false, and nothing changes, when the budget has not so much
  // left.
  bool Resize(uint64_t bytes) {
    if (bytes > held_) {
      const uint64_t more = bytes - held_;
      uint64_t used = used_->load();
      do {
        if (more > limit_ || used > limit_ - more) return false;
      } while (!used_->compare_exchange_weak(used, used + more));
    } else {
      used_->fetch_sub(held_ - bytes);
    }
    held_ = bytes;
    return true;
  }

  uint64_t held() const { return held_; }

 private:
  std::atomic<uint64_t>* used_;
  uint64_t limit_;
  uint64_t held_ = 0;
};

struct FreeBytes {
  void operator()(char* bytes) const { ::free(bytes); }
};

// Bytes in memory, with what they take of the memory budget. Shared by the source and its views.
struct Block {
  std::unique_ptr<char, FreeBytes> bytes;
  Lease lease;
};

// Pieces of the shared file, with what they take of the disk budget; the disk gets them back.
class SpillSource final : public Source {
 public:
  SpillSource(std::shared_ptr<const UniqueFd> file, std::vector<ByteRange> pieces,
              const std::string& name, Lease lease)
      : file_(std::move(file)),
        pieces_(std::move(pieces)),
        source_(MakePieceSource(file_, pieces_, name)),
        lease_(std::move(lease)) {}

  ~SpillSource() override {
    for (const ByteRange& piece : pieces_) {
      // Where a file system cannot do that, the space is free when the process ends.
      (void)::fallocate(file_->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        static_cast<off_t>(piece.begin), static_cast<off_t>(piece.size()));
    }
  }

  uint64_t size() const override { return source_->size(); }
  Result<ByteView> View(uint64_t offset, size_t length) const override {
    return source_->View(offset, length);
  }

 private:
  std::shared_ptr<const UniqueFd> file_;
  std::vector<ByteRange> pieces_;
  std::unique_ptr<Source> source_;
  Lease lease_;
};

// O_TMPFILE never has a name. Some file systems (NFS, older overlays) do not know it.
UniqueFd OpenTemporary(const std::string& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600));
  if (fd.valid() || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  std::string name = folder + "/debrief-spill-XXXXXX";
  UniqueFd named(::mkostemp(name.data(), O_CLOEXEC));
  if (named.valid()) ::unlink(name.c_str());
  return named;
}

// The file of all streams; null, with errno set, when there can be none.
std::shared_ptr<const UniqueFd> SharedFile(SpillBudget& budget) {
  const std::lock_guard lock(budget.file_mutex);
  if (budget.file != nullptr) return budget.file;
  UniqueFd fd = OpenTemporary(budget.folder);
  if (fd.valid()) budget.file = std::make_shared<const UniqueFd>(std::move(fd));
  return budget.file;
}

class Spiller {
 public:
  Spiller(ByteStream& in, SpillBudget& budget)
      : in_(in),
        budget_(budget),
        memory_(budget.memory_used, budget.max_memory_bytes),
        disk_(budget.disk_used, budget.max_disk_bytes) {}

  Spilled Run() {
    FillMemory();
    if (fits_ && Settle()) return {TakeMemory(), std::move(trouble_)};
    file_ = SharedFile(budget_);
    if (file_ == nullptr) {
      trouble_ = DiskTrouble(errno, "create a temporary file");
      return {TakeMemory(), std::move(trouble_)};
    }
    Status kept = Append(used_);
    if (kept.ok() && trouble_.ok() && !ended_) kept = CopyRest();
    if (!kept.ok()) trouble_ = std::move(kept);
    auto source = std::make_unique<SpillSource>(
        file_, std::move(pieces_), budget_.folder + " (temporary file)", std::move(disk_));
    return {std::move(source), std::move(trouble_)};
  }

 private:
  // Until the stream ends or is too long. The first buffer is not booked before Settle(): every
  // stream needs one, if only to be copied.
  void FillMemory() {
    while (trouble_.ok() && !ended_) {
      if (used_ == capacity_ && !Grow()) {
        fits_ = false;
        return;
      }
      ReadSome(used_, capacity_ - used_);
    }
    fits_ = used_ <= budget_.max_stream_memory;
  }

  // One byte more than allowed may be read, so that a stream of just the allowed size sees its end.
  bool Grow() {
    const size_t most = static_cast<size_t>(budget_.max_stream_memory) + 1;
    const size_t wanted = std::max(kFirstBytes, std::min(2 * capacity_, most));
    if (wanted <= capacity_) return false;
    if (capacity_ > 0 && !memory_.Resize(wanted)) return false;
    return Reallocate(wanted);
  }

  bool Reallocate(size_t capacity) {
    char* bytes = static_cast<char*>(::realloc(buffer_.get(), capacity + kPadding));
    if (bytes == nullptr) return false;
    static_cast<void>(buffer_.release());  // NOLINT(bugprone-unused-return-value): realloc() has it
    buffer_.reset(bytes);
    capacity_ = capacity;
    return true;
  }

  // Books exactly what is kept and gives the rest of the buffer back.
  bool Settle() { return memory_.Resize(used_ + kPadding) && Reallocate(used_); }

  // Appends to the buffer at `at`; sets ended_ or trouble_.
  size_t ReadSome(size_t at, size_t room) {
    Result<size_t> got = in_.Read(buffer_.get() + at, room);
    if (!got.ok()) {
      trouble_ = got.status();
      return 0;
    }
    ended_ = got.value() == 0;
    used_ = at + got.value();
    return got.value();
  }

  Status CopyRest() {
    Reallocate(kCopyBytes);  // when it fails, the old buffer does as well
    memory_.Resize(0);
    while (trouble_.ok() && !ended_) {
      const size_t count = ReadSome(0, capacity_);
      TRY(Append(count));
    }
    return {};
  }

  Status Append(size_t count) {
    if (!disk_.Resize(disk_.held() + count)) return OverBudget();
    const uint64_t begin = budget_.file_end.fetch_add(count);
    size_t done = 0;
    Status status;
    while (done < count && status.ok()) {
      const ssize_t put = ::pwrite(file_->get(), buffer_.get() + done, count - done,
                                   static_cast<off_t>(begin + done));
      if (put < 0 && errno != EINTR) status = DiskTrouble(errno, "write a temporary file");
      if (put > 0) done += static_cast<size_t>(put);
    }
    AddPiece({begin, begin + done});
    return status;
  }

  void AddPiece(ByteRange piece) {
    if (piece.size() == 0) return;
    if (!pieces_.empty() && pieces_.back().end == piece.begin) {
      pieces_.back().end = piece.end;
    } else {
      pieces_.push_back(piece);
    }
  }

  Status OverBudget() const {
    return Status(Code::kLimit,
                  fmt::format("unpacked data needs more than the {} bytes allowed in {}",
                              budget_.max_disk_bytes, budget_.folder))
        .Remedy("Allow more space for temporary files, or unpack the input and name its folder.");
  }

  Status DiskTrouble(int error, std::string_view what) const {
    const bool full = error == ENOSPC || error == EDQUOT;
    return Status(full ? Code::kNoSpace : Code::kIo,
                  fmt::format("cannot {} in {}: {}", what, budget_.folder, std::strerror(error)))
        .Remedy("Set another folder for temporary files.");
  }

  std::unique_ptr<Source> TakeMemory() {
    if (buffer_ == nullptr) return MakeMemorySource({});
    std::memset(buffer_.get() + used_, 0, kPadding);
    auto block = std::make_shared<Block>(Block{std::move(buffer_), std::move(memory_)});
    std::shared_ptr<const char[]> bytes(block, block->bytes.get());
    return MakeSharedSource(std::move(bytes), used_);
  }

  ByteStream& in_;
  SpillBudget& budget_;
  Lease memory_;
  Lease disk_;
  std::unique_ptr<char, FreeBytes> buffer_;
  size_t capacity_ = 0;  // kPadding more are allocated
  size_t used_ = 0;
  bool fits_ = false;
  bool ended_ = false;
  Status trouble_;
  std::shared_ptr<const UniqueFd> file_;
  std::vector<ByteRange> pieces_;  // of file_, in order of the stream
};

}  // namespace

Spilled Spill(ByteStream& in, SpillBudget& budget) { return Spiller(in, budget).Run(); }

}  // namespace debrief
