#include "analyses/profile/ops/groupings.h"

#include <string_view>
#include <tuple>
#include <unordered_map>

namespace debrief::analyses::profile_ops {

namespace {

using timeline::TimelineView;

constexpr std::string_view kModulePrefix = "nn.Module: ";

struct Key {
  StringId name = StringId::kNone, shapes = StringId::kNone, dtypes = StringId::kNone;
  bool operator==(const Key&) const = default;
};

struct KeyHash {
  size_t operator()(const Key& key) const {
    auto number = [](StringId id) { return static_cast<uint64_t>(id); };
    const uint64_t mixed = number(key.name) * 0x9e3779b97f4a7c15 + number(key.shapes);
    return static_cast<size_t>((mixed ^ (mixed >> 29)) * 0xc2b2ae3d27d4eb4f + number(key.dtypes));
  }
};

class Numbering {
 public:
  explicit Numbering(const TimelineView& view) {
    grouping_.group.assign(view.slices.size(), kNone32);
  }

  void Put(int32_t slice, const Key& key) {
    auto [at, is_new] = numbers_.try_emplace(key, static_cast<int32_t>(numbers_.size()));
    grouping_.group[TimelineView::At(slice)] = at->second;
  }

  Grouping Take() {
    grouping_.groups = numbers_.size();
    return std::move(grouping_);
  }

 private:
  Grouping grouping_;
  std::unordered_map<Key, int32_t, KeyHash> numbers_;
};

Grouping ByModuleOfOps(const TimelineView& view) {
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  Numbering numbering(view);
  for (size_t row = view.ops.begin; row < view.ops.end; ++row) {
    if (ops.module[row] != StringId::kNone)
      numbering.Put(ops.slice[row], {.name = ops.module[row]});
  }
  return numbering.Take();
}

}  // namespace

Grouping ByName(const TimelineView& view) {
  Numbering numbering(view);
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    if (view.kind[at] == view.kinds.op) numbering.Put(slice, {.name = view.name[at]});
  }
  return numbering.Take();
}

Grouping ByShape(const TimelineView& view) {
  const auto& ops = view.model.tables.Get<TimelineOpTable>();
  Numbering numbering(view);
  for (size_t row = view.ops.begin; row < view.ops.end; ++row) {
    if (ops.shapes[row] == StringId::kNone && ops.dtypes[row] == StringId::kNone) continue;
    const int32_t slice = ops.slice[row];
    numbering.Put(slice, {view.name[TimelineView::At(slice)], ops.shapes[row], ops.dtypes[row]});
  }
  return numbering.Take();
}

Grouping ByModule(const TimelineView& view) {
  Numbering numbering(view);
  std::unordered_map<StringId, bool> is_module;
  for (int32_t slice = 0; slice < view.slice_count(); ++slice) {
    const size_t at = TimelineView::At(slice);
    const StringId kind = view.kind[at];
    if (kind != view.kinds.python && kind != view.kinds.annotation) continue;
    auto [found, is_new] = is_module.try_emplace(view.name[at], false);
    if (is_new) found->second = view.NameOf(slice).starts_with(kModulePrefix);
    if (found->second) numbering.Put(slice, {.name = view.name[at]});
  }
  Grouping calls = numbering.Take();
  return calls.groups > 0 ? std::move(calls) : ByModuleOfOps(view);
}

std::string_view ModuleOf(const TimelineView& view, int32_t slice) {
  const std::string_view name = view.NameOf(slice);
  if (name.starts_with(kModulePrefix)) return name.substr(kModulePrefix.size());
  const auto row = view.OpRow(slice);
  return row ? view.model.pools.Text(view.model.tables.Get<TimelineOpTable>().module[*row])
             : std::string_view();
}

}  // namespace debrief::analyses::profile_ops
