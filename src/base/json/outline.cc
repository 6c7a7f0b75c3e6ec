// The scanner keeps a stack of at most kMaxDepth containers; what lies deeper is skipped by
// counting brackets, so nesting costs neither stack nor memory. Paths form a tree of nodes, and a
// small hash table leads from (node, key) to the child: the thousandth event with the same keys
// builds no string.
#include "base/json/outline.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/bytes/hash.h"
#include "base/text/strings.h"

namespace debrief {

namespace {

constexpr size_t kMaxKeyBytes = 256;  // longer keys are not recorded: paths repeat them
constexpr size_t kSlots = 4096;       // a power of two, several times the number of nodes
constexpr uint16_t kNoNode = 0xFFFF;  // "not recorded", of a value or of all below it
constexpr uint16_t kNoEntry = 0xFFFF;

bool IsScalarByte(char c) { return IsAlphanumeric(c) || c == '-' || c == '+' || c == '.'; }

bool IsScalar(std::string_view token) {
  static constexpr std::array<std::string_view, 5> kWords = {"true", "false", "null", "NaN",
                                                             "Infinity"};
  if (token.starts_with('-')) token.remove_prefix(1);
  if (token.empty()) return false;
  if (token[0] >= '0' && token[0] <= '9') return true;
  return std::find(kWords.begin(), kWords.end(), token) != kWords.end();
}

}  // namespace

class JsonOutlineScanner {
 public:
  JsonOutlineScanner(std::string_view text, JsonOutline& outline)
      : at_(text.data()), end_(text.data() + text.size()), outline_(outline) {
    nodes_.push_back({kNoNode, kNoEntry, {}});  // the document
  }

  void Scan() {
    if (!Value(0)) return;
    while (depth_ > 0 && Member()) {
    }
  }

 private:
  struct Node {
    uint16_t parent;
    uint16_t entry;  // kNoEntry: the document, or an array's elements before a scalar among them
    std::string_view key;
  };
  struct Container {
    uint16_t node;
    bool is_array;
  };

  void SkipSpace() {
    while (at_ < end_ && IsSpace(*at_)) ++at_;
  }

