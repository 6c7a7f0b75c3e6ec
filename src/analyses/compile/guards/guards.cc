// Which guards has a compilation, and which of them failed?
//
// Guards come from dynamo_cpp_guards_str, of older logs from dynamo_guards (JSON, without kinds).
// A reason of a recompilation names one guard of an older compilation: for tensors by its source
// ("tensor 'x' size mismatch ..."), else by its text with locals stripped (L['k'] is k). Only
// compilations that a reason names are compared. Cost: one pass over the payloads.
#include <map>
#include <string>
#include <tuple>

#include "analyses/analysis.h"
#include "analyses/compile/guards/guard_tree.h"
#include "analyses/compile/rows.h"
#include "base/json/cursor.h"
#include "model/compile/frames.h"
#include "model/compile/payload.h"
#include "tables/compilation.h"
#include "tables/compile_entry.h"
#include "tables/compile_guard.h"
#include "tables/compile_recompile.h"

namespace debrief::analyses::compile_guards {

namespace {

enum class Kind : uint8_t { kOther, kTree, kJson };

Kind KindOf(std::string_view kind) {
  if (kind == "dynamo_cpp_guards_str") return Kind::kTree;
  return kind == "dynamo_guards" ? Kind::kJson : Kind::kOther;
}

using CompileKey = std::pair<Process, std::string_view>;

// L['x'] without its brackets, as reasons have it.
std::string WithoutLocals(std::string_view guard) {
  std::string stripped;
  while (true) {
    const size_t at = guard.find("L['");
    const size_t end = at == std::string_view::npos ? at : guard.find("']", at);
    if (end == std::string_view::npos) break;
    stripped += guard.substr(0, at);
    stripped += guard.substr(at + 3, end - at - 3);
    guard.remove_prefix(end + 2);
  }
  return stripped += guard;
}

// Guards of one compilation that failed: text, or source of a tensor -> times.
struct Failures {
  std::map<std::string, int32_t, std::less<>> texts;
  std::map<std::string, int32_t, std::less<>> tensors;

  int32_t Of(const Guard& guard) const {
    if (guard.kind == "TENSOR_MATCH") {
      auto found = tensors.find(guard.source);
      return found == tensors.end() ? 0 : found->second;
    }
    auto found = texts.find(WithoutLocals(guard.guard));
    return found == texts.end() ? 0 : found->second;
  }
};

class GuardWriter : EntryPass {
 public:
  GuardWriter(const Model& model, Part& part)
      : EntryPass(model, part), rows_(part.tables.Edit<CompileGuardTable>()) {
    const auto& recompiles = model.tables.Get<CompileRecompileTable>();
    for (size_t row = 0; row < recompiles.size(); ++row) {
      Failures& to =
          failures_[{ProcessOf(recompiles, row), model.pools.Text(recompiles.previous_id[row])}];
      const std::string_view guard = model.pools.Text(recompiles.guard[row]);
      if (guard.starts_with("tensor '")) {
        ++to.tensors[std::string(model.pools.Text(recompiles.source[row]))];
      } else {
        ++to.texts[WithoutLocals(guard)];
      }
    }
  }

  Status Run() {
    for (const auto& [key, row] : LastTexts()) TRY(Add(key, row));
    return {};
  }

 private:
  // The entry with the guards of each compilation, in the order of the log: the last tree, else the
  // last JSON.
  std::vector<std::pair<CompileKey, size_t>> LastTexts() {
    std::vector<std::pair<CompileKey, size_t>> texts;
    std::map<CompileKey, size_t> places;
    for (size_t row = 0; row < entries_.size(); ++row) {
      const Kind kind = kind_of_(entries_.kind[row]);
      if (kind == Kind::kOther || entries_.compile_id[row] == StringId::kNone) continue;
      const CompileKey key(ProcessOf(entries_, row),
                           WithoutAttempt(model_.pools.Text(entries_.compile_id[row])));
      auto [found, is_new] = places.try_emplace(key, texts.size());
      if (is_new) texts.emplace_back(key, row);
      size_t& known = texts[found->second].second;
      if (kind == Kind::kTree || kind_of_(entries_.kind[known]) == Kind::kJson) known = row;
    }
    return texts;
  }

  Status Add(const CompileKey& key, size_t row) {
    if (kind_of_(entries_.kind[row]) == Kind::kTree) {
      TRY(ReadPayload(model_, entries_, row, text_));
      ParseGuardTree(text_, tree_);
    } else {
      TRY(ReadJson(row));
    }
    auto found = failures_.find(key);
    Write(key, row, found == failures_.end() ? nullptr : &found->second);
    return {};
  }

  // Broken JSON gives the guards before the break.
  Status ReadJson(size_t row) {
    tree_.guards.clear();
    tree_.check_us = kNoDouble;
    ASSIGN_OR_RETURN(json_, PayloadLines(model_, entries_, row));
    if (!reader_.Open(json_.text()).ok()) return {};
    Status status = reader_.root().ForEachElement([&](JsonValue element) -> Status {
      return element.ForEachField([&](std::string_view name, JsonValue value) {
        if (name != "code") return;
        auto code = value.String();
        if (!code) return;
        Guard& guard = tree_.guards.emplace_back();
        guard.kind = "python";
        ParseGuardLine(*code, guard);
      });
    });
    static_cast<void>(status);
    return {};
  }

  void Write(const CompileKey& key, size_t from, const Failures* failures) {
    auto row = RowLike<CompileGuardRow>(entries_, from);
    row.compile_id = texts_(key.second);
    row.check_us = tree_.check_us;
    failed_.assign(tree_.guards.size(), 0);
    if (failures != nullptr) {
      for (size_t i = 0; i < tree_.guards.size(); ++i) failed_[i] = failures->Of(tree_.guards[i]);
      for (size_t i = 0; i < tree_.guards.size(); ++i) {
        if (failed_[i] > 0) WriteGuard(i, row);
      }
    }
    for (size_t i = 0; i < tree_.guards.size(); ++i) {
      if (failed_[i] == 0) WriteGuard(i, row);
    }
  }

  void WriteGuard(size_t at, CompileGuardRow& row) {
    const Guard& guard = tree_.guards[at];
    row.position = static_cast<int32_t>(at);
    row.kind = texts_(guard.kind);
    row.guard = texts_(guard.guard);
    row.source = texts_(guard.source);
    row.code = texts_(guard.code);
    row.file = texts_(guard.file);
    row.line = guard.line;
    row.function = texts_(guard.function);
    row.failed = failed_[at];
    rows_.Add(row);
  }

  CompileGuardTable& rows_;
  std::map<CompileKey, Failures> failures_;
  AskOnce<Kind> kind_of_{model_.pools, KindOf};
  JsonReader reader_;
  GuardTree tree_;
  std::vector<int32_t> failed_;
  std::string text_;
  ByteView json_;
};

}  // namespace

const Analysis& Describe() {
  static const Analysis kAnalysis = {
      .info = {.name = "compile_guards",
               .sentence = "Which guards does each compilation check, and which of them failed?",
               .example = "(makes tables only)",
               // compilation is needed for its order only: whoever makes it makes
               // compile_recompile, which may be empty.
               .needs = kTableNames<CompileEntryTable, CompilationTable>,
               .makes = kTableNames<CompileGuardTable>,
               .uses = kTableNames<CompileRecompileTable>},
      .run = RunPass<GuardWriter>};
  return kAnalysis;
}

}  // namespace debrief::analyses::compile_guards
