#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analyses/schedule.h"
#include "base/text/strings.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "tables/compilation.h"
#include "tables/compile_divergence.h"
#include "tables/compile_log.h"
#include "tables/compile_order.h"
#include "tables/compile_rank_check.h"
#include "tables/compile_runtime_delta.h"
#include "tables/compile_string.h"
#include "tables/input.h"
#include "unit/cpu_time.h"
#include "unit/outputs/compile_fixture.h"
#include "unit/outputs/text_helpers.h"

namespace debrief {

namespace analyses::compile_breaks {
const Analysis& Describe();
}
namespace analyses::compile_recompiles {
const Analysis& Describe();
}
namespace analyses::compile_stacks {
const Analysis& Describe();
}

namespace outputs::tlparse_tree {
namespace tlparse_tree_pages_test {

constexpr std::string_view kHostile = "</script></pre><script>bad()</script><!-- \"' {{body}}";

using testing::CountOf;

class TreePages : public ::testing::Test {
 protected:
  StringId S(std::string_view text) { return log.model.pools.Intern(text); }

  CompileMetricsRow Metrics(std::string_view name = "fn") {
    CompileMetricsRow row;
    row.co_name = S(name);
    row.co_filename = S("/home/me/train.py");
    row.co_firstlineno = 17;
    row.graph_op_count = 3;
    row.restart_reasons = 0;
    return row;
  }

  CompileMetricsRow Failing(std::string_view type, std::string_view reason) {
    CompileMetricsRow row = Metrics();
    row.fail_type = S(type);
    if (!reason.empty()) row.fail_reason = S(reason);
    return row;
  }

  size_t AddMetricsPage(std::string_view id, CompileMetricsRow row) {
    const size_t entry = log.AddMetrics(id, row);
    log.AddFile(entry, fmt::format("[{}]", id), "compilation_metrics_1.html", Content::kMetrics);
    return entry;
  }

  // The trie, the compilations and their breaks come from analyses.
  void Analyse() {
    for (const Analysis* analysis :
         {&analyses::compile_stacks::Describe(), &analyses::compile_recompiles::Describe(),
          &analyses::compile_breaks::Describe()}) {
      AnalysisResult result;
      ASSERT_TRUE(RunDeclared(*analysis, log.model, result).ok());
      log.model.Append(std::move(result.part));
    }
  }

  std::string Index(bool of_many = false) {
    return IndexPage(PageContext(log.model, log.plan, log.options), of_many);
  }

  std::string Page(size_t file, std::string payload = {}) {
    const PageContext context(log.model, log.plan, log.options);
    return FilePage(context, log.plan.files[file], payload);
  }

