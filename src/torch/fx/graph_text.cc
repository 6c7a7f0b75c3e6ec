// Statement by statement. A `def` makes the placeholders, an assignment makes a node, `return` the
// output; `a = b` renames a placeholder, `a = b = None` behind a semicolon only frees memory, and
// `a += b;  c = a` is one node with the name c. Names are looked up in a hash table that forgets
// everything at the next class. Each expression is cut into tokens once for its inputs and its
// first operator, and once more, when it is a call, to see that the call is all of it.
#include "torch/fx/graph_text.h"

#include <utility>

#include "base/bytes/hash.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "torch/fx/expression.h"

namespace debrief {

namespace {

constexpr size_t kFirstSlots = 256;  // a power of two

using Kind = FxToken::Kind;

std::string_view Unquote(std::string_view text) {
  text.remove_prefix(1);
  if (!text.empty() && (text.back() == '"' || text.back() == '\'')) text.remove_suffix(1);
  return text;
}

std::string_view From(const char* begin, std::string_view text) {
  return {begin, static_cast<size_t>(text.data() + text.size() - begin)};
}

// # File: /x/model.py:27 in forward, code: y = f(x)
bool ReadPlace(std::string_view comment, FxPlace& place) {
  constexpr std::string_view kFile = "# File: ";
  constexpr std::string_view kCode = ", code: ";
  if (!comment.starts_with(kFile)) return false;
  comment.remove_prefix(kFile.size());
  size_t code = comment.find(kCode);
  std::string_view where = comment.substr(0, code);
  if (code != std::string_view::npos) place.code = Trimmed(comment.substr(code + kCode.size()));
  size_t in = where.rfind(" in ");
  if (in != std::string_view::npos) place.function = where.substr(in + 4);
  where = where.substr(0, in);
  size_t colon = where.rfind(':');
  place.file = where.substr(0, colon);
  if (colon == std::string_view::npos) return true;
  place.line = LeadingNumber(where.substr(colon + 1), place.line);
  return true;
}

bool IsDeletion(const FxStatement& statement) {
  return statement.follows_semicolon && statement.text.ends_with("= None");
}

// One parse.
class FxGraphReader {
 public:
  FxGraphReader(FxNames& names, std::vector<uint32_t>& last_user, GraphNodes& graph)
      : names_(names), last_user_(last_user), graph_(graph) {}

  Status Run(std::string_view text) {
    FxStatements statements(text);
    FxStatement statement;
    while (statements.Next(statement)) Take(statement);
    EndInPlace();
    if (graph_.graphs.empty()) return Status(Code::kInvalid, "there is no graph in the text");
    return {};
  }

 private:
  void Take(const FxStatement& statement) {
    if (!statement.follows_semicolon) EndInPlace();
    switch (statement.kind) {
      case FxStatement::Kind::kComment:
        return TakeComment(statement.text);
      case FxStatement::Kind::kClass:
        return TakeClass(statement.text);
      case FxStatement::Kind::kDef:
        return TakeDef(statement.text);
      case FxStatement::Kind::kReturn:
        if (in_def_) TakeReturn(statement.text);
        return;
      case FxStatement::Kind::kCode:
        if (in_def_ && !IsDeletion(statement)) TakeCode(statement);
    }
  }

  void TakeComment(std::string_view text) {
    FxPlace place;
    if (ReadPlace(text, place)) {
      place_ = static_cast<uint32_t>(graph_.places.size());
      graph_.places.push_back(place);
    } else if (text.starts_with("# No stacktrace")) {
      place_ = 0;
    }
  }

  void TakeClass(std::string_view text) {
    text.remove_prefix(std::string_view("class").size());
    class_name_ = Trimmed(text.substr(0, text.find_first_of("(:")));
    in_def_ = false;
  }

  // A graph begins: the names of the one before are not known in it.
  void TakeDef(std::string_view text) {
    graph_.graphs.push_back(class_name_);
    first_node_ = graph_.nodes.size();
    class_name_ = {};
    names_.Clear();
    place_ = 0;
    in_def_ = true;
    size_t open = text.find('(');
    if (open == std::string_view::npos) return;
    TakeParameters(text.substr(open));
  }

