#include "inputs/torch_trace/untangle/model.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/bytes/md5.h"

namespace debrief::inputs::torch_trace {

namespace {

constexpr size_t kMostKeys = size_t{1} << 21;
constexpr size_t kProbe = 8;
constexpr int32_t kLongestRun = 256;

// Costs of a line: after these two lines exactly, after two lines of this shape, after one of this
// shape, never seen. Chosen on recorded logs; they matter by their order more than by their size.
constexpr int32_t kExact = 0;
constexpr int32_t kShape = 1 * kBit;
constexpr int32_t kShapeBefore = 3 * kBit;
constexpr int32_t kNovel = 6 * kBit;
constexpr int32_t kElse = 3 * kBit;  // added where something else was seen instead
constexpr int32_t kNewKind = 14 * kBit;
constexpr int32_t kForeign = 4 * kBit;

// 16 * log2(value), by linear interpolation between powers of two.
int32_t Log2(uint32_t value) {
  auto whole = static_cast<int32_t>(std::bit_width(value)) - 1;
  uint32_t fraction = ((value << (31 - whole)) >> 27) & 15;
  return whole * kBit + static_cast<int32_t>(fraction);
}

uint64_t Key(uint64_t kind, uint64_t a, uint64_t b) { return Mix(Mix(kind, a), b); }

}  // namespace

int32_t CostOf(uint32_t count, uint32_t total) {
  return std::max(0, Log2(std::max(count, total)) - Log2(count));
}

CountTable::CountTable(size_t keys) : slots_(std::bit_ceil(std::min(keys, kMostKeys)) + kProbe) {}

uint32_t CountTable::Get(uint64_t key) const {
  size_t at = key & (slots_.size() - kProbe - 1);
  for (size_t i = at; i < at + kProbe && slots_[i].count != 0; ++i) {
    if (slots_[i].key == key) return slots_[i].count;
  }
  return 0;
}

void CountTable::Add(uint64_t key) {
  size_t at = key & (slots_.size() - kProbe - 1);
  for (size_t i = at; i < at + kProbe; ++i) {
    if (slots_[i].count != 0 && slots_[i].key != key) continue;
    slots_[i].key = key;
    if (slots_[i].count < (uint32_t{1} << 30)) ++slots_[i].count;
    return;
  }
}

Model::Model(size_t items, int32_t lanes)
    : follows_(8 * items + 64),
      tags_(std::bit_ceil(std::min(items + 64, kMostKeys))),
      lanes_(lanes),
      turns_(static_cast<size_t>(std::min(lanes, 1000)) * 600 + 64) {}

void Model::Learn(std::span<const Line* const> payload, int32_t lane) {
  Context context;
  for (const Line* line : payload) {
    uint64_t exact = Key(1, context.text_before, context.text);
    uint64_t shapes = Key(2, context.shape_before, context.shape);
    uint64_t shape = Key(3, context.shape, 0);
    follows_.Add(exact);
    follows_.Add(Mix(exact, line->text));
    follows_.Add(shapes);
    follows_.Add(Mix(shapes, line->shape));
    follows_.Add(shape);
    follows_.Add(Mix(shape, line->shape));
    context = After(context, *line);
    for (size_t i = 0; i < line->tag_count; ++i) {
      auto [word, form] = line->tags[i];
      Tag& tag = tags_[word & (tags_.size() - 1)];
      if (tag.lane == -1) tag = {word, lane};
      if (tag.word == word && tag.lane != lane) tag.lane = -2;
      follows_.Add(Key(6, form, static_cast<uint64_t>(lane)));
    }
  }
}

int32_t Model::FollowCost(const Context& context, const Line& line) const {
  uint64_t exact = Key(1, context.text_before, context.text);
  if (uint32_t count = follows_.Get(Mix(exact, line.text)); count != 0) {
    return kExact + CostOf(count, follows_.Get(exact));
  }
  uint64_t shapes = Key(2, context.shape_before, context.shape);
  uint32_t shapes_total = follows_.Get(shapes);
  if (uint32_t count = follows_.Get(Mix(shapes, line.shape)); count != 0) {
    return kShape + CostOf(count, shapes_total);
  }
  uint64_t shape = Key(3, context.shape, 0);
  uint32_t shape_total = follows_.Get(shape);
  if (uint32_t count = follows_.Get(Mix(shape, line.shape)); count != 0) {
    return kShapeBefore + CostOf(count, shape_total);
  }
  // Payloads are of a few kinds, so a new first line is rare.
  if (context.shape == 0) return kNovel + (shape_total > 4 ? kNewKind : 0);
  return kNovel + (shapes_total != 0 ? kElse : 0) + (shape_total != 0 ? kElse : 0);
}

int32_t Model::LaneCost(const Line& line, int32_t lane) const {
  for (size_t i = 0; i < line.tag_count; ++i) {
    auto [word, form] = line.tags[i];
    const Tag& tag = tags_[word & (tags_.size() - 1)];
    if (tag.word != word || tag.lane < 0 || tag.lane == lane) continue;
    if (follows_.Get(Key(6, form, static_cast<uint64_t>(lane))) != 0) return kForeign;
  }
  return 0;
}

void Model::LearnTurn(int32_t from, int32_t run, int32_t to) {
  uint64_t stay = Key(4, static_cast<uint64_t>(std::min(run, kLongestRun)), 0);
  turns_.Add(stay);
  if (from == to) {
    turns_.Add(Mix(stay, 1));
    return;
  }
  uint64_t next = Key(5, static_cast<uint64_t>(from), 0);
  turns_.Add(next);
  turns_.Add(Mix(next, static_cast<uint64_t>(to)));
}

int32_t Model::TurnCost(int32_t from, int32_t run, int32_t to) const {
  if (from < 0 || lanes_ < 2) return 0;
  uint64_t stay = Key(4, static_cast<uint64_t>(std::min(run, kLongestRun)), 0);
  uint32_t total = turns_.Get(stay) + 2;
  uint32_t stayed = turns_.Get(Mix(stay, 1)) + 1;
  if (from == to) return CostOf(stayed, total);
  uint64_t next = Key(5, static_cast<uint64_t>(from), 0);
  uint32_t count = turns_.Get(Mix(next, static_cast<uint64_t>(to))) + 1;
  uint32_t next_total = turns_.Get(next) + static_cast<uint32_t>(lanes_ - 1);
  return CostOf(total - stayed, total) + CostOf(count, next_total);
}

Knowledge::Knowledge(std::span<const TangledItem> tangled, const std::vector<int32_t>& item_lanes,
                     int32_t lanes_in_all)
    : items(tangled),
      lanes(item_lanes),
      lane_count(lanes_in_all),
      lines(tangled.size()),
      ends(tangled.size()),
      lines_to(tangled.size() + 1),
      model(tangled.size(), lanes_in_all) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (lanes[i] < 0) lines[i] = DescribeLine(items[i].text);
    lines_to[i + 1] = lines_to[i] + (lanes[i] < 0 ? 1 : 0);
  }
  std::vector<uint32_t> next(static_cast<size_t>(lane_count), static_cast<uint32_t>(items.size()));
  for (size_t i = items.size(); i-- > 0;) {
    if (lanes[i] < 0) continue;
    ends[i] = next[static_cast<size_t>(lanes[i])];
    next[static_cast<size_t>(lanes[i])] = static_cast<uint32_t>(i);
  }
}

void Knowledge::Prove(const Digest& digest, std::vector<uint32_t> payload, int32_t lane) {
  std::vector<const Line*> content;
  for (uint32_t item : payload) content.push_back(&lines[item]);
  model.Learn(content, lane);
  proved_lines += static_cast<int64_t>(payload.size());
  payloads.emplace(digest, std::move(payload));
}

int64_t Knowledge::WorkLeft(const UntangleLimits& limits) const {
  int64_t earned = limits.work_per_item * static_cast<int64_t>(items.size()) +
                   limits.work_per_proved_line * (proved_lines - proved_before_search);
  return limits.least_work - std::max<int64_t>(0, work - earned);
}

Digest Knowledge::Checksum(std::span<const uint32_t> payload) const {
  Md5 md5;
  for (size_t i = 0; i < payload.size(); ++i) {
    if (i > 0) md5.Update("\n");
    md5.Update(items[payload[i]].text);
  }
  return md5.Final();
}

}  // namespace debrief::inputs::torch_trace
