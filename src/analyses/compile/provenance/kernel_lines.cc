// On which lines of generated code each kernel is called.
#include <algorithm>

#include "analyses/compile/provenance/line_maps.h"
#include "base/text/scan.h"

namespace debrief::analyses::compile_provenance {

namespace {

constexpr size_t kMostPlaces = size_t{1} << 22;

using Lines = std::vector<std::string_view>;

// Empty lines at the beginning do not count: browsers leave them out.
Lines CodeLines(std::string_view code) {
  Lines lines = SplitLines(code);
  auto first = std::find_if(lines.begin(), lines.end(), [](auto line) { return !line.empty(); });
  lines.erase(lines.begin(), first);
  return lines;
}

template <typename Predicate>
size_t IndexOf(const Lines& lines, Predicate predicate) {
  auto at = std::find_if(lines.begin(), lines.end(), predicate);
  return at == lines.end() ? 0 : static_cast<size_t>(at - lines.begin());
}

// What differs between the two kinds of code.
struct Dialect {
  size_t start = 0;  // first line that is searched
  size_t base = 0;   // line that is number 1
  bool is_cpp = false;
};

class Search {
 public:
  Search(const Lines& lines, const Dialect& dialect) : lines_(lines), dialect_(dialect) {}

  std::optional<KernelLines> Run(const NameMap& kernels) {
    std::vector<Kernel> wanted;
    for (const auto& [name, nodes] : kernels) wanted.push_back(Want(name));
    auto places = finder_.Find(lines_, dialect_.start, kMostPlaces);
    if (!places) return std::nullopt;
    places_ = std::move(*places);
    callers_.resize(places_.size());
    size_t total = 0;
    KernelLines found;
    for (const Kernel& kernel : wanted) {
      std::vector<int32_t> numbers = Locate(kernel);
      total += numbers.size();
      if (total > kMostPlaces) return std::nullopt;
      if (!numbers.empty()) found.emplace(kernel.name, std::move(numbers));
    }
    return found;
  }

 private:
  struct Kernel {
    std::string_view name;
    int32_t whole = -1;  // with a handle: the name with it; numbers of the finder
    int32_t pure = -1;   // without
  };

  Kernel Want(std::string_view name) {
    size_t colon = dialect_.is_cpp ? name.rfind(':') : name.find(':');
    Kernel kernel = {.name = name};
    if (colon != std::string_view::npos) kernel.whole = finder_.Add(name);
    kernel.pure = finder_.Add(name.substr(0, colon));
    return kernel;
  }

  std::vector<int32_t> Locate(const Kernel& kernel) {
    if (kernel.whole >= 0) {
      if (auto line = BehindHandle(kernel)) return Numbers({&*line, 1});
    }
    return Numbers(places_[static_cast<size_t>(kernel.pure)]);
  }

  // The call that follows the line with the handle. In Python the first such line decides, in C++
  // the first that is no definition and has a call behind it.
  std::optional<int32_t> BehindHandle(const Kernel& kernel) {
    const auto& calls = Callers(kernel.pure);
    for (int32_t line : places_[static_cast<size_t>(kernel.whole)]) {
      if (dialect_.is_cpp && IsDefinition(lines_[static_cast<size_t>(line)])) continue;
      auto next = std::upper_bound(calls.begin(), calls.end(), line);
      if (next != calls.end()) return *next;
      if (!dialect_.is_cpp) break;
    }
    return std::nullopt;
  }

  // Lines that contain the name and may be its call.
  const std::vector<int32_t>& Callers(int32_t name) {
    const auto& all = places_[static_cast<size_t>(name)];
    if (!dialect_.is_cpp) return all;
    auto& callers = callers_[static_cast<size_t>(name)];
    if (callers) return *callers;
    callers.emplace();
    for (int32_t line : all) {
      if (!DeclaresElements(lines_[static_cast<size_t>(line)])) callers->push_back(line);
    }
    return *callers;
  }

  static bool IsDefinition(std::string_view line) {
    while (!line.empty() && IsBlank(line[0])) line.remove_prefix(1);
    return line.empty() || line.starts_with("def") || line.starts_with("static inline void");
  }

  std::vector<int32_t> Numbers(std::span<const int32_t> positions) const {
    std::vector<int32_t> numbers;
    for (int32_t position : positions) {
      int32_t number = position + 1 - static_cast<int32_t>(dialect_.base);
      if (number >= 0) numbers.push_back(number);
    }
    return numbers;
  }

