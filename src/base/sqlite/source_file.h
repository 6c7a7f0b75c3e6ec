// A Source as the file of a SQLite database: a file system of SQLite ("VFS") with that one file.
//
//   SourceFile file(source);
//   sqlite3_open_v2("database", &db, flags, file.vfs_name());
//
// SQLite gets bytes from here alone: it opens no file, takes no lock, and neither looks for nor
// writes a journal, so that nothing beside the input is touched and packed inputs, members of
// archives and stdin are read like files. What a writer that died or a copy that was cut left is
// readable, too: pages behind the end are zero, which SQLite reports as damaged one by one, and a
// database that was in write-ahead mode is read without its log.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>

#include "base/bytes/source.h"
#include "base/sqlite/source_windows.h"
#include "base/status.h"

namespace debrief {

class SourceFile {
 public:
  // `source` must outlive this, and this the database that is opened with it.
  explicit SourceFile(const Source& source);
  SourceFile(const SourceFile&) = delete;
  SourceFile& operator=(const SourceFile&) = delete;
  ~SourceFile();

  const char* vfs_name() const { return name_.c_str(); }

  // The bytes of the file from `offset` on; zeros behind its end. A result code of SQLite.
  int Read(uint64_t offset, char* out, size_t length);
  uint64_t shown_size() const { return shown_size_; }

  // What kept bytes from being read, if something did.
  const Status& trouble() const { return trouble_; }

 private:
  SourceWindows windows_;
  uint64_t shown_size_ = 0;  // as the header tells, and no less than there is
  Status trouble_;
  std::string name_;
  sqlite3_vfs vfs_ = {};
};

}  // namespace debrief
