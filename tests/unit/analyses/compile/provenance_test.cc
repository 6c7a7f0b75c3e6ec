// Names to lines: the finder against the plain way, the rules one by one, and a whole log.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "analyses/compile/provenance/line_maps.h"
#include "tables/provenance_graph.h"
#include "tables/provenance_line.h"
#include "unit/analyses/compile/log_builder.h"

namespace debrief::analyses::compile_provenance {

const Analysis& Describe();

namespace compile_provenance_test {

std::string Show(const std::optional<KernelLines>& kernels) {
  if (!kernels) return "none";
  std::string text;
  for (const auto& [name, lines] : *kernels)
    text += fmt::format("{}: {};", name, fmt::join(lines, " "));
  return text;
}

NameMap Kernels(std::initializer_list<std::string> names) {
  NameMap map;
  for (const std::string& name : names) map[name] = {};
  return map;
}

// What `contains` of every name and line gives, on random texts of few letters.
TEST(NameFinder, FindsWhatFindFinds) {
  std::mt19937 random(1);
  auto text = [&](size_t most) {
    std::string made(random() % (most + 1), ' ');
    for (char& c : made) c = static_cast<char>('a' + random() % 3);
    return made;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> names(1 + random() % 12), texts(random() % 20);
    for (auto& name : names) name = text(6);
    for (auto& line : texts) line = text(30);
    std::vector<std::string_view> lines(texts.begin(), texts.end());
    size_t first = lines.empty() ? 0 : random() % lines.size();
    NameFinder finder;
    std::vector<int32_t> numbers;
    for (const auto& name : names) numbers.push_back(finder.Add(name));
    auto found = finder.Find(lines, first, 100000);
    ASSERT_TRUE(found);
    for (size_t i = 0; i < names.size(); ++i) {
      std::vector<int32_t> expected;
      for (size_t line = first; line < lines.size(); ++line) {
        if (lines[line].find(names[i]) != std::string::npos)
          expected.push_back(static_cast<int32_t>(line));
      }
      EXPECT_EQ((*found)[static_cast<size_t>(numbers[i])], expected) << names[i];
    }
  }
}

TEST(NameFinder, GivesUpOnNamesWithinNames) {
  NameFinder finder;
  std::string name;
  for (int i = 0; i < 100; ++i) finder.Add(name += 'a');
  std::string line(1000, 'a');
  std::vector<std::string_view> lines = {line};
  EXPECT_FALSE(finder.Find(lines, 0, 1000));
  EXPECT_TRUE(finder.Find(lines, 0, 100001));
}

TEST(Provenance, PythonKernelsAreOnEveryLineOfTheCallFunction) {
  constexpr std::string_view kCode =
      "\n\n# AOT ID: ['0']\n"        // 1
      "triton_0 = compile()\n"       // 2, before call
      "def call(args):\n"            // 3
      "    triton_0.run(x)\n"        // 4
      "    triton_01.run(x)\n"       // 5
      "    extern_kernels.mm(y)\n";  // 6
  EXPECT_EQ(
      Show(FindInPython(kCode, Kernels({"triton_0", "triton_01", "extern_kernels.mm", "no"}))),
      "extern_kernels.mm: 6;triton_0: 4 5;triton_01: 5;");
}

TEST(Provenance, LinesCountFromTheAotId) {
  constexpr std::string_view kCode = "import x\nimport y\n# AOT ID: 0\nk(1)\n";
  EXPECT_EQ(Show(FindInPython(kCode, Kernels({"k("}))), "k(: 2;");
  // What would have a number below zero is no line.
  EXPECT_EQ(Show(FindInPython(kCode, Kernels({"import"}))), "import: 0;");
}

TEST(Provenance, AHandleMarksTheNextCall) {
  constexpr std::string_view kCode =
      "# AOT ID: 0\n"
      "def call(args):\n"  // 2
      "  # k:1\n"          // 3
      "  k.run()\n"        // 4
      "  # k:2\n"          // 5
      "  other\n"          // 6
      "  k.run()\n"        // 7
      "  # k:9\n";         // 8
  // k:3 is nowhere, so all lines with k count; behind k:9 nothing comes, likewise.
  EXPECT_EQ(Show(FindInPython(kCode, Kernels({"k:1", "k:2", "k:3", "k:9"}))),
            "k:1: 4;k:2: 7;k:3: 3 4 5 7 8;k:9: 3 4 5 7 8;");
}

TEST(Provenance, CppKeepsColonsOfNamespacesAndLeavesOutDeclarations) {
  constexpr std::string_view kCode =
      "static inline void a::k:5\n"   // 1
      "void M::run_impl(\n"           // 2
      "  def a::k:5\n"                // 3: no handle line
      "  // a::k:5\n"                 // 4
      "  int64_t a::k_xnumel = 3;\n"  // 5
      "  auto a::k_xnumel_12 =4;\n"   // 6
      "  a::k(s, a::k_xnumel_12);\n"  // 7
      "  // a::k:6\n";                // 8
  EXPECT_EQ(Show(FindInCpp(kCode, Kernels({"a::k:5", "a::k:6", "a::k"}))),
            "a::k: 7;a::k:5: 7;a::k:6: 3 4 5 6 7 8;");
}

TEST(Provenance, TellsDeclarationsFromCalls) {
  for (std::string_view line : {"x_xnumel = 3", "int64_t k_xnumel = 3;", "  int k_xnumel_2=3",
                                "auto  z, k_xnumel_2\t= 3", "int a_xnumel(b_xnumel =c)"})
    EXPECT_TRUE(DeclaresElements(line)) << line;
  for (std::string_view line : {"", "k(k_xnumel)", "k_xnumel=3", "int k_xnumel_ = 3",
                                "int k_xnumel_x = 3", "::int k_xnumel=3", "int", "int "})
    EXPECT_FALSE(DeclaresElements(line)) << line;
}

TEST(Provenance, NodesAreOnTheLastLineThatBeginsWithThem) {
  NodeMaps maps;
  maps.pre_to_post = {{"x", {"mul", "nowhere", "add", "mul"}}, {"y", {"nowhere"}}};
  maps.post_to_pre = {{"mul", {"x"}}};
  ProvenanceTexts texts;
  texts.pre = "# x = 1\n x: \"f32\" = 1\n\n  y = x\nx = 2";
  texts.post = "mul = 1\r\nadd: int = mul";
  auto lines = MapLines(maps, texts);
  ASSERT_TRUE(lines);
  EXPECT_EQ((*lines)[4], (LineMap{{5, {1, 2, 1}}}));  // preToPost
  EXPECT_EQ((*lines)[2], (LineMap{{1, {5}}}));        // postToPre
  EXPECT_TRUE((*lines)[0].empty() && (*lines)[1].empty() && (*lines)[3].empty() &&
              (*lines)[5].empty());
}

TEST(Provenance, ALaterKernelTakesALineAndRepetitionsStay) {
  NodeMaps maps;
  maps.kernel_to_post = {{"k1", {"mul"}}, {"k11", {"add"}}};
  maps.post_to_kernel = {{"mul", {"k1", "k1", "k5"}}, {"add", {"k5"}}};
  ProvenanceTexts texts;
  texts.post = "mul = 1\nadd = 2";
  texts.python = "k1\nk11\n";
  auto lines = MapLines(maps, texts);
  ASSERT_TRUE(lines);
  EXPECT_EQ((*lines)[5], (LineMap{{1, {1}}, {2, {2}}}));  // pyCodeToPost
  EXPECT_EQ((*lines)[3], (LineMap{{1, {1, 2, 1, 2}}}));   // postToPyCode
  EXPECT_TRUE((*lines)[0].empty());
}

TEST(Provenance, ReadsNodeMapsOfAnyForm) {
  EXPECT_FALSE(ReadNodeMaps(""));
  EXPECT_FALSE(ReadNodeMaps("{\"preToPost\": {\"a\": [\"b\"]}"));
  auto maps = ReadNodeMaps(
      "{\"version\": 2.0, \"preToPost\": {\"b\": [\"c\", 1], \"a\": 3}, \"postToPre\": []}");
  ASSERT_TRUE(maps);
  EXPECT_EQ(maps->pre_to_post, (NameMap{{"a", {}}, {"b", {"c"}}}));
  EXPECT_TRUE(maps->post_to_pre.empty());
}

std::string Lines(const Model& model) {
  const auto& table = model.tables.Get<ProvenanceLineTable>();
  std::string text;
  for (size_t i = 0; i < table.size(); ++i) {
    auto targets = model.pools.lists.Get(table.targets[i]);
    text += fmt::format("{} {} {}: {};", model.pools.Text(table.graph[i]),
                        model.pools.Text(table.map[i]), table.line[i],
                        fmt::join(targets.begin(), targets.end(), " "));
  }
  return text;
}

TEST(Provenance, AGraphIsItsOwnAndItsLastTextCounts) {
  constexpr std::string_view kMap = "inductor_provenance_tracking_node_mappings";
  CompileLogBuilder log;
  log.Log(0)
      .Add({.payload = "old = 1", .kind = "inductor_pre_grad_graph"})
      .Add({.name = "before_pre_grad_graph", .payload = "\na = 1"})
      .Add({.name = "before_pre_grad_graph", .payload = "\n\na = 1"})
      .Add({.name = "after_post_grad_graph", .payload = "b = 1"})
      .Add({.name = "after_post_grad_graph", .payload = "\n\n\nb = 1", .frame = 10})
      .Add({.name = kMap, .payload = R"({"preToPost": {"a": ["b"], "old": ["b"]}})"})
      .Add({.name = kMap, .payload = "broken", .frame = 10});
  log.Run(Describe());
  EXPECT_EQ(Lines(log.model()), "-_0_0_0 preToPost 3: 1;");
  const auto& graphs = log.model().tables.Get<ProvenanceGraphTable>();
  ASSERT_EQ(graphs.size(), 2u);
  EXPECT_TRUE(graphs.mapped[0]);
  EXPECT_FALSE(graphs.mapped[1]);
  EXPECT_EQ(graphs.python_entry[0], kNone64);
}

TEST(Provenance, LinesComeInTheOrderOfTheirTexts) {
  std::string graph, map;
  for (int i = 1; i <= 12; ++i) {
    graph += fmt::format("n{} = 1\n", i);
    map += fmt::format("{}\"n{}\": [\"n1\"]", i == 1 ? "" : ", ", i);
  }
  CompileLogBuilder log;
  log.Log(0)
      .Add({.payload = graph, .kind = "inductor_pre_grad_graph"})
      .Add({.payload = graph, .kind = "inductor_post_grad_graph"})
      .Add({.name = "inductor_provenance_tracking_node_mappings",
            .payload = fmt::format("{{\"preToPost\": {{{}}}}}", map)});
  log.Run(Describe());
  const auto& table = log.model().tables.Get<ProvenanceLineTable>();
  EXPECT_EQ(table.line, (std::vector<int32_t>{1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9}));
}

}  // namespace compile_provenance_test
}  // namespace debrief::analyses::compile_provenance