  const Lines& lines_;
  Dialect dialect_;
  NameFinder finder_;
  std::vector<std::vector<int32_t>> places_;                  // by name: positions in lines_
  std::vector<std::optional<std::vector<int32_t>>> callers_;  // likewise, of C++, made when needed
};

}  // namespace

int32_t NameFinder::Add(std::string_view name) {
  int32_t at = 0;
  for (char byte : name) {
    int32_t child = ChildOf(at, byte);
    if (child == 0) {
      child = static_cast<int32_t>(nodes_.size());
      nodes_.push_back({.sibling = nodes_[static_cast<size_t>(at)].child, .byte = byte});
      nodes_[static_cast<size_t>(at)].child = child;
    }
    at = child;
  }
  int32_t& number = nodes_[static_cast<size_t>(at)].name;
  if (number < 0) {
    number = static_cast<int32_t>(names_++);
  }
  return number;
}

int32_t NameFinder::ChildOf(int32_t node, char byte) const {
  int32_t child = nodes_[static_cast<size_t>(node)].child;
  while (child != 0 && nodes_[static_cast<size_t>(child)].byte != byte)
    child = nodes_[static_cast<size_t>(child)].sibling;
  return child;
}

int32_t NameFinder::Step(int32_t node, char byte) const {
  while (true) {
    int32_t child = ChildOf(node, byte);
    if (child != 0 || node == 0) return child;
    node = nodes_[static_cast<size_t>(node)].link;
  }
}

// Breadth first, so that links, which lead to shorter texts, are there when they are needed.
void NameFinder::MakeLinks() {
  std::vector<int32_t> queue = {0};
  for (size_t i = 0; i < queue.size(); ++i) {
    int32_t parent = queue[i];
    int32_t child = nodes_[static_cast<size_t>(parent)].child;
    for (; child != 0; child = nodes_[static_cast<size_t>(child)].sibling) {
      Node& node = nodes_[static_cast<size_t>(child)];
      node.link = parent == 0 ? 0 : Step(nodes_[static_cast<size_t>(parent)].link, node.byte);
      node.found = node.name >= 0 ? child : nodes_[static_cast<size_t>(node.link)].found;
      queue.push_back(child);
    }
  }
  linked_ = true;
}

std::optional<std::vector<std::vector<int32_t>>> NameFinder::Find(
    std::span<const std::string_view> lines, size_t first, size_t most) {
  if (!linked_) MakeLinks();
  std::vector<std::vector<int32_t>> places(names_);
  size_t visits = 0;
  auto add = [&](int32_t name, int32_t line) {
    auto& of_name = places[static_cast<size_t>(name)];
    if (!of_name.empty() && of_name.back() == line) return;
    of_name.push_back(line);
  };
  for (size_t i = first; i < lines.size(); ++i) {
    auto line = static_cast<int32_t>(i);
    if (nodes_[0].name >= 0) add(nodes_[0].name, line);
    if (++visits > most) return std::nullopt;
    int32_t node = 0;
    for (char byte : lines[i]) {
      node = Step(node, byte);
      int32_t found = nodes_[static_cast<size_t>(node)].found;
      while (found != 0) {
        if (++visits > most) return std::nullopt;
        add(nodes_[static_cast<size_t>(found)].name, line);
        found = nodes_[static_cast<size_t>(nodes_[static_cast<size_t>(found)].link)].found;
      }
    }
  }
  return places;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t left = text.size();
    std::string_view line = TakeLine(text);
    if (line.size() < left) TakeSuffix(line, "\r");
    lines.push_back(line);
  }
  return lines;
}

bool DeclaresElements(std::string_view line) {
  if (Contains(line, "_xnumel = ")) return true;
  size_t at = 0;
  while (at < line.size() && IsBlank(line[at])) ++at;
  size_t type = at;
  while (at < line.size() && IsWord(line[at])) ++at;
  if (at == type || at >= line.size() || !IsBlank(line[at])) return false;
  constexpr std::string_view kElements = "_xnumel";
  for (at = line.find(kElements, at + 1); at != std::string_view::npos;
       at = line.find(kElements, at)) {
    at += kElements.size();
    size_t end = at;
    if (end + 1 < line.size() && line[end] == '_' && IsDigit(line[end + 1])) {
      ++end;
      while (end < line.size() && IsDigit(line[end])) ++end;
    }
    while (end < line.size() && IsBlank(line[end])) ++end;
    if (end < line.size() && line[end] == '=') return true;
  }
  return false;
}

std::optional<KernelLines> FindInPython(std::string_view code, const NameMap& kernels) {
  if (kernels.empty() || code.empty()) return KernelLines();
  Lines lines = CodeLines(code);
  Dialect dialect;
  dialect.start = IndexOf(lines, [](std::string_view line) {
    return Contains(line, "def") && Contains(line, "call") && Contains(line, "(args)");
  });
  dialect.base = IndexOf(lines, [](std::string_view line) { return Contains(line, "# AOT ID:"); });
  return Search(lines, dialect).Run(kernels);
}

std::optional<KernelLines> FindInCpp(std::string_view code, const NameMap& kernels) {
  if (kernels.empty() || code.empty()) return KernelLines();
  Lines lines = CodeLines(code);
  Dialect dialect = {.is_cpp = true};
  dialect.start =
      IndexOf(lines, [](std::string_view line) { return Contains(line, "::run_impl("); });
  return Search(lines, dialect).Run(kernels);
}

}  // namespace debrief::analyses::compile_provenance