  CompileFixture log;
};

TEST_F(TreePages, EmptyLogGivesWholePages) {
  InputRow input;
  input.path = S("/home/<me>/rank_<0>.log");
  log.model.tables.Edit<InputTable>().Add(input);
  const std::string index = Index();
  EXPECT_TRUE(Contains(index, "<p class=\"quiet\">rank_&lt;0&gt;.log</p>"));
  EXPECT_TRUE(index.starts_with("<!doctype html>"));
  EXPECT_TRUE(index.ends_with("</html>\n"));
  EXPECT_TRUE(Contains(index, "Content-Security-Policy"));
  EXPECT_FALSE(Contains(index, "{{"));
  EXPECT_FALSE(Contains(index, "chromium_events.json"));
  EXPECT_FALSE(Contains(index, "failures_and_restarts.html"));
  EXPECT_FALSE(Contains(index, "collectives_parity.json"));
  EXPECT_TRUE(Contains(Index(true), "href=\"collectives_parity.json\""));
  EXPECT_TRUE(
      Contains(FailuresPage(PageContext(log.model, log.plan, log.options)), "No compilation"));
}

TEST_F(TreePages, IndexShowsFailuresWithPlaceAndFirstLineOfReason) {
  AddMetricsPage("0/0", Metrics());
  CompileMetricsRow row = Failing("Unsupported", "\ncall to <x>\nsecond line");
  row.fail_user_frame_filename = S("/home/me/model.py");
  row.fail_user_frame_lineno = 42;
  AddMetricsPage("1/0", row);
  Analyse();
  const std::string index = Index();
  EXPECT_TRUE(Contains(index, "<li class=\"bad\"><b>1</b>failed</li>"));
  EXPECT_TRUE(Contains(index, "<b>2</b>compilations"));
  EXPECT_TRUE(Contains(index, "<b>1</b>ok"));
  EXPECT_TRUE(Contains(index, "<a href=\"dir_1/compilation_metrics_1.html\">[1/0]</a>"));
  EXPECT_TRUE(Contains(index, "/home/me/model.py:42"));
  EXPECT_TRUE(Contains(index, "<p>call to &lt;x&gt;</p>"));
  EXPECT_FALSE(Contains(index, "second line"));
  EXPECT_TRUE(
      Contains(index, "<a href=\"failures_and_restarts.html\">Failures and Restarts</a> (1)"));
}

TEST_F(TreePages, IndexFollowsReasonsThatOnlyAnnounceAndTellsOfRecompiles) {
  auto add = [&](int64_t number, const CompileMetricsRow& metrics) {
    const size_t entry = AddMetricsPage(fmt::format("0/{}", number), metrics);
    log.entries().frame_id[entry] = 0;
    log.entries().frame_compile_id[entry] = number;
  };
  add(0, Failing("BackendFailed", "backend='x' raised:\nRuntimeError: no\nmore"));
  CompileMetricsRow row = Metrics();
  row.recompile_reason = S("0/0: type(k) <changed>\nUser stack trace:");
  add(1, row);
  add(2, Failing("Odd", ":\n\n"));
  Analyse();
  const std::string index = Index();
  EXPECT_TRUE(Contains(index, "<p>backend=&#39;x&#39; raised: RuntimeError: no</p>"));
  EXPECT_TRUE(Contains(index, "<b>2</b>recompiled"));
  EXPECT_TRUE(Contains(index, "compiled again: <code>"));
  EXPECT_FALSE(Contains(index, "User stack trace"));
}

TEST_F(TreePages, IndexListsFilesOfCompilations) {
  const size_t entry = log.AddEntry("artifact", "0/0");
  log.AddFile(entry, "[0/0]", "fx_graph_cache_hit_0.json", Content::kJson);
  ListedFile& file = log.plan.compilations[0].files[0];
  file.suffix = "\xe2\x9c\x85";
  file.readable_url = "dir_0/x_readable.html";
  log.plan.events.push_back(entry);
  log.plan.unknown_keys = {"new_key"};
  const std::string index = Index();
  EXPECT_TRUE(Contains(index, "<a id=\"[0/0]\">"));
  EXPECT_TRUE(Contains(index,
                       "<a href=\"dir_0/fx_graph_cache_hit_0.json\">"
                       "dir_0/fx_graph_cache_hit_0.json</a>"));
  EXPECT_TRUE(Contains(index, "x_readable.html\">readable_html</a>"));
  EXPECT_TRUE(Contains(index, "\xe2\x9c\x85"));
  EXPECT_TRUE(Contains(index, "href=\"chromium_events.json\""));
  EXPECT_TRUE(Contains(index, "new_key"));
  EXPECT_FALSE(Contains(index, "provenance_tracking_"));
  log.options.provenance = true;
  EXPECT_TRUE(Contains(Index(), "href=\"provenance_tracking_dir_0.html\""));
}

TEST_F(TreePages, IndexTellsWhatWasWrongWithTheLog) {
  CompileLogRow row;
  row.input = 0;
  row.bad_checksum = 2;
  row.bad_prefix = 1;
  log.model.tables.Edit<CompileLogTable>().Add(row);
  const std::string index = Index();
  EXPECT_TRUE(Contains(index, "<b>3</b>troubles in the log"));
  EXPECT_TRUE(Contains(index, "<dt>2</dt><dd>payloads that do not match"));
}

TEST_F(TreePages, CustomHeaderIsRawAndHasNoPolicy) {
  log.options.custom_header_html = "<marquee onclick=x()>hi</marquee>";
  const std::string index = Index();
  EXPECT_TRUE(Contains(index, log.options.custom_header_html));
  EXPECT_FALSE(Contains(index, "Content-Security-Policy"));
  EXPECT_FALSE(Contains(FailuresPage(PageContext(log.model, log.plan, log.options)), "<marquee"));
}

TEST_F(TreePages, LinksOfALogAreCheckedAndEscaped) {
  for (std::string_view url : {"http://a/b", "https://a?x=1&y=2", "a/b.html", "#x", "x?a:b"}) {
    EXPECT_TRUE(IsSafeAddress(url)) << url;
  }
  for (std::string_view url :
       {"javascript:x", "JaVaScRiPt:x", " javascript:x", "java\nscript:x", "data:text/html,x",
        "//evil", "vbscript:x", "", "\\\\evil", "file:/x"}) {
    EXPECT_FALSE(IsSafeAddress(url)) << url;
  }
  const size_t entry = log.AddEntry("link", "0/0");
  log.entries().form[entry] = S("link");
  log.AddFile(entry, "[0/0]", "Name <b>", Content::kPayload);
  log.plan.compilations[0].files[0].url = "javascript:alert(1)";
  EXPECT_FALSE(Contains(Index(), "href=\"javascript"));
  EXPECT_TRUE(Contains(Index(), "Name &lt;b&gt;"));
  log.plan.compilations[0].files[0].url = "https://x/?a=1&b=\"";
  EXPECT_TRUE(Contains(Index(), "href=\"https://x/?a=1&amp;b=&quot;\""));
}

TEST_F(TreePages, PathsAreAddresses) {
  std::string out;
  AppendText(Path{"a b/#1%?.txt:'\"&\x01"}, out);
  EXPECT_EQ(out, "a%20b/%231%25%3F.txt%3A&#39;%22&amp;%01");
  EXPECT_EQ(WayToRoot("index.html"), "");
  EXPECT_EQ(WayToRoot("a/b/c"), "../../");
}

TEST_F(TreePages, TrieMarksStatusAndIndentsBranchesOnly) {
  const FrameId main = log.AddFrame("main.py", "main", 1, "run()");
  const FrameId mid = log.AddFrame("main.py", "mid", 2);
  log.AddEntry(
      "dynamo_start", "0/0",
      log.AddStack({main, mid, log.AddFrame("a.py", "f", 3), log.AddFrame("a.py", "f2", 4)}));
  log.AddEntry("dynamo_start", "1/0_1", log.AddStack({main, mid, log.AddFrame("b.py", "g", 5)}));
  AddMetricsPage("0/0", Failing("E", "r"));
  Analyse();
  const std::string index = Index();
  EXPECT_TRUE(Contains(index,
                       "<li>main.py:1 in main<i>run()</i></li>\n<li>main.py:2 in mid</li>\n"
                       "<li><details open><summary>a.py:3 in f</summary><ul>\n"
                       "<li><a class=\"error-mark\" href=\"#[0/0]\">[0/0]</a> a.py:4 in f2</li>\n"
                       "</ul></details></li>\n"
                       "<li><a class=\"missing\" href=\"#[1/0_1]\">[1/0_1]</a> b.py:5 in g</li>"));
}

TEST_F(TreePages, ListingNamesFunctionAndOutcomeOfEveryAttempt) {
  const StackId stack = log.AddStack({log.AddFrame("a.py", "f", 1)});
  const size_t start = log.AddEntry("dynamo_start", "0/0", stack);
  log.AddFile(start, "[0/0]", "x_0.txt", Content::kPayload);
  log.AddEntry("dynamo_start", "0/0_1", stack);
  CompileMetricsRow row = Metrics();
  row.restart_reasons = 1;
  AddMetricsPage("0/0_1", row);
  Analyse();
  const std::string index = Index();
  for (std::string_view id : {"[0/0]", "[0/0_1]"}) {
    EXPECT_TRUE(
        Contains(index, fmt::format("<a id=\"{0}\">{0}</a><span class=\"break\">restarted</span>"
                                    "<code class=\"quiet\">fn</code>",
                                    id)));
  }
}

TEST_F(TreePages, TrieOfOtherRanksIsLeftOut) {
  log.AddEntry("dynamo_start", "0/0", log.AddStack({log.AddFrame("a.py", "mine", 1)}));
  log.AddEntry("dynamo_start", "7/0", log.AddStack({log.AddFrame("a.py", "theirs", 1)}));
  Analyse();
  log.plan.rows = {};
  log.plan.rows.push_back(0);
  EXPECT_TRUE(Contains(Index(), "in mine"));
  EXPECT_FALSE(Contains(Index(), "in theirs"));
}

TEST_F(TreePages, VeryDeepTrieIsWrittenWithoutRecursion) {
  std::vector<FrameId> frames;
  for (int i = 0; i < 3000; ++i) {
    frames.push_back(log.AddFrame("a.py", "f", i));
    log.AddEntry("dynamo_start", "0/0", log.AddStack(frames));
    std::vector<FrameId> side = frames;
    side.push_back(log.AddFrame("b.py", "side", i));
    if (i % 10 == 0) log.AddEntry("dynamo_start", "1/0", log.AddStack(side));
  }
  Analyse();
  const std::string index = Index();
  EXPECT_EQ(CountOf(index, "<details"), CountOf(index, "</details>"));
  EXPECT_EQ(CountOf(index, "<ul"), CountOf(index, "</ul>"));
  EXPECT_TRUE(Contains(index, "a.py:2999 in f"));
}

TEST_F(TreePages, FramesInDumpedFilesLinkToThem) {
  const FrameId dumped = log.AddFrame("<eval_with_key>.7", "forward", 12, "x");
  const FrameId other = log.AddFrame("<eval_with_key>.8", "forward", 13);
  log.AddEntry("dynamo_start", "0/0", log.AddStack({dumped, other}));
  const size_t entry = log.AddEntry("dump_file", "");
  log.plan.files.push_back(
      {.path = "dump_file/eval_with_key_7.html", .content = Content::kDump, .row = entry});
  AddMetricsPage("0/0", Metrics());
  Analyse();
  EXPECT_TRUE(Contains(Index(),
                       "<a href=\"dump_file/eval_with_key_7.html#L12\">"
                       "&lt;eval_with_key&gt;.7:12</a> in forward"));
  EXPECT_TRUE(Contains(Page(1), "<a href=\"../dump_file/eval_with_key_7.html#L12\">"));
  EXPECT_FALSE(Contains(Page(1), "eval_with_key_8.html"));  // it was not dumped: no dead link
}

TEST_F(TreePages, FailuresPageEscapesReasons) {
  const size_t entry = AddMetricsPage("0/0", Failing("Ty<pe", kHostile));
  log.AddRestart(entry, kHostile);
  AddMetricsPage("1/0", Failing("NoReason", ""));
  const std::string page = FailuresPage(PageContext(log.model, log.plan, log.options));
  EXPECT_EQ(CountOf(page, "<script"), 1u) << "ours, which keeps the parameters of the address";
  EXPECT_TRUE(Contains(page, "RestartAnalysis"));
  EXPECT_TRUE(Contains(page, "Ty&lt;pe"));
  EXPECT_TRUE(Contains(page, "the log gives no reason"));
  EXPECT_EQ(CountOf(page, "<tr><td"), 3u);
}

TEST_F(TreePages, MetricsPageShowsFieldsStackAndFilesListedBefore) {
  log.AddEntry(
      "dynamo_start", "0/0_1",
      log.AddStack({log.AddFrame("out.py", "outer", 1), log.AddFrame("in.py", "inner", 2)}));
  log.AddFile(log.AddEntry("artifact", "0/0"), "[0/0]", "before_0.txt", Content::kPayload);
  CompileMetricsRow row = Metrics();
  row.entire_frame_compile_time_s = 2;
  row.code_gen_time_s = 0;
  row.cache_size = 0;
  row.start_time = 1794710009.276339;
  row.end_time_us = -1;
  AddMetricsPage("0/0", row);
  log.AddFile(log.AddEntry("artifact", "0/0"), "[0/0]", "after_2.txt", Content::kPayload);
  const std::string page = Page(1);
  EXPECT_TRUE(Contains(page, "/home/me/train.py:17 in fn"));
  EXPECT_TRUE(Contains(page, "<dt>Entire frame</dt><dd>2.0 s</dd>"));
  EXPECT_FALSE(Contains(page, "Code generation"));
  EXPECT_TRUE(Contains(page, "<dt>Began</dt><dd>2026-11-15 02:33:29.276339 UTC</dd>"));
  EXPECT_FALSE(Contains(page, "<dt>Ended</dt>"));
  EXPECT_FALSE(Contains(page, "<dt>Guards</dt>"));
  EXPECT_TRUE(Contains(page, "<dt>Cache size</dt><dd>0</dd>"));
  EXPECT_TRUE(Contains(page, "<a href=\"../dir_0/before_0.txt\">before_0.txt</a>"));
  EXPECT_FALSE(Contains(page.substr(page.find("Output files")), "after_2.txt"));
  EXPECT_TRUE(Contains(page, "<li>out.py:1 in outer</li>\n<li>in.py:2 in inner</li>"));
  EXPECT_TRUE(Contains(page, "href=\"../index.html#[0/0]\""));
  EXPECT_FALSE(Contains(page, "&quot;;"));  // the style is no text
}

TEST_F(TreePages, ShapesOfAllAttemptsAreOnTheMetricsPageOnce) {
  CompileShapeRow row;
  row.symbol = S("s0");
  row.sources = S("L['x'].size()[0]");
  row.value = S("4");
  log.AddShape("symbolic_shape_specialization", "0/0", row,
               log.AddStack({log.AddFrame("fw.py", "deep", 9)}));
  row.symbol = S("s1");
  log.AddShape("symbolic_shape_specialization", "0/0_1", row);
  AddMetricsPage("0/0_1", Metrics());
  CompileShapeRow guard;
  guard.expression = S("Eq(s2, <4>)");
  log.AddShape("guard_added_fast", "0/0_1", guard);
  log.AddShape("guard_added_fast", "1/0", guard);
  AddMetricsPage("0/0", Metrics());
  const std::string first = Page(0);
  const std::string second = Page(1);
  EXPECT_TRUE(Contains(first, "<pre>s0</pre>"));
  EXPECT_TRUE(Contains(first, "<pre>s1</pre>"));
  EXPECT_TRUE(Contains(first, "Framework stack (1 frame)"));
  EXPECT_FALSE(Contains(first, "Guards added fast"));
  EXPECT_TRUE(Contains(second, "Eq(s2, &lt;4&gt;)"));
  EXPECT_EQ(CountOf(second, "Eq(s2"), 1u);
  EXPECT_FALSE(Contains(second, "<pre>s0</pre>"));
}

TEST_F(TreePages, ShapesAfterTheLastMetricsAreNotLost) {
  AddMetricsPage("0/0", Metrics());
  CompileShapeRow guard;
  guard.expression = S("late");
  log.AddShape("guard_added_fast", "0/0", guard);
  EXPECT_TRUE(Contains(Page(0), "<pre>late</pre>"));
}

TEST_F(TreePages, MetricsThatCouldNotBeReadStillHaveAPage) {
  log.AddFile(log.AddEntry("compilation_metrics", "0/0"), "[0/0]", "m_0.html", Content::kMetrics);
  EXPECT_TRUE(Contains(Page(0), "could not be read"));
}

TEST_F(TreePages, FloatsAreShortAndPlain) {
  for (auto [number, text] : std::initializer_list<std::pair<double, std::string_view>>{
           {2, "2.0"},
           {0.1, "0.1"},
           {1e-5, "0.00001"},
           {1.5e-5, "0.000015"},
           {-1.25e-5, "-0.0000125"},
           {9.9e15, "9900000000000000.0"},
           {1e16, "1e+16"},
           {1e-6, "1e-06"},
           {0, "0.0"},
           {8.90376877784729, "8.90376877784729"},
           {1794709991.435366, "1794709991.435366"}}) {
    EXPECT_EQ(FloatText(number), text);
  }
}

TEST_F(TreePages, CodeHasLinesPartsAndALanguage) {
  const size_t entry = log.AddEntry("inductor_output_code", "0/0");
  log.AddFile(entry, "[0/0]", "inductor_output_code_0.html", Content::kCode);
  const std::string page = Page(0, "import x\n\nif a < b: pass\n");
  EXPECT_TRUE(
      Contains(page,
               "<pre class=\"code\" data-lang=\"py\"><div><span id=\"L1\">import x</span>"
               "<span id=\"L2\"></span><span id=\"L3\">if a &lt; b: pass</span></div></pre>"));
  EXPECT_TRUE(Contains(Page(0, "#include <x>\nint f();"), "data-lang=\"cpp\""));
  EXPECT_TRUE(Contains(Page(0, ""), "<span id=\"L1\"></span>"));
  std::string lines;
  for (int i = 0; i < 401; ++i) lines += std::string(kHostile) + "\n";
  const std::string long_page = Page(0, lines);
  EXPECT_EQ(CountOf(long_page, "</div><div>"), 2u);
  EXPECT_TRUE(Contains(long_page, "id=\"L401\""));
  EXPECT_FALSE(Contains(long_page, "id=\"L402\""));
  EXPECT_FALSE(Contains(long_page, "bad()</script>"));
}

TEST_F(TreePages, FilesOfACompilationLinkToEachOther) {
  auto add = [&](std::string_view name, Content content) {
    log.AddFile(log.AddEntry("artifact", "0/0"), "[0/0]", name, content);
  };
  add("dynamo_output_graph_0.txt", Content::kPayload);
  log.plan.compilations[0].files[0].page_url = "dir_0/dynamo_output_graph_0.html";
  add("middle_1.txt", Content::kPayload);
  add("inductor_output_code_2.html", Content::kCode);
  AddMetricsPage("0/0", Metrics());
  log.options.report_link = "../../index.html";
  const std::string page = Page(2);
  EXPECT_TRUE(Contains(page, "<a href=\"../dir_0/dynamo_output_graph_0.html\">Graph</a>"));
  EXPECT_TRUE(Contains(page, ">Metrics</a>"));
  EXPECT_FALSE(Contains(page, ">Code</a>"));  // that is this page
  EXPECT_TRUE(Contains(page, "<a href=\"../dir_0/middle_1.txt\">\u2190 middle_1.txt</a>"));
  EXPECT_TRUE(Contains(page, "compilation_metrics_1.html \u2192</a>"));
  EXPECT_TRUE(Contains(page, "4 files of [0/0]"));
  EXPECT_TRUE(Contains(page, "<a href=\"../../../index.html#/compile\">Report</a>"));
  EXPECT_TRUE(Contains(Page(3), ">Code</a>"));
}

TEST_F(TreePages, FramesOfPackagesAreFoldedBetweenThoseOfTheProgram) {
  const std::string torch = "/venv/lib/python3.12/site-packages/torch/nn/module.py";
  const FrameId mine = log.AddFrame("train.py", "main", 1);
  const FrameId call = log.AddFrame(torch, "_call_impl", 2);
  const FrameId wrapped = log.AddFrame(torch, "_wrapped_call_impl", 3);
  log.AddEntry("dynamo_start", "0/0",
               log.AddStack({mine, call, wrapped, log.AddFrame("model.py", "forward", 4)}));
  AddMetricsPage("0/0", Metrics());
  Analyse();
  for (const std::string& page : {Index(), Page(0)}) {
    EXPECT_TRUE(Contains(page, "<li><details><summary>2 frames of torch</summary>"));
    EXPECT_LT(page.find("train.py:1"), page.find("2 frames of torch"));
    EXPECT_LT(page.find("in _wrapped_call_impl"), page.find("model.py:4"));
    EXPECT_EQ(CountOf(page, "<details"), CountOf(page, "</details>"));
  }
}

TEST_F(TreePages, GuardsAreListedOrShownAsTheyAre) {
  log.AddFile(log.AddEntry("dynamo_guards", "0/0"), "[0/0]", "dynamo_guards_0.html",
              Content::kGuards);
  const std::string page =
      Page(0, R"([{"code": "a < 1", "stack": null, "user_stack": [{"line": 3, "name": "f",
            "uninterned_filename": "u.py", "loc": "x = 1"}]}, {"code": "b"}, {"other": 1}])");
  EXPECT_TRUE(Contains(page, "<code>a &lt; 1</code>"));
  EXPECT_TRUE(Contains(page, "<li>u.py:3 in f<i>x = 1</i></li>"));
  EXPECT_TRUE(Contains(page, "<code>b</code>"));
  EXPECT_TRUE(Contains(Page(0, "[]"), "No guards"));
  CompileStringRow text;
  text.input = 0;
  text.life = 0;
  text.number = 7;
  text.text = S("interned.py");
  log.model.tables.Edit<CompileStringTable>().Add(text);
  const std::string files = Page(0, R"([{"code": "c", "stack": [{"line": 1, "name": "g",
      "filename": 7}, {"line": 2, "name": "h", "filename": 8}]}])");
  EXPECT_TRUE(Contains(files, "interned.py:1 in g"));
  EXPECT_TRUE(Contains(files, "(unknown):2 in h"));
  for (const char* bad : {"", "{", "{\"code\": 1}", "[1]", "not json <u>", "[{\"code\": \"x\"}"}) {
    EXPECT_TRUE(Contains(Page(0, bad), "no list in JSON")) << bad;
  }
  EXPECT_FALSE(Contains(Page(0, "not json <u>"), "<u>"));
}

