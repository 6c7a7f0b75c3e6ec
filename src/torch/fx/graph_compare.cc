#include "torch/fx/graph_compare.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <unordered_map>

#include "base/bytes/hash.h"
#include "base/bytes/md5.h"
#include "base/text/strings.h"
#include "torch/fx/expression.h"

namespace debrief {

namespace {

using Kind = FxToken::Kind;

std::string_view InQuotes(std::string_view text) {
  return text.size() < 2 ? std::string_view() : text.substr(1, text.size() - 2);
}

class Normalizer {
 public:
  Normalizer(const GraphNodes& graph, std::string& text, bool numbered)
      : graph_(graph), text_(text), numbered_(numbered) {}

  void Add(const FxNode& node) {
    text_ += static_cast<char>('0' + static_cast<int>(node.op));
    if (numbered_ && node.graph != 0) AddNumber(node.graph);
    if (node.op != FxOp::kPlaceholder) text_ += node.target;
    AddValue(node.value);
    if (node.op != FxOp::kGetAttr) AddExpression(node);
    text_ += '\n';
  }

 private:
  void AddNumber(size_t number) {
    std::array<char, 24> digits;
    char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    text_.append(digits.data(), static_cast<size_t>(end - digits.data()));
  }

  void AddValue(const FxValue& value) {
    text_ += '|';
    text_ += value.dtype;
    text_ += '[';
    AddSizes(value.sizes);
    text_ += '[';
    AddSizes(value.strides);
    text_ += ']';
    text_ += WithoutDeviceIndex(value.device);
    text_ += '|';
  }

  void AddSizes(std::string_view sizes) {
    const char* from = sizes.data();
    ForEachFxSymbol(sizes, [&](std::string_view symbol) {
      text_.append(from, static_cast<size_t>(symbol.data() - from));
      text_ += '$';
      if (numbered_) AddNumber(symbols_.try_emplace(symbol, symbols_.size()).first->second);
      from = symbol.data() + symbol.size();
    });
    text_.append(from, static_cast<size_t>(sizes.data() + sizes.size() - from));
  }

  void AddExpression(const FxNode& node) {
    std::span<const FxInput> inputs = graph_.InputsOf(node);
    collective_ = node.target.find("c10d") != std::string_view::npos;
    std::array<std::string_view, 2> before;
    FxTokens tokens(node.expression);
    for (FxToken token = tokens.Next(); token.kind != Kind::kEnd; token = tokens.Next()) {
      if (!inputs.empty() && token.text.data() == inputs[0].name.data()) {
        text_ += '%';
        if (numbered_) AddNumber(inputs[0].node);
        inputs = inputs.subspan(1);
      } else {
        AddLiteral(token, before);
      }
      text_ += ' ';
      before = {before[1], token.text};
    }
  }

  void AddLiteral(const FxToken& token, const std::array<std::string_view, 2>& before) {
    if (token.kind == Kind::kNumber && IsVolatile(token.text, before)) return;
    if (token.kind != Kind::kString) return static_cast<void>(text_ += token.text);
    std::string_view inside = InQuotes(token.text);
    text_ += '\'';
    if (collective_ && IsAllDigits(inside)) {
      if (numbered_) AddNumber(groups_.try_emplace(inside, groups_.size()).first->second);
    } else {
      text_ += WithoutDeviceIndex(inside);
    }
  }

  // device(type='cuda', index=0), kernel_idx = 3, <object at 0x7f...>
  static bool IsVolatile(std::string_view number, const std::array<std::string_view, 2>& before) {
    if (number.starts_with("0x")) return true;
    if (before[1] != "=") return false;
    if (before[0] == "kernel_idx" || before[0] == "constant_args_idx") return true;
    return before[0] == "index" && before[1].data() + 1 == number.data() &&
           before[0].data() + before[0].size() == before[1].data();
  }

