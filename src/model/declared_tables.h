// What an analysis declares is what it may touch: the order of analyses follows from declarations,
// so a table read beside them might be there on one run and not yet on the next.
//
//   ScopedDeclaration scope(declaration);   // the scheduler, around each analysis
//   model.tables.Get<RankTable>()           // ends the program when `declaration` has no `rank`
//
// Holds for the thread and for the work that it starts in a ThreadPool. Checked in builds with
// DEBRIEF_CHECK_TABLES; elsewhere a declaration costs nothing and forbids nothing.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/threads/thread_pool.h"
#include "model/table.h"

namespace debrief {

class TableDeclaration {
 public:
  // `who` is named when something else is read or made. Outlives its scopes.
  explicit TableDeclaration(std::string_view who) : who_(who) {}

  TableDeclaration& MayRead(std::span<const std::string_view> tables);
  TableDeclaration& MayMake(std::span<const std::string_view> tables);  // and read

  std::string_view who() const { return who_; }
  bool MayRead(TableId id) const { return read_[id]; }
  bool MayMake(TableId id) const { return made_[id]; }

 private:
  std::string_view who_;
  std::vector<bool> read_ = std::vector<bool>(AllTables().size());
  std::vector<bool> made_ = std::vector<bool>(AllTables().size());
};

class ScopedDeclaration {
 public:
  explicit ScopedDeclaration(const TableDeclaration& declaration) : context_(&declaration) {}

 private:
  ScopedWorkContext context_;
};

}  // namespace debrief
