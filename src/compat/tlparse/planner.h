// The pass over the entries that makes a plan.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "compat/tlparse/plan.h"
#include "tables/compile_entry.h"

namespace debrief::outputs::tlparse_tree {

class Planner {
 public:
  Planner(const Model& model, const TreeScope& scope, const TreeOptions& options);
  TreePlan Make();

 private:
  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  void CountLog();
  bool InScope(size_t row) const;
  bool IsMine(size_t row);
  void CountUnknown(size_t begin, size_t end);
  void TakeEntry(size_t begin, size_t end);
  bool HasKind(size_t begin, size_t end, std::string_view kind) const;
  void AddRaw(size_t row, int32_t payload_file);
  int32_t LastFile() const { return static_cast<int32_t>(plan_.files.size()) - 1; }
  Compilation& CompilationOf(size_t row);
  TreeFile& AddFile(size_t row, std::string_view name, Content content, Compilation& compilation);
  ListedFile& List(size_t row, std::string url, Compilation& compilation);
  void Show(size_t row, Compilation& compilation);
  void ShowPayload(size_t row, std::string_view name, Content content, Compilation& compilation);
  void ShowJson(size_t row, Compilation& compilation);
  void ShowCode(size_t row, Compilation& compilation);
  void ShowDump(size_t row, Compilation& compilation);
  void ShowExport(size_t row, Compilation& compilation);
  void DropOverwritten();

  const Model& model_;
  const CompileEntryTable& entries_;
  TreeScope scope_;
  TreeOptions options_;
  TreePlan plan_;
  std::unordered_map<StringId, size_t> compilations_;
  int32_t expected_ = kNone32;  // the first rank that the log names
  int32_t counter_ = 0;
  int32_t payload_file_ = kNone32;  // the file that shows the payload of the present entry
};

// Whether the payload of a kernel stack artifact is an object of lists of strings.
bool IsKernelStacks(const Model& model, size_t row);

// Whether a guard was evaluated: the others are of no interest for export.
bool IsEvaluated(const Model& model, size_t row);

}  // namespace debrief::outputs::tlparse_tree
