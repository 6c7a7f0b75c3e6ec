#include "base/pickle/layouts.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace debrief {

namespace {

constexpr size_t kMostLayouts = 1024;  // dumps have some dozens
constexpr size_t kMostTries = 32;      // of one key
constexpr size_t kLongest = 4096;
constexpr size_t kFewestItems = 16;  // smaller dicts are read as fast as they are compared

}  // namespace

uint32_t PickleLayouts::Find(const char* bytes, size_t left, size_t memo_size) {
  if (layouts_.empty()) return kNoLayout;
  uint32_t found = last_ == kNoLayout ? kNoLayout : layouts_[last_].follower;
  if (found == kNoLayout || !layouts_[found].form->Matches(bytes, left, memo_size))
    found = FindByKey(bytes, left, memo_size);
  Follow(found);
  return found;
}

// The one that is found becomes the first of its key.
uint32_t PickleLayouts::FindByKey(const char* bytes, size_t left, size_t memo_size) {
  uint32_t& head = heads_[DictForms::KeyOf(bytes, left)];
  uint32_t before = kNoLayout;
  uint32_t at = head;
  for (size_t tries = 0; at != kNoLayout && tries < kMostTries; ++tries) {
    if (layouts_[at].form->Matches(bytes, left, memo_size)) {
      if (before != kNoLayout) {
        layouts_[before].next = layouts_[at].next;
        layouts_[at].next = head;
        head = at;
      }
      return at;
    }
    before = at;
    at = layouts_[at].next;
  }
  return kNoLayout;
}

void PickleLayouts::Follow(uint32_t layout) {
  if (last_ != kNoLayout && layout != kNoLayout) layouts_[last_].follower = layout;
  last_ = layout;
}

std::span<PickleValue> PickleLayouts::ItemsOf(uint32_t layout, const char* bytes) {
  const Layout& found = layouts_[layout];
  const auto items = std::span(items_).subspan(found.items, found.form->item_count());
  found.form->ReadNumbers(bytes, items);
  return items;
}

uint32_t PickleLayouts::Learn(std::string_view bytes, std::span<const PickleValue> items,
                              uint64_t own, const PickleMemo& memo, size_t put_count) {
  const auto is_container = [](const PickleValue& item) { return item.is_container(); };
  if (layouts_.size() >= kMostLayouts || bytes.size() > kLongest || items.size() < kFewestItems ||
      put_count > memo.size() || std::any_of(items.begin(), items.end(), is_container))
    return kNoLayout;
  const DictForm* form = FormOf(bytes, {memo.size() - put_count, own}, items.size(), put_count);
  if (form == nullptr) return kNoLayout;
  const auto puts = memo.Newest(put_count);
  return puts.size() == put_count ? Add(*form, items, puts) : kNoLayout;
}

const DictForm* PickleLayouts::FormOf(std::string_view bytes, const DictPlace& place,
                                      size_t item_count, size_t put_count) {
  DictForms& known = DictForms::OfThread();
  if (const DictForm* form = known.Find(bytes, place, item_count, put_count)) return form;
  std::optional<DictForm> form = DictForm::Of(bytes, place, item_count, put_count);
  if (!form) return nullptr;
  if (const DictForm* kept = known.Add(*form)) return kept;
  forms_.push_back(std::make_unique<DictForm>(std::move(*form)));
  return forms_.back().get();
}

uint32_t PickleLayouts::Add(const DictForm& form, std::span<const PickleValue> items,
                            std::span<const uint64_t> puts) {
  const auto begin_of = [](const auto& list) { return static_cast<uint32_t>(list.size()); };
  if (heads_.empty()) heads_.assign(DictForms::kHeads, kNoLayout);
  uint32_t& head = heads_[DictForms::KeyOf(form.text().data(), form.length())];
  layouts_.push_back({.form = &form,
                      .items = begin_of(items_),
                      .puts = begin_of(puts_),
                      .put_count = begin_of(puts),
                      .next = head});
  head = begin_of(layouts_) - 1;
  items_.insert(items_.end(), items.begin(), items.end());
  puts_.insert(puts_.end(), puts.begin(), puts.end());
  Follow(head);
  return head;
}

void PickleLayouts::Clear() {
  const auto cleared = cleared_ + static_cast<uint32_t>(layouts_.size());
  *this = PickleLayouts();
  cleared_ = cleared;
}

}  // namespace debrief
