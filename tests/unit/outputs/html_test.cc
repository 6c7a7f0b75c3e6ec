#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/paths.h"
#include "outputs/output.h"
#include "outputs/report/html/islands.h"
#include "tables/input.h"
#include "unit/outputs/text_helpers.h"

namespace debrief::outputs::html {

const Output& Describe();

namespace html_test {

using namespace std::string_view_literals;

constexpr std::string_view kHostile =
    "</script></title></noscript><script>bad()</script><!-- {{data}}{{title}} \"'&`\xe2\x80\xa8\0\xff\xc3( end"sv;

using testing::CountOf;

std::string Between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t from = text.find(before);
  if (from == std::string_view::npos) return "(not found)";
  const size_t start = from + before.size();
  return std::string(text.substr(start, text.find(after, start) - start));
}

std::string PageOf(const Model& model) { return MakePage(model, Islands("")); }

std::string Data(std::string_view page) {
  return Between(page, "<script type=\"application/json\" id=\"debrief-data\">", "</script>");
}

void FillHostile(Model& model) {
  Finding& finding = model.findings.emplace_back();
  finding.id = "f1";
  finding.headline = kHostile;
  finding.why = kHostile;
  finding.op = kHostile;
  finding.source.push_back({.rank = 0, .file = std::string(kHostile), .line = 1});
  InputRow row;
  row.input = 0;
  row.path = model.pools.Intern(kHostile);
  row.kind = model.pools.Intern(kHostile);
  row.state = model.pools.Intern("imported");
  model.tables.Edit<InputTable>().Add(row);
}

TEST(HtmlPage, EmptyModelGivesWholePage) {
  Model model;
  const std::string page = PageOf(model);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  EXPECT_EQ(Between(page, "<title>", "</title>"), "No findings - debrief");
  EXPECT_NE(Data(page).find("\"findings\":[]"), std::string::npos);
  EXPECT_EQ(page.find("{{"), std::string::npos) << "a mark was left over";
}

TEST(HtmlPage, LoadsNothing) {
  Model model;
  const std::string page = PageOf(model);
  const std::string policy = Between(page, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_TRUE(policy.starts_with("default-src 'none'; script-src 'sha256-")) << policy;
  EXPECT_EQ(policy.find("unsafe"), std::string::npos) << policy;
  EXPECT_EQ(policy.find("http"), std::string::npos) << policy;
  EXPECT_EQ(page.find(" src="), std::string::npos);
}

TEST(HtmlPage, HostileTextStaysText) {
  Model plain;
  Model hostile;
  FillHostile(hostile);
  const std::string before = PageOf(plain);
  const std::string after = PageOf(hostile);
  for (std::string_view part : {"<script", "</script", "</title", "</noscript", "<!--"}) {
    EXPECT_EQ(CountOf(after, part), CountOf(before, part)) << part;
  }
  const std::string data = Data(after);
  EXPECT_EQ(data.find('<'), std::string::npos);
  EXPECT_EQ(data.find('\0'), std::string::npos);
  EXPECT_EQ(data.find("\xe2\x80\xa8"), std::string::npos) << "U+2028 ends a line in old scripts";
  EXPECT_EQ(data.find('\xff'), std::string::npos) << "not UTF-8";
  EXPECT_TRUE(data.ends_with("}\n"));
}

TEST(HtmlPage, MarksInTextAreNotFilledIn) {
  Model model;
  FillHostile(model);
  const std::string page = PageOf(model);
  EXPECT_EQ(CountOf(page, "id=\"debrief-data\""), 1u);
  EXPECT_EQ(CountOf(page, "\"schema\":1"), 1u) << "the data was filled in twice";
}

TEST(HtmlPage, HeadlinesWithoutScript) {
  Model model;
  Finding& finding = model.findings.emplace_back();
  finding.severity = Severity::kError;
  finding.headline = "Rank 5 & <rank> 7";
  const std::string page = PageOf(model);
  EXPECT_NE(Between(page, "<noscript>", "</noscript>").find("error: Rank 5 &amp; &lt;rank&gt; 7"),
            std::string::npos);
  EXPECT_EQ(Between(page, "<title>", "</title>"), "Rank 5 &amp; &lt;rank&gt; 7 - debrief");
}

class HtmlOutput : public ::testing::Test {
 protected:
  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const ScratchFolder scratch_{"/tmp/debrief_html_"};
  const std::string& folder_ = scratch_.path();
  Model model_;
};

TEST_F(HtmlOutput, WritesAndReplaces) {
  ASSERT_TRUE(Describe().write(model_, {.folder = folder_}).ok());
  EXPECT_EQ(Read("index.html"), PageOf(model_));
  FillHostile(model_);
  ASSERT_TRUE(Describe().write(model_, {.folder = folder_}).ok());
  EXPECT_EQ(Read("index.html"), PageOf(model_));
  EXPECT_NE(::access((folder_ + "/index.html.tmp").c_str(), F_OK), 0);
}

TEST_F(HtmlOutput, NoFolderMeansNoFile) { EXPECT_TRUE(Describe().write(model_, {}).ok()); }

TEST_F(HtmlOutput, MissingFolderIsAnError) {
  const Status status = Describe().write(model_, {.folder = folder_ + "/none"});
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.ToString().find("none/report_data"), std::string::npos) << status.ToString();
}

TEST_F(HtmlOutput, FolderInTheWayIsAnErrorAndLeavesNothing) {
  ASSERT_EQ(::mkdir((folder_ + "/index.html").c_str(), 0777), 0);
  EXPECT_EQ(Describe().write(model_, {.folder = folder_}).code(), Code::kIo);
  EXPECT_NE(::access((folder_ + "/index.html.tmp").c_str(), F_OK), 0);
}

TEST_F(HtmlOutput, LinkAtTheTemporaryNameIsNotFollowed) {
  ASSERT_EQ(::symlink((folder_ + "/other").c_str(), (folder_ + "/index.html.tmp").c_str()), 0);
  ASSERT_TRUE(Describe().write(model_, {.folder = folder_}).ok());
  EXPECT_NE(::access((folder_ + "/other").c_str(), F_OK), 0);
}

}  // namespace html_test
}  // namespace debrief::outputs::html