TEST_F(TreePages, KernelStacksAreSortedAndUnescapedTwice) {
  log.AddFile(log.AddEntry("artifact", "0/0"), "[0/0]", "k_readable.html", Content::kKernelStacks);
  const std::string page =
      Page(0, R"({"b<k>": ["File x, line 1\\n  foo()\\n\\n", "two"], "a": []})");
  EXPECT_TRUE(
      Contains(page, "<h3>b&lt;k&gt;</h3><pre>File x, line 1\n  foo()</pre><pre>two</pre>"));
  EXPECT_LT(page.find("<h3>a</h3>"), page.find("<h3>b"));
  for (const char* bad : {"", "[]", "{\"k\": 1}", "{\"k\": [1]}", "{\"k\": [\"x\"]"}) {
    EXPECT_EQ(Page(0, bad), "") << bad;
  }
}

TEST_F(TreePages, ProvenanceKeepsTextsAndMappingsApart) {
  const std::string page = ProvenancePage({.id = "[0/0]",
                                           .pre_grad = "a = 1\nb <c>",
                                           .post_grad = kHostile,
                                           .code = "\n\nx\n# AOT ID: ['0']\ncall\n",
                                           .line_mappings = "{\"a</script>\": {}}"});
  EXPECT_TRUE(Contains(page, "id=\"pre\"><span>a = 1</span><span>b &lt;c&gt;</span></div>"));
  EXPECT_TRUE(
      Contains(page, "id=\"code\"><span># AOT ID: [&#39;0&#39;]</span><span>call</span></div>"));
  EXPECT_TRUE(Contains(page,
                       "<script id=\"lineMappings\" type=\"application/json\">"
                       "{\"a\\u003c/script>\": {}}</script>"));
  EXPECT_TRUE(Contains(page, "data-code=\"py\""));
  EXPECT_FALSE(Contains(page, "<script>bad"));
  EXPECT_TRUE(
      Contains(ProvenancePage({.code = "void AOTInductorModel::run_impl("}), "data-code=\"cpp\""));
}