  // (self, L_x_: "f32[4]", x : torch.Tensor = None, *args)
  void TakeParameters(std::string_view text) {
    FxTokens tokens(text);
    bool expected = false;
    FxNode* node = nullptr;
    for (FxToken token = tokens.Next(); token.kind != Kind::kEnd; token = tokens.Next()) {
      if (token.kind == Kind::kClose && tokens.depth() == 0) break;
      bool starts = tokens.depth() == 1 && (token.text == "," || token.text == "(");
      if (starts) {
        expected = true;
      } else if (expected && (token.kind == Kind::kName || token.kind == Kind::kWord)) {
        expected = false;
        node = token.text == "self" ? nullptr : &AddPlaceholder(token.text);
      } else if (token.kind == Kind::kString && node != nullptr && node->value.text.empty()) {
        node->value = ReadFxValue(Unquote(token.text));
      }
    }
  }

  FxNode& AddPlaceholder(std::string_view name) {
    FxNode& node = AddNode(name);
    node.op = FxOp::kPlaceholder;
    node.target = name;
    return node;
  }

  FxNode& AddNode(std::string_view name) {
    auto number = static_cast<uint32_t>(graph_.nodes.size());
    FxNode& node = graph_.nodes.emplace_back();
    node.name = name;
    node.first_input = static_cast<uint32_t>(graph_.inputs.size());
    node.graph = static_cast<uint32_t>(graph_.graphs.size()) - 1;
    node.place = place_;
    last_user_.push_back(FxNames::kNoNode);
    if (!name.empty()) names_.Set(name, number);
    return node;
  }

  void TakeReturn(std::string_view text) {
    place_ = 0;
    FxNode& node = AddNode({});
    node.op = FxOp::kOutput;
    node.target = "output";
    node.expression = Trimmed(text.substr(std::string_view("return").size()));
    AddInputs(node);
  }

  void TakeCode(const FxStatement& statement) {
    std::string_view text = statement.text;
    FxTokens tokens(text);
    FxToken name = tokens.Next();
    FxToken next = tokens.Next();
    FxValue value;
    if (name.kind != Kind::kName) return AddUnknown(text);
    if (next.text == ",") return TakeFlattened(text);
    if (next.kind == Kind::kOpen && next.text == "[") return BeginInPlace("operator.setitem", text);
    if (next.text == ":") next = TakeAnnotation(tokens, value);
    if (next.kind == Kind::kEnd) return Declare(name.text, value);
    if (next.text != "=") {
      std::string_view target = FxInPlaceTarget(next.text);
      return target.empty() ? AddUnknown(text) : BeginInPlace(target, text);
    }
    Assign(name.text, value, Trimmed(From(tokens.at(), text)));
  }

  // Behind the colon; returns the token behind the type.
  static FxToken TakeAnnotation(FxTokens& tokens, FxValue& value) {
    FxToken token = tokens.Next();
    if (token.kind == Kind::kString) {
      value = ReadFxValue(Unquote(token.text));
      return tokens.Next();
    }
    while (token.kind != Kind::kEnd && !(token.text == "=" && tokens.depth() == 0))
      token = tokens.Next();
    return token;
  }

  // a, b, = fx_pytree.tree_flatten_spec([primals, tangents], self._in_spec): these are the inputs
  // of the graph, and those of `def` are not.
  void TakeFlattened(std::string_view text) {
    size_t assign = text.find("= fx_pytree.tree_flatten_spec");
    if (assign == std::string_view::npos) return AddUnknown(text);
    std::vector<std::pair<std::string_view, FxValue>> flattened;
    FxTokens tokens(text.substr(0, assign));
    for (FxToken token = tokens.Next(); token.kind != Kind::kEnd; token = tokens.Next()) {
      if (token.kind != Kind::kName) continue;
      uint32_t known = names_.Find(token.text);
      flattened.emplace_back(token.text, known == kNoNode ? FxValue() : graph_.nodes[known].value);
    }
    graph_.nodes.resize(first_node_);
    last_user_.resize(first_node_);
    names_.Clear();
    for (const auto& [name, value] : flattened) AddPlaceholder(name).value = value;
  }

  // primals_1: "f32[4]"
  void Declare(std::string_view name, const FxValue& value) {
    if (value.text.empty()) return AddUnknown(name);
    AddPlaceholder(name).value = value;
  }

  void Assign(std::string_view name, const FxValue& value, std::string_view expression) {
    uint32_t known = names_.Find(expression);
    if (known != kNoNode && !in_place_.empty()) return FinishInPlace(name, value);
    if (known != kNoNode) return Rename(known, name);
    FxNode& node = AddNode({});
    node.value = value;
    node.expression = expression;
    FxScan scan = AddInputs(node);
    NameLast(node, name);
    ClassifyFx(node, scan, graph_.texts,
               [&](std::string_view text) { return names_.Find(text) != kNoNode; });
  }

  // l_x_ = L_x_
  void Rename(uint32_t number, std::string_view name) {
    FxNode& node = graph_.nodes[number];
    if (node.op == FxOp::kPlaceholder) node.name = name;
    names_.Set(name, number);
  }

