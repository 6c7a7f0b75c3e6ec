// The pages of a SQLite file that hold the rows of a table (https://sqlite.org/fileformat2.html).
//
//   root -> pages that name other pages -> leaves, which hold rows
//
// Leaves are listed first, from the pages above them alone, so that several threads can share them
// out. No page is taken twice: a tree that leads in circles ends. Whatever is no page of a table,
// or lies behind the end of a file that was cut, costs what it would have held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sqlite/schema.h"
#include "base/sqlite/source_windows.h"

namespace debrief {

struct TableLeaves {
  std::vector<uint32_t> pages;  // in order of their rows
  bool is_damaged = false;      // some could not be found
};

// One row as it lies in its page.
struct TableCell {
  int64_t number = 0;      // of the row
  uint64_t bytes = 0;      // of the row
  std::string_view local;  // what of it lies in the page
  uint32_t overflow = 0;   // the page on which it goes on; 0 when all of it is local
};

// A copy of one page.
class TablePage {
 public:
  // False where it is no page of a table.
  bool Parse(const SqliteFormat& format);

  bool is_leaf() const { return is_leaf_; }
  size_t cells() const { return cells_; }

  // Of a leaf. False where the cell is damaged.
  bool ReadCell(size_t cell, TableCell& row) const;
  // Of an inner page: the page of child `cell`, and the largest number of a row in it; the last
  // child has number `cells()`. 0 where the cell is damaged.
  uint32_t Child(size_t cell) const;
  int64_t LargestOf(size_t cell) const;

  std::string bytes;

 private:
  // Where the cell begins; 0 where it lies outside.
  size_t PlaceOf(size_t cell) const;
  uint32_t Number32(size_t at) const;

  size_t usable_ = 0;
  size_t head_bytes_ = 0;
  size_t cells_ = 0;
  bool is_leaf_ = false;
};

// The number that `text` begins with, one to nine bytes; moves `at` behind it. Bytes behind the end
// are zeros, and `at` then lies behind the end.
uint64_t ReadVarint(std::string_view text, size_t& at);

class TablePages {
 public:
  TablePages(const Source& source, const SqliteFormat& format)
      : windows_(source), format_(format) {}

  TableLeaves LeavesOf(uint32_t root);

  // False where it is no page of a table, or cannot be read; see trouble().
  bool Load(uint32_t page, TablePage& loaded);

  // The first `wanted` bytes of a row. Fewer where its pages are damaged.
  void ReadRow(const TableCell& cell, uint64_t wanted, std::string& row);

  const SqliteFormat& format() const { return format_; }
  // What kept bytes from being read, if something did.
  const Status& trouble() const { return trouble_; }

 private:
  struct Walk;
  void Visit(uint32_t page, size_t depth, Walk& walk);
  bool HasInnerChild(const TablePage& page) const;
  uint8_t KindOf(uint32_t page) const;
  bool CopyBytes(uint64_t offset, char* out, size_t length);

  SourceWindows windows_;
  SqliteFormat format_;
  // Rows may share pages in a file that was made to harm: what is read of such pages is counted.
  uint64_t overflow_bytes_ = 0;
  Status trouble_;
};

}  // namespace debrief