class ExportPages : public TreePages {
 protected:
  void Expression(int64_t node, std::string_view result, std::vector<int64_t> arguments) {
    CompileShapeRow row;
    row.node = node;
    row.result = S(result);
    row.argument_nodes = log.model.pools.lists.Intern(arguments);
    row.arguments = S("x\ny");
    log.AddShape("expression_created", "-/-", row);
  }

  void Guard(int64_t node, std::string_view prefix = "eval") {
    CompileShapeRow row;
    row.expression = S("Eq(u0, <3>)");
    row.node = node;
    row.prefix = S(prefix);
    row.locals = S("x: <T>");
    log.AddFile(log.AddShape("guard_added", "-/-", row), "[-/-]",
                fmt::format("symbolic_guard_information_{}.html", log.plan.files.size()),
                Content::kSymbolicGuard);
  }
};

TEST_F(ExportPages, IndexCountsIssuesAndLinksPages) {
  EXPECT_TRUE(
      Contains(ExportIndexPage(PageContext(log.model, log.plan, log.options)), "No issues"));
  Guard(1);
  Guard(1, "runtime_assert");
  log.AddShape("missing_fake_kernel", "-/-");
  log.AddShape("mismatched_fake_kernel", "-/-");
  log.AddShape("propagate_real_tensors_provenance", "-/-");
  log.AddFile(log.AddEntry("exported_program", "-/-"), "[-/-]", "exported_program_1.txt",
              Content::kPayload);
  const std::string page = ExportIndexPage(PageContext(log.model, log.plan, log.options));
  EXPECT_TRUE(Contains(page, "4 issue(s) were found during export"));
  EXPECT_TRUE(Contains(page, "Eq(u0, &lt;3&gt;)"));
  EXPECT_TRUE(Contains(page, "href=\"dir_0/symbolic_guard_information_0.html\""));
  EXPECT_TRUE(Contains(page, "(missing in the log)"));
  EXPECT_TRUE(Contains(page, "href=\"dir_0/exported_program_1.txt\""));
}

