#include "base/sqlite/source_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/threads/guard.h"

namespace debrief {

namespace {

constexpr size_t kHeaderBytes = 100;

// What SQLite allocates for the open file.
struct OpenedSource {
  sqlite3_file base;
  SourceFile* file;
};

SourceFile& FileOf(sqlite3_file* opened) { return *reinterpret_cast<OpenedSource*>(opened)->file; }

uint32_t BigEndian(std::string_view bytes, size_t at, size_t count) {
  uint32_t number = 0;
  for (size_t i = 0; i < count; ++i)
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

// Bytes of all pages that the header counts.
uint64_t SizeInHeader(std::string_view header) {
  if (header.size() < kHeaderBytes) return 0;
  const uint32_t page = BigEndian(header, 16, 2);
  const uint64_t page_bytes = page == 1 ? 65536 : page;
  return page_bytes * BigEndian(header, 28, 4);
}

// ---- The methods of the open file.

int Close(sqlite3_file*) { return SQLITE_OK; }
int ReadFile(sqlite3_file* opened, void* out, int length, sqlite3_int64 offset) {
  if (length < 0 || offset < 0) return SQLITE_IOERR_READ;
  return FileOf(opened).Read(static_cast<uint64_t>(offset), static_cast<char*>(out),
                             static_cast<size_t>(length));
}
int Write(sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; }
int Truncate(sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; }
int Sync(sqlite3_file*, int) { return SQLITE_OK; }
int FileSize(sqlite3_file* opened, sqlite3_int64* size) {
  *size = static_cast<sqlite3_int64>(FileOf(opened).shown_size());
  return SQLITE_OK;
}
int Lock(sqlite3_file*, int) { return SQLITE_OK; }
int CheckReservedLock(sqlite3_file*, int* result) {
  *result = 0;
  return SQLITE_OK;
}
int FileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SectorSize(sqlite3_file*) { return 4096; }
int DeviceCharacteristics(sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; }

constexpr sqlite3_io_methods kMethods = {
    .iVersion = 1,
    .xClose = Close,
    .xRead = ReadFile,
    .xWrite = Write,
    .xTruncate = Truncate,
    .xSync = Sync,
    .xFileSize = FileSize,
    .xLock = Lock,
    .xUnlock = Lock,
    .xCheckReservedLock = CheckReservedLock,
    .xFileControl = FileControl,
    .xSectorSize = SectorSize,
    .xDeviceCharacteristics = DeviceCharacteristics,
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// ---- The methods of the file system.

// Journals and temporary files are not there, and cannot be made.
int OpenFile(sqlite3_vfs* vfs, const char*, sqlite3_file* opened, int flags, int* out_flags) {
  opened->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0) return SQLITE_CANTOPEN;
  reinterpret_cast<OpenedSource*>(opened)->file = static_cast<SourceFile*>(vfs->pAppData);
  opened->pMethods = &kMethods;
  if (out_flags != nullptr) *out_flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB;
  return SQLITE_OK;
}
int Delete(sqlite3_vfs*, const char*, int) { return SQLITE_IOERR_DELETE; }
int Access(sqlite3_vfs*, const char*, int, int* result) {
  *result = 0;
  return SQLITE_OK;
}
int FullPathname(sqlite3_vfs*, const char* name, int capacity, char* out) {
  sqlite3_snprintf(capacity, out, "%s", name);
  return SQLITE_OK;
}
int Randomness(sqlite3_vfs*, int bytes, char* out) {
  std::memset(out, 0, static_cast<size_t>(bytes));
  return bytes;
}
int Sleep(sqlite3_vfs*, int) { return 0; }
int CurrentTime(sqlite3_vfs*, double* julian_day) {
  *julian_day = 0;
  return SQLITE_OK;
}

}  // namespace

SourceFile::SourceFile(const Source& source) : windows_(source) {
  static std::atomic<uint64_t> count = 0;
  name_ = fmt::format("debrief source {}", ++count);
  auto header = source.View(0, kHeaderBytes);
  const uint64_t told = header.ok() ? SizeInHeader(header.value().text()) : 0;
  shown_size_ = std::max(source.size(), told);
  vfs_.iVersion = 1;
  vfs_.szOsFile = sizeof(OpenedSource);
  vfs_.mxPathname = 64;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.xOpen = OpenFile;
  vfs_.xDelete = Delete;
  vfs_.xAccess = Access;
  vfs_.xFullPathname = FullPathname;
  vfs_.xRandomness = Randomness;
  vfs_.xSleep = Sleep;
  vfs_.xCurrentTime = CurrentTime;
  sqlite3_initialize();
  sqlite3_vfs_register(&vfs_, /*makeDflt=*/0);
}

SourceFile::~SourceFile() { sqlite3_vfs_unregister(&vfs_); }

int SourceFile::Read(uint64_t offset, char* out, size_t length) {
  Status status;
  // Nothing may be thrown through the frames of SQLite.
  Status guarded = Guarded([&] { status = windows_.Copy(offset, out, length); });
  if (!guarded.ok()) return SQLITE_IOERR_NOMEM;
  if (!status.ok()) {
    if (trouble_.ok()) trouble_ = status;
    return SQLITE_IOERR_READ;
  }
  // Bytes 18 and 19 say "write-ahead log", which is not here: what the file has is read.
  for (const uint64_t at : {18u, 19u}) {
    if (at >= offset && at < offset + length && out[at - offset] == 2) out[at - offset] = 1;
  }
  return offset + length <= windows_.source().size() ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

}  // namespace debrief