  const GraphNodes& graph_;
  std::string& text_;
  bool numbered_;
  bool collective_ = false;
  std::unordered_map<std::string_view, size_t> symbols_;
  std::unordered_map<std::string_view, size_t> groups_;
};

constexpr uint32_t kNone = FxNodeChange::kNone;

// Inputs that Dynamo names after what they are correspond by name.
bool IsNamedInput(const FxNode& node) {
  return node.op == FxOp::kPlaceholder &&
         (node.target.starts_with("L_") || node.target.starts_with("G_"));
}

std::vector<uint64_t> ShapesOf(const GraphNodes& graph) {
  std::vector<uint64_t> shapes;
  shapes.reserve(graph.nodes.size());
  std::string text;
  for (const FxNode& node : graph.nodes) {
    text.assign(node.graph == 0 ? "" : "inner ");
    AppendNodeShape(graph, node, text);
    if (IsNamedInput(node)) text += node.target;
    shapes.push_back(HashBytes(text));
  }
  return shapes;
}

uint64_t OperationOf(const FxNode& node) {
  return HashBytes(node.target) * 31 + static_cast<uint64_t>(node.op) * 2 + (node.graph != 0);
}

struct Pair {
  uint32_t before;
  uint32_t now;
};

// The longest run of `pairs`, which are ordered by `before`, in which `now` increases, too.
std::vector<Pair> LongestIncreasing(const std::vector<Pair>& pairs) {
  std::vector<uint32_t> ends;  // ends[k]: the pair that ends the best run of k + 1 pairs
  std::vector<uint32_t> link(pairs.size(), kNone);
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    auto at = std::lower_bound(ends.begin(), ends.end(), pairs[i].now,
                               [&](uint32_t end, uint32_t now) { return pairs[end].now < now; });
    if (at != ends.begin()) link[i] = at[-1];
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<Pair> run;
  for (uint32_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = link[i])
    run.push_back(pairs[i]);
  std::reverse(run.begin(), run.end());
  return run;
}

class Matcher {
 public:
  Matcher(const GraphNodes& before, const GraphNodes& now)
      : before_(before),
        now_(now),
        before_shapes_(ShapesOf(before)),
        now_shapes_(ShapesOf(now)),
        now_of_(before.nodes.size(), kNone),
        before_of_(now.nodes.size(), kNone) {}

  GraphDiff Run() {
    auto before_end = static_cast<uint32_t>(before_.nodes.size());
    auto now_end = static_cast<uint32_t>(now_.nodes.size());
    Pair begin{0, 0};
    Pair end{before_end, now_end};
    MatchEnds(begin, end);
    for (const Pair& anchor : Anchors(begin, end)) {
      FillGap(begin, anchor);
      Match(anchor.before, anchor.now);
      begin = {anchor.before + 1, anchor.now + 1};
    }
    FillGap(begin, end);
    MatchByOperation();
    return Collect();
  }

 private:
  void Match(uint32_t before, uint32_t now) {
    now_of_[before] = now;
    before_of_[now] = before;
  }

  bool Same(uint32_t before, uint32_t now) const {
    return before_shapes_[before] == now_shapes_[now];
  }

  // Equal nodes at both ends of a gap, which becomes what is between them.
  void MatchEnds(Pair& begin, Pair& end) {
    for (; begin.before < end.before && begin.now < end.now && Same(begin.before, begin.now);
         ++begin.before, ++begin.now)
      Match(begin.before, begin.now);
    for (; begin.before < end.before && begin.now < end.now && Same(end.before - 1, end.now - 1);
         --end.before, --end.now)
      Match(end.before - 1, end.now - 1);
  }

  // Nodes that are in the gap once in both graphs.
  std::vector<Pair> Anchors(const Pair& begin, const Pair& end) const {
    struct Places {
      uint32_t before_count = 0;
      uint32_t now_count = 0;
      uint32_t now = 0;
    };
    std::unordered_map<uint64_t, Places> places;
    for (uint32_t i = begin.before; i < end.before; ++i) ++places[before_shapes_[i]].before_count;
    for (uint32_t i = begin.now; i < end.now; ++i) {
      Places& place = places[now_shapes_[i]];
      ++place.now_count;
      place.now = i;
    }
    std::vector<Pair> once;
    for (uint32_t i = begin.before; i < end.before; ++i) {
      const Places& place = places[before_shapes_[i]];
      if (place.before_count == 1 && place.now_count == 1) once.push_back({i, place.now});
    }
    return LongestIncreasing(once);
  }