TEST_F(ExportPages, ExpressionTreeHasEachNodeOnceAndOnlyEarlierOnes) {
  Expression(1, "one", {2, 3});
  Expression(2, "two", {3, 1});  // a cycle
  Expression(3, "three", {});
  Guard(1);
  Expression(3, "toolate", {});
  const std::string page = Page(0);
  EXPECT_EQ(CountOf(page, "<code>one</code>"), 1u);
  EXPECT_EQ(CountOf(page, "<code>two</code>"), 1u);
  EXPECT_EQ(CountOf(page, "<code>three</code>"), 1u);
  EXPECT_FALSE(Contains(page, "toolate"));
  EXPECT_TRUE(Contains(page, "<dt>Arguments</dt><dd>x, y</dd>"));
  EXPECT_TRUE(Contains(page, "x: &lt;T&gt;"));
  EXPECT_EQ(CountOf(page, "<ul"), CountOf(page, "</ul>"));
  EXPECT_EQ(CountOf(page, "<li>"), CountOf(page, "</li>"));
}

TEST_F(ExportPages, DeepAndMissingExpressions) {
  for (int64_t node = 100000; node > 0; --node) Expression(node, "e", {node + 1});
  Guard(1);
  Guard(kNone64);
  const std::string page = Page(0);
  EXPECT_TRUE(Contains(page, "the rest is left out"));
  EXPECT_LT(page.size(), 1u << 20);
  EXPECT_TRUE(Contains(Page(1), "does not tell how the expression was made"));
}

