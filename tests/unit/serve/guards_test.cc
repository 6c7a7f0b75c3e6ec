// Who may ask a server for what.
#include "serve/guards.h"

#include <gtest/gtest.h>

namespace debrief::serve {
namespace guards_test {

TEST(Guards, OnlyMethodsThatRead) {
  EXPECT_TRUE(IsMethodAllowed("GET"));
  EXPECT_TRUE(IsMethodAllowed("HEAD"));
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "get", ""})
    EXPECT_FALSE(IsMethodAllowed(method)) << method;
}

TEST(Guards, HostsOfThisMachineWithThePort) {
  for (const char* host : {"127.0.0.1:8000", "localhost:8000", "[::1]:8000"})
    EXPECT_TRUE(IsOurHost(host, 8000)) << host;
  for (const char* host :
       {"", "127.0.0.1", "127.0.0.1:80000", "127.0.0.1:8001", "evil.example:8000",
        "127.0.0.1:8000.evil.example", "localhost", " 127.0.0.1:8000"})
    EXPECT_FALSE(IsOurHost(host, 8000)) << host;
  EXPECT_TRUE(IsOurHost("localhost", 80)) << "a browser leaves the usual port out";
}

TEST(Guards, OriginIsOursOrMissing) {
  EXPECT_TRUE(IsOurOrigin(std::nullopt, 8000));
  EXPECT_TRUE(IsOurOrigin("http://localhost:8000", 8000));
  for (const char* origin : {"null", "", "https://localhost:8000", "http://evil.example",
                             "http://localhost:8000/", "localhost:8000"})
    EXPECT_FALSE(IsOurOrigin(origin, 8000)) << origin;
}

TEST(Guards, TokensAreLongAndDiffer) {
  auto one = MakeToken();
  auto two = MakeToken();
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->size(), 32u);
  EXPECT_EQ(one->find_first_not_of("0123456789abcdef"), std::string_view::npos);
  EXPECT_NE(*one, *two);
}

TEST(Guards, SecretsAreComparedWhole) {
  EXPECT_TRUE(SameSecret("abc", "abc"));
  for (const char* given : {"", "ab", "abcd", "abd", "Abc"})
    EXPECT_FALSE(SameSecret(given, "abc")) << given;
}

TEST(Guards, TokenIsTheFirstPartOfThePath) {
  SplitPath path = SplitToken("/abc/report_data/x.js");
  EXPECT_EQ(path.token, "abc");
  EXPECT_EQ(path.rest, "report_data/x.js");
  EXPECT_TRUE(path.has_slash);
  EXPECT_FALSE(SplitToken("/abc").has_slash);
  EXPECT_EQ(SplitToken("//abc/x").token, "");
  EXPECT_EQ(SplitToken("").token, "");
}

TEST(Guards, PathsStayBelowTheReport) {
  EXPECT_EQ(SafeRelativePath(""), "index.html");
  EXPECT_EQ(SafeRelativePath("report_data/a%20b.js"), "report_data/a b.js");
  EXPECT_EQ(SafeRelativePath("a..b"), "a..b");
  EXPECT_EQ(SafeRelativePath("%252e"), "%2e") << "decoded once";
  for (const char* path :
       {"..", "../x", "a/../x", "%2e%2e/x", "a/%2E%2e", ".", "./a", "/etc/passwd", "a//b", "a/",
        "a%2fb", "a%2Fb", "a\\b", "a%5cb", "a%00b", "a%", "a%2", "a%zz"})
    EXPECT_EQ(SafeRelativePath(path), std::nullopt) << path;
}

TEST(Guards, OnlyTheReportIsServed) {
  for (const char* path : {"index.html", "findings.json", "report_data/x.js", "report_data/a/b.js"})
    EXPECT_TRUE(IsServedFile(path)) << path;
  for (const char* path : {"run.duckdb", "report_data", "report_data/", "report_data2/x", "x.html"})
    EXPECT_FALSE(IsServedFile(path)) << path;
}

}  // namespace guards_test
}  // namespace debrief::serve