  // a += b, whose name is in the next statement:  c = a
  void BeginInPlace(std::string_view target, std::string_view text) {
    EndInPlace();
    in_place_ = target;
    in_place_text_ = text;
  }

  void FinishInPlace(std::string_view name, const FxValue& value) {
    FxNode& node = AddNode({});
    node.op = FxOp::kCallFunction;
    node.target = in_place_;
    node.value = value;
    node.expression = in_place_text_;
    in_place_ = {};
    AddInputs(node);
    NameLast(node, name);
  }

  // Once its inputs are known: one of them may have had the same name.
  void NameLast(FxNode& node, std::string_view name) {
    node.name = name;
    names_.Set(name, static_cast<uint32_t>(graph_.nodes.size()) - 1);
  }

  void EndInPlace() {
    if (in_place_.empty()) return;
    in_place_ = {};
    AddUnknown(in_place_text_);
  }

  void AddUnknown(std::string_view text) {
    FxNode& node = AddNode({});
    node.expression = text;
    AddInputs(node);
  }

  FxScan AddInputs(FxNode& node) {
    FxScan scan;
    FxTokens tokens(node.expression);
    const char* closed = nullptr;
    bool first = true;
    FxToken token = tokens.Next();
    for (; token.kind != Kind::kEnd; token = tokens.Next(), first = false) {
      if (token.kind == Kind::kName) AddInput(node, token.text);
      if (tokens.depth() > 0) continue;
      if (token.kind == Kind::kClose && closed == nullptr) closed = tokens.at();
      bool word = token.text == "is" || token.text == "in";
      if (first || !scan.binary.empty() || (token.kind != Kind::kSign && !word)) continue;
      if (token.text != "." && token.text != ",") scan.binary = token.text;
    }
    scan.ends_with_bracket = closed == node.expression.data() + node.expression.size();
    return scan;
  }

  void AddInput(FxNode& node, std::string_view name) {
    uint32_t input = names_.Find(name);
    auto self = static_cast<uint32_t>(graph_.nodes.size()) - 1;
    if (input == kNoNode || input == self) return;
    graph_.inputs.push_back({input, name});
    ++node.input_count;
    if (last_user_[input] == self) return;
    last_user_[input] = self;
    ++graph_.nodes[input].users;
  }

  static constexpr uint32_t kNoNode = FxNames::kNoNode;

  FxNames& names_;
  std::vector<uint32_t>& last_user_;
  GraphNodes& graph_;
  std::string_view class_name_;
  std::string_view in_place_;  // target of an operation that has no name yet
  std::string_view in_place_text_;
  size_t first_node_ = 0;  // of the graph
  uint32_t place_ = 0;
  bool in_def_ = false;
};

}  // namespace

uint32_t FxNames::Find(std::string_view name) const {
  if (slots_.empty()) return kNoNode;
  size_t mask = slots_.size() - 1;
  for (size_t at = HashBytes(name) & mask;; at = (at + 1) & mask) {
    const Slot& slot = slots_[at];
    if (slot.generation != generation_) return kNoNode;
    if (slot.name == name) return slot.node;
  }
}

void FxNames::Set(std::string_view name, uint32_t node) {
  if (used_ * 2 >= slots_.size()) Grow();
  size_t mask = slots_.size() - 1;
  for (size_t at = HashBytes(name) & mask;; at = (at + 1) & mask) {
    Slot& slot = slots_[at];
    if (slot.generation == generation_ && slot.name != name) continue;
    if (slot.generation != generation_) ++used_;
    slot = {name, node, generation_};
    return;
  }
}

void FxNames::Grow() {
  std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
  old.swap(slots_);
  used_ = 0;
  for (const Slot& slot : old)
    if (slot.generation == generation_) Set(slot.name, slot.node);
}

void FxNames::Clear() {
  used_ = 0;
  if (++generation_ != 0) return;
  slots_.clear();  // the number began again: old slots would look new
  generation_ = 1;
}

Status FxGraphParser::Parse(std::string_view text, GraphNodes& graph) {
  graph.Clear();
  names_.Clear();
  last_user_.clear();
  if (text.size() > UINT32_MAX) return Status(Code::kLimit, "a graph of more than 4 GiB");
  return FxGraphReader(names_, last_user_, graph).Run(text);
}

Result<GraphNodes> ParseGraph(std::string_view text) {
  GraphNodes graph;
  FxGraphParser parser;
  TRY(parser.Parse(text, graph));
  return graph;
}

}  // namespace debrief