class Landing : public ::testing::Test {
 protected:
  StringId S(std::string_view text) { return model.pools.Intern(text); }

  template <typename Row>
  static Row OfAttempt() {
    Row row;
    row.job = row.attempt = 0;
    return row;
  }

  void Check(std::string_view what, std::string_view state) {
    auto row = OfAttempt<CompileRankCheckRow>();
    row.what = S(what);
    row.state = S(state);
    model.tables.Edit<CompileRankCheckTable>().Add(row);
  }

  void Group(std::string_view what, std::vector<int64_t> ranks) {
    auto row = OfAttempt<CompileDivergenceRow>();
    row.what = S(what);
    row.ranks = model.pools.lists.Intern(ranks);
    model.tables.Edit<CompileDivergenceTable>().Add(row);
  }

  std::string Page(bool has_runtime) {
    return LandingPage(model, plans, TreeOptions(), 0, 0, has_runtime);
  }

  Model model;
  std::vector<TreePlan> plans = std::vector<TreePlan>(2);
};

TEST_F(Landing, SaysWhatDiffersAndNothingElse) {
  plans[0].rank = 0;
  plans[1].rank = 2;
  CompilationRow failed;
  failed.input = 0;
  failed.rank = 2;
  failed.restarts = 0;
  failed.outcome = S("failed");
  model.tables.Edit<CompilationTable>().Add(failed);
  const std::string equal = Page(false);
  EXPECT_TRUE(Contains(equal, "<a href=\"rank_0/index.html\">Rank 0</a></td><td>0</td><td>0</td>"));
  EXPECT_TRUE(
      Contains(equal, "Rank 2</a></td><td>1</td><td><span class=\"error-mark\">1</span></td>"));
  EXPECT_TRUE(Contains(equal, "Multi-Rank TLParse Report"));
  EXPECT_TRUE(Contains(equal, "Graph Execution-Order Diagnostics"));
  EXPECT_TRUE(Contains(equal, "Execution-order analysis unavailable"));
  EXPECT_TRUE(Contains(equal, "Tensor Metadata Analysis"));
  for (std::string_view absent : {"Diverging", "divergent", "Graph Runtime Analysis",
                                  "Warning:", "collectives_parity.json", "chromium_events.json"}) {
    EXPECT_FALSE(Contains(equal, absent)) << absent;
  }
}