  bool Take(char c) {
    SkipSpace();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  // Moves behind the string that begins here. False when the text ends inside of it.
  bool TakeString(std::string_view& contents) {
    const char* begin = at_ + 1;
    for (at_ = begin; at_ < end_; ++at_) {
      const void* quote = std::memchr(at_, '"', static_cast<size_t>(end_ - at_));
      if (quote == nullptr) break;
      at_ = static_cast<const char*>(quote);
      const char* slash = at_;
      while (slash > begin && slash[-1] == '\\') --slash;
      if ((at_ - slash) % 2 != 0) continue;  // the quote is escaped
      contents = {begin, static_cast<size_t>(at_ - begin)};
      ++at_;
      return true;
    }
    at_ = end_;
    return false;
  }

  // One key and value, one element, or the end of the innermost container. False ends the scan.
  bool Member() {
    Container top = stack_[static_cast<size_t>(depth_ - 1)];
    if (Take(top.is_array ? ']' : '}')) {
      --depth_;
      return EndValue();
    }
    if (top.is_array) return Value(Child(top.node, {}));
    std::string_view key;
    if (at_ == end_ || *at_ != '"' || !TakeString(key) || !Take(':')) return false;
    uint16_t node = Child(top.node, key);
    if (node != kNoNode) Record(node);
    return Value(node);
  }

  bool Value(uint16_t node) {
    SkipSpace();
    if (at_ == end_) return false;
    if (*at_ == '{' || *at_ == '[') return Open(node);
    std::string_view scalar;
    if (*at_ == '"') {
      if (!TakeString(scalar)) return false;
    } else if (!TakeScalar(scalar)) {
      return false;
    }
    if (node != kNoNode) RecordScalar(node, scalar);
    return EndValue();
  }

  bool TakeScalar(std::string_view& scalar) {
    const char* begin = at_;
    while (at_ < end_ && IsScalarByte(*at_)) ++at_;
    scalar = {begin, static_cast<size_t>(at_ - begin)};
    return at_ < end_ && IsScalar(scalar);  // one that touches the end may be cut
  }

  bool Open(uint16_t node) {
    if (depth_ == JsonOutline::kMaxDepth) return SkipContainer() && EndValue();
    stack_[static_cast<size_t>(depth_++)] = {node, *at_++ == '['};
    return true;
  }

  bool SkipContainer() {
    std::string_view ignored;
    for (size_t open = 0; at_ < end_;) {
      char c = *at_;
      if (c == '"') {
        if (!TakeString(ignored)) return false;
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++open;
      if ((c == '}' || c == ']') && --open == 0) return true;
    }
    return false;
  }

  // Behind a value: a comma, or the end of the container, which Member() takes.
  bool EndValue() {
    if (depth_ == 0 || Take(',')) return true;
    return at_ < end_ && (*at_ == '}' || *at_ == ']');
  }

  // The child of `parent` called `key`, or its elements when `key` has no data.
  uint16_t Child(uint16_t parent, std::string_view key) {
    if (parent == kNoNode || key.size() > kMaxKeyBytes) return kNoNode;
    bool is_element = key.data() == nullptr;
    uint64_t hash = HashBytes(key) + parent * 0x9e3779b97f4a7c15 + (is_element ? 1 : 0);
    for (size_t slot = (hash >> 20) % kSlots;; slot = (slot + 1) % kSlots) {
      uint16_t id = slots_[slot];
      if (id == 0) {
        if (nodes_.size() > 2 * JsonOutline::kMaxPaths) return kNoNode;
        slots_[slot] = static_cast<uint16_t>(nodes_.size());
        nodes_.push_back({parent, kNoEntry, key});
        return slots_[slot];
      }
      const Node& node = nodes_[id];
      if (node.parent == parent && node.key == key && (node.key.data() == nullptr) == is_element) {
        return id;
      }
    }
  }

  JsonOutline::Entry* Record(uint16_t id) {
    std::vector<JsonOutline::Entry>& entries = outline_.entries_;
    Node& node = nodes_[id];
    if (node.entry == kNoEntry) {
      if (entries.size() == JsonOutline::kMaxPaths) return nullptr;
      node.entry = static_cast<uint16_t>(entries.size());
      entries.push_back({PathOf(id), {}, false});
    }
    return &entries[node.entry];
  }

  void RecordScalar(uint16_t id, std::string_view scalar) {
    JsonOutline::Entry* entry = Record(id);
    if (entry == nullptr || entry->has_scalar) return;
    entry->scalar = scalar;
    entry->has_scalar = true;
  }

  std::string PathOf(uint16_t id) const {
    std::array<uint16_t, JsonOutline::kMaxDepth + 1> chain;
    size_t length = 0;
    for (; id != 0; id = nodes_[id].parent) chain[length++] = id;
    std::string path;
    while (length > 0) {
      std::string_view key = nodes_[chain[--length]].key;
      if (key.data() == nullptr) {
        path += "[]";
      } else {
        if (!path.empty()) path += '.';
        path += key;
      }
    }
    return path;
  }

  const char* at_;
  const char* end_;
  JsonOutline& outline_;
  int depth_ = 0;
  std::array<Container, JsonOutline::kMaxDepth> stack_;
  std::vector<Node> nodes_;
  std::vector<uint16_t> slots_ = std::vector<uint16_t>(kSlots);  // 0 is free, else a node
};

std::optional<JsonOutline> JsonOutline::Of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  while (!text.empty() && IsSpace(text[0])) text.remove_prefix(1);
  if (text.empty() || (text[0] != '{' && text[0] != '[')) return std::nullopt;
  JsonOutline outline;
  outline.is_array_ = text[0] == '[';
  JsonOutlineScanner(text, outline).Scan();
  return outline;
}

bool JsonOutline::Has(std::string_view path) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const Entry& entry) { return entry.path == path; });
}

std::optional<std::string_view> JsonOutline::Scalar(std::string_view path) const {
  for (const Entry& entry : entries_) {
    if (entry.path == path && entry.has_scalar) return entry.scalar;
  }
  return std::nullopt;
}

std::optional<int64_t> JsonOutline::Integer(std::string_view path) const {
  const std::optional<std::string_view> scalar = Scalar(path);
  return scalar ? ParseNumber<int64_t>(*scalar) : std::nullopt;
}

}  // namespace debrief