  // What is equal in a gap, in order.
  void FillGap(Pair begin, Pair end) {
    MatchEnds(begin, end);
    if (begin.before == end.before || begin.now == end.now) return;
    std::unordered_map<uint64_t, std::vector<uint32_t>> waiting;  // last first
    for (uint32_t i = end.now; i-- > begin.now;) waiting[now_shapes_[i]].push_back(i);
    uint32_t from = begin.now;
    for (uint32_t i = begin.before; i < end.before; ++i) {
      auto found = waiting.find(before_shapes_[i]);
      if (found == waiting.end()) continue;
      std::vector<uint32_t>& nodes = found->second;
      while (!nodes.empty() && nodes.back() < from) nodes.pop_back();
      if (nodes.empty()) continue;
      Match(i, nodes.back());
      from = nodes.back() + 1;
    }
  }

  void MatchByOperation() {
    std::unordered_map<uint64_t, std::vector<uint32_t>> waiting;
    for (auto i = static_cast<uint32_t>(now_.nodes.size()); i-- > 0;)
      if (before_of_[i] == kNone) waiting[OperationOf(now_.nodes[i])].push_back(i);
    for (uint32_t i = 0; i < before_.nodes.size(); ++i) {
      if (now_of_[i] != kNone) continue;
      auto found = waiting.find(OperationOf(before_.nodes[i]));
      if (found == waiting.end() || found->second.empty()) continue;
      Match(i, found->second.back());
      found->second.pop_back();
    }
  }

  bool IsRewired(uint32_t before, uint32_t now) const {
    auto old_inputs = before_.InputsOf(before_.nodes[before]);
    auto new_inputs = now_.InputsOf(now_.nodes[now]);
    return !std::equal(old_inputs.begin(), old_inputs.end(), new_inputs.begin(), new_inputs.end(),
                       [&](const FxInput& old_input, const FxInput& new_input) {
                         return now_of_[old_input.node] == new_input.node;
                       });
  }

  GraphDiff Collect() {
    GraphDiff diff;
    uint32_t next = 0;  // the nodes of the first graph before this one are done
    auto add_removed = [&](uint32_t end) {
      for (; next < end; ++next)
        if (now_of_[next] == kNone)
          diff.changes.push_back({FxNodeChange::What::kRemoved, next, kNone});
    };
    for (uint32_t now = 0; now < now_.nodes.size(); ++now) {
      uint32_t before = before_of_[now];
      if (before == kNone) {
        diff.changes.push_back({FxNodeChange::What::kAdded, kNone, now});
        continue;
      }
      add_removed(before);
      if (!Same(before, now)) {
        diff.changes.push_back({FxNodeChange::What::kChanged, before, now});
      } else if (IsRewired(before, now)) {
        diff.changes.push_back({FxNodeChange::What::kRewired, before, now});
      } else {
        ++diff.same;
      }
    }
    add_removed(static_cast<uint32_t>(before_.nodes.size()));
    diff.now_of = std::move(now_of_);
    return diff;
  }

  const GraphNodes& before_;
  const GraphNodes& now_;
  std::vector<uint64_t> before_shapes_;
  std::vector<uint64_t> now_shapes_;
  std::vector<uint32_t> now_of_;
  std::vector<uint32_t> before_of_;
};

}  // namespace

std::string GraphHash(const GraphNodes& graph) {
  std::string text;
  Normalizer normalizer(graph, text, true);
  for (const FxNode& node : graph.nodes) normalizer.Add(node);
  return Md5Hex(text);
}

void AppendNodeShape(const GraphNodes& graph, const FxNode& node, std::string& text) {
  Normalizer(graph, text, false).Add(node);
}

GraphDiff DiffGraphs(const GraphNodes& before, const GraphNodes& now) {
  return Matcher(before, now).Run();
}

}  // namespace debrief