TEST_F(Landing, Divergence) {
  plans[0].events.push_back(0);
  for (std::string_view what : {"compile_ids", "cache", "collectives", "tensor_shapes"}) {
    Group(what, {0, 2});
    Group(what, {1});
  }
  Check("order", "differs");
  for (int32_t rank : {1, 0}) {
    auto row = OfAttempt<CompileOrderRow>();
    row.rank = rank;
    row.schedule_mismatch = 1;
    row.cache_mismatch = 0;
    model.tables.Edit<CompileOrderTable>().Add(row);
  }
  const std::string page = Page(true);
  for (std::string_view part :
       {"Diverging Compilation IDs detected", "Diverging Cache hit/miss patterns detected",
        "Warning:</strong> Diverging collective operation sequences", "Ranks: 0, 2", "Ranks: 1",
        "Graph Runtime Analysis", "Runtime analysis not available",
        "Graph execution order differs across ranks", "Rank 0, Rank 1",
        "Cache hit/miss sequence: Consistent across ranks",
        "Ranks exhibit divergent inductor tensor meta", "href=\"chromium_events.json\""}) {
    EXPECT_TRUE(Contains(page, part)) << part;
  }
  EXPECT_FALSE(Contains(page, "collectives_parity.json"));
}

TEST_F(Landing, RuntimesOfComparableGraphs) {
  Check("runtime", "differs");
  auto row = OfAttempt<CompileRuntimeDeltaRow>();
  row.pairing = S("position");
  row.graph = S("<g>");
  row.delta_ms = 1.5;
  row.fastest_rank = 0;
  row.fastest_ms = 0.5;
  row.slowest_rank = 1;
  row.slowest_ms = 2;
  model.tables.Edit<CompileRuntimeDeltaTable>().Add(row);
  EXPECT_TRUE(Contains(Page(true),
                       "Graph <code>&lt;g&gt;</code>: 1.5 ms delta (Fastest: Rank 0 "
                       "- 0.5 ms, Slowest: Rank 1 - 2 ms)"));
  EXPECT_FALSE(Contains(Page(true), "Runtime analysis not available"));
}

