#include "base/bytes/open_files.h"

#include <sys/resource.h>

#include <algorithm>

namespace debrief {

namespace {

// A quarter of what the process may have: outputs, the database and the standard streams need some.
size_t MostOpenFiles() {
  constexpr rlim_t kFewest = 4, kMost = 256;
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFewest;
  return static_cast<size_t>(std::clamp(limit.rlim_cur / 4, kFewest, kMost));
}

}  // namespace

// Never destroyed: a source may outlive the statics of main.
OpenFiles& OpenFiles::Shared() {
  static OpenFiles* files = new OpenFiles(MostOpenFiles());
  return *files;
}

OpenFiles::Use::~Use() {
  if (files_ == nullptr) return;
  {
    const std::lock_guard lock(files_->mutex_);
    Slot& slot = files_->slots_[slot_];
    if (--slot.users > 0) return;
  }
  files_->changed_.notify_all();
}

uint64_t OpenFiles::NewNumber() {
  const std::lock_guard lock(mutex_);
  return ++last_number_;
}

Result<OpenFiles::Use> OpenFiles::Take(uint64_t number,
                                       const std::function<Result<UniqueFd>()>& open) {
  std::unique_lock lock(mutex_);
  Slot* slot = nullptr;
  for (;;) {
    slot = Find(number);
    if (slot != nullptr && !slot->opening) return Borrow(*slot);
    if (slot == nullptr) slot = FindIdle();
    if (slot != nullptr && !slot->opening) break;
    changed_.wait(lock);
  }
  *slot = {.number = number, .fd = {}, .users = 1, .last_used = ++uses_, .opening = true};
  lock.unlock();
  Result<UniqueFd> fd = open();
  if (!fd.ok() && fd.status().code() == Code::kIo) {  // too many are open: then fewer of ours
    CloseIdle();
    fd = open();
  }
  lock.lock();
  slot->opening = false;
  slot->users = 0;
  changed_.notify_all();
  if (!fd.ok()) {
    slot->number = 0;
    return fd.status();
  }
  slot->fd = std::move(fd).value();
  return Borrow(*slot);
}

void OpenFiles::Forget(uint64_t number) {
  const std::lock_guard lock(mutex_);
  Slot* slot = Find(number);
  if (slot != nullptr && slot->users == 0) *slot = Slot();
}

void OpenFiles::RememberInput(const struct stat& info, const std::string& path) {
  const std::lock_guard lock(mutex_);
  inputs_[{info.st_dev, info.st_ino}] = path;
}

bool OpenFiles::IsInput(const struct stat& info) const {
  const std::lock_guard lock(mutex_);
  auto found = inputs_.find({info.st_dev, info.st_ino});
  if (found == inputs_.end()) return false;
  struct stat now;
  return stat(found->second.c_str(), &now) == 0 && now.st_dev == info.st_dev &&
         now.st_ino == info.st_ino;
}

OpenFiles::Slot* OpenFiles::Find(uint64_t number) {
  auto found = std::find_if(slots_.begin(), slots_.end(),
                            [&](const Slot& slot) { return slot.number == number; });
  return found == slots_.end() ? nullptr : &*found;
}

// Free ones were never used and come first.
OpenFiles::Slot* OpenFiles::FindIdle() {
  Slot* idle = nullptr;
  for (Slot& slot : slots_) {
    if (slot.users == 0 && (idle == nullptr || slot.last_used < idle->last_used)) idle = &slot;
  }
  return idle;
}

OpenFiles::Use OpenFiles::Borrow(Slot& slot) {
  ++slot.users;
  slot.last_used = ++uses_;
  return {*this, static_cast<size_t>(&slot - slots_.data())};
}

void OpenFiles::CloseIdle() {
  const std::lock_guard lock(mutex_);
  for (Slot& slot : slots_) {
    if (slot.users == 0) slot = Slot();
  }
}

}  // namespace debrief
