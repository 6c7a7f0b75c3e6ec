// Requests byte by byte, and what becomes of ranges and queries.
#include "serve/http.h"

#include <gtest/gtest.h>

namespace debrief::serve {
namespace http_test {

constexpr std::string_view kGood =
    "GET /t/api/query?sql=a+b%26&limit=3 HTTP/1.1\r\nhOST:  127.0.0.1:8 \r\nRange: bytes=0-1\r\n"
    "\r\n";

Parsed Parse(std::string_view bytes) {
  Request request;
  size_t used = 0;
  return ParseRequest(bytes, request, used);
}

TEST(Http, ReadsARequest) {
  Request request;
  size_t used = 0;
  ASSERT_EQ(ParseRequest(std::string(kGood) + "GET", request, used), Parsed::kDone);
  EXPECT_EQ(used, kGood.size());
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/t/api/query");
  EXPECT_EQ(request.host, "127.0.0.1:8");
  EXPECT_EQ(request.range, "bytes=0-1");
  EXPECT_FALSE(request.origin);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_EQ(QueryValue(request.query, "sql"), "a b&");
  EXPECT_EQ(QueryValue(request.query, "limit"), "3");
  EXPECT_EQ(QueryValue(request.query, "lim"), std::nullopt);
}

TEST(Http, WaitsForTheEndOfTheHead) {
  for (size_t length = 0; length < kGood.size(); ++length)
    EXPECT_EQ(Parse(kGood.substr(0, length)), Parsed::kIncomplete) << length;
}

TEST(Http, RefusesWhatIsAmbiguous) {
  const std::string head = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (const std::string& bytes :
       {std::string("\r\n\r\n"), std::string("GET /\r\n\r\n"),
        std::string("GET  / HTTP/1.1\r\n\r\n"), std::string("GET / HTTP/2.0\r\n\r\n"),
        std::string("GET x HTTP/1.1\r\n\r\n"), head + "Host: b\r\n\r\n", head + " folded\r\n\r\n",
        head + "Name : x\r\n\r\n", head + "no colon\r\n\r\n", head + "a: b\nc: d\r\n\r\n",
        head + ": x\r\n\r\n", std::string("GET /\x01 HTTP/1.1\r\n\r\n")})
    EXPECT_EQ(Parse(bytes), Parsed::kBad) << bytes;
  EXPECT_EQ(Parse(std::string(kMaxHeadBytes + 1, 'x')), Parsed::kBad);
}

TEST(Http, KnowsWhenToCloseAndWhatHasABody) {
  Request request;
  size_t used = 0;
  ASSERT_EQ(ParseRequest("GET / HTTP/1.0\r\n\r\n", request, used), Parsed::kDone);
  EXPECT_FALSE(request.keep_alive);
  ASSERT_EQ(ParseRequest("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n", request, used),
            Parsed::kDone);
  EXPECT_FALSE(request.keep_alive);
  ASSERT_EQ(ParseRequest("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", request, used),
            Parsed::kDone);
  EXPECT_TRUE(request.has_body);
}

TEST(Http, AnswersCarryTheirGuards) {
  std::string head = HeadOf(TextResponse(404, "no"), false);
  EXPECT_TRUE(head.starts_with("HTTP/1.1 404 Not Found\r\n"));
  for (const char* line : {"Content-Length: 3\r\n", "X-Content-Type-Options: nosniff\r\n",
                           "Cache-Control: no-store\r\n", "Connection: close\r\n\r\n"})
    EXPECT_NE(head.find(line), std::string_view::npos) << line;
}

struct RangeCase {
  const char* text;
  RangeKind kind;
  int64_t first, length;
};

TEST(Http, Ranges) {
  constexpr RangeCase kCases[] = {
      {"bytes=0-9", RangeKind::kPart, 0, 10},
      {"bytes=90-", RangeKind::kPart, 90, 10},
      {"bytes=90-200", RangeKind::kPart, 90, 10},
      {"bytes=-10", RangeKind::kPart, 90, 10},
      {"bytes=-200", RangeKind::kPart, 0, 100},
      {"bytes=100-", RangeKind::kUnsatisfiable, 0, 0},
      {"bytes=-0", RangeKind::kUnsatisfiable, 0, 0},
      {"bytes=9-0", RangeKind::kWhole, 0, 0},
      {"bytes=0-1,3-4", RangeKind::kWhole, 0, 0},
      {"lines=0-1", RangeKind::kWhole, 0, 0},
      {"bytes=", RangeKind::kWhole, 0, 0},
      {"bytes=--1", RangeKind::kWhole, 0, 0},
      {"bytes=0-99999999999999999999", RangeKind::kWhole, 0, 0},
  };
  for (const RangeCase& one : kCases) {
    ByteRange range;
    EXPECT_EQ(ParseRange(one.text, 100, range), one.kind) << one.text;
    EXPECT_EQ(range.first, one.first) << one.text;
    EXPECT_EQ(range.length, one.length) << one.text;
  }
  ByteRange range;
  EXPECT_EQ(ParseRange("bytes=0-", 0, range), RangeKind::kUnsatisfiable);
}

TEST(Http, BrokenEscapesAreNoText) {
  EXPECT_EQ(PercentDecode("%41%62+", true), "Ab ");
  EXPECT_EQ(PercentDecode("+", false), "+");
  for (const char* text : {"%", "%4", "%4g", "a%"})
    EXPECT_EQ(PercentDecode(text, true), std::nullopt);
}

}  // namespace http_test
}  // namespace debrief::serve