TEST_F(TreePages, HostileTextsStayTextOnEveryPage) {
  const StackId stack = log.AddStack({log.AddFrame(kHostile, kHostile, 1, kHostile)});
  log.AddEntry("dynamo_start", "0/0", stack);
  CompileMetricsRow row = Failing(kHostile, kHostile);
  row.co_name = row.co_filename = row.fail_user_frame_filename = row.recompile_reason =
      row.cudagraph_skip_reason = row.non_compliant_ops = S(kHostile);
  log.AddRestart(AddMetricsPage("0/0", row), kHostile);
  CompileShapeRow shape;
  shape.symbol = shape.sources = shape.value = shape.reason = S(kHostile);
  log.AddShape("symbolic_shape_specialization", "0/0", shape, stack);
  log.plan.unknown_keys = {std::string(kHostile)};
  log.AddFile(log.AddEntry("artifact", "0/0"), "[0/0]", kHostile, Content::kPayload);
  Analyse();
  for (const std::string& page : {Index(), Page(0)}) {
    EXPECT_FALSE(Contains(page, "bad()</script>"));
    EXPECT_FALSE(Contains(page, "<!-- "));
    EXPECT_GE(CountOf(page, "bad()"), 6u);
  }
}

TEST_F(TreePages, TwoThousandPagesOfDeepStacksTakeLittleTime) {
  for (int i = 0; i < 2000; ++i) {
    std::vector<FrameId> frames;
    for (int k = 0; k < 120; ++k) {
      frames.push_back(log.AddFrame("/some/where/in/the/program.py", "function",
                                    k + (k == 119 ? i : 0), "return some_call(of, this, program)"));
    }
    const std::string id = fmt::format("{}/0", i);
    log.AddEntry("dynamo_start", id, log.AddStack(frames));
    AddMetricsPage(id, Metrics());
  }
  const double start = CpuSeconds();
  const PageContext context(log.model, log.plan, log.options);
  size_t bytes = 0;
  for (const TreeFile& file : log.plan.files) bytes += MetricsPage(context, file).size();
  const double seconds = CpuSeconds() - start;
  EXPECT_GT(bytes, size_t{2000} * 120 * 50);
  EXPECT_LT(seconds, 2);  // 0.1 of CPU time without sanitizers
}

}  // namespace tlparse_tree_pages_test
}  // namespace outputs::tlparse_tree
}  // namespace debrief
