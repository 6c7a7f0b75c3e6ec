#include "outputs/terminal/compile_summary/one_compilation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/text/strings.h"
#include "model/compile/frames.h"
#include "outputs/terminal/compile_summary/answers.h"
#include "tables/compilation.h"

namespace debrief::outputs::compile_summary {

namespace {

constexpr size_t kMostNamed = 12;

// "4" of 4/2, "!3/1" of !3/1/2.
std::string_view FrameOf(std::string_view compile_id) {
  return compile_id.substr(0, compile_id.rfind('/'));
}

// Those of the same frame, else the first there are.
std::vector<std::string_view> NearIds(const std::set<std::string_view>& ids,
                                      std::string_view wanted) {
  std::vector<std::string_view> near;
  std::ranges::copy_if(ids, std::back_inserter(near),
                       [&](std::string_view id) { return FrameOf(id) == FrameOf(wanted); });
  if (near.empty()) near.assign(ids.begin(), ids.end());
  if (near.size() > kMostNamed) near.resize(kMostNamed);
  return near;
}

}  // namespace

OneCompilation::OneCompilation(std::string_view compile_id) : id_(WithoutAttempt(compile_id)) {}

bool OneCompilation::Is(std::string_view compile_id) const {
  return is_all() || WithoutAttempt(compile_id) == id_;
}

bool OneCompilation::IsIn(std::string_view compile_ids) const {
  if (is_all()) return true;
  while (!compile_ids.empty()) {
    const size_t comma = std::min(compile_ids.find(','), compile_ids.size());
    if (Is(Trimmed(compile_ids.substr(0, comma)))) return true;
    compile_ids.remove_prefix(std::min(comma + 1, compile_ids.size()));
  }
  return false;
}

bool OneCompilation::IsAbout(const Finding& finding) const {
  if (is_all()) return true;
  const auto& ids = finding.compile_ids;
  return std::ranges::any_of(ids, [&](std::string_view id) { return Is(id); }) &&
         std::ranges::all_of(ids, [&](std::string_view id) { return FrameOf(id) == FrameOf(id_); });
}

Status CheckCompileId(const Model& model, std::string_view compile_id) {
  const OneCompilation wanted(compile_id);
  const auto& compilations = model.tables.Get<CompilationTable>();
  std::set<std::string_view> ids;
  for (size_t row = 0; row < compilations.size(); ++row) {
    const std::string_view id = model.pools.Text(compilations.compile_id[row]);
    if (wanted.Is(id)) return {};
    ids.insert(id);
  }
  return Status(Code::kNotFound, fmt::format("there is no compilation {}", compile_id))
      .Remedy(ids.empty()
                  ? "The logs have no compilations"
                  : fmt::format("There are: {}", fmt::join(NearIds(ids, compile_id), ", ")));
}

}  // namespace debrief::outputs::compile_summary
