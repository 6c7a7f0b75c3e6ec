#include "mcp/protocol.h"

#include <gtest/gtest.h>

#include <string>

#include "mcp/line_reader.h"

namespace debrief::mcp {
namespace {

constexpr std::string_view kMeta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

std::string Call(std::string_view tool, std::string_view arguments) {
  return std::string(R"({"jsonrpc":"2.0","id":"x","method":"tools/call","params":{)") +
         std::string(kMeta) + R"(,"name":")" + std::string(tool) + R"(","arguments":)" +
         std::string(arguments) + "}}";
}

TEST(McpProtocol, ACallBecomesWorkWithItsArguments) {
  Protocol protocol;
  const Reaction reaction =
      protocol.Take(Call("query_sql", R"({"report":"r1","sql":"SELECT \"a\"\n","limit":7})"));
  ASSERT_TRUE(reaction.work.has_value());
  EXPECT_TRUE(reaction.answer.empty());
  EXPECT_TRUE(reaction.work->is_modern);
  EXPECT_EQ(reaction.work->id, "\"x\"");
  EXPECT_EQ(reaction.work->arguments.Text("sql"), "SELECT \"a\"\n");
  EXPECT_EQ(reaction.work->arguments.Number("limit", 200), 7);
  EXPECT_EQ(reaction.work->arguments.Number("offset", 3), 3);
}

TEST(McpProtocol, ArgumentsThatDoNotFitAreToldToTheModel) {
  Protocol protocol;
  for (const char* arguments :
       {R"({})", R"({"report":1,"sql":""})", R"({"report":"r","sql":"","limit":"7"})",
        R"({"report":"r","sql":"","limit":1e99})", R"({"report":"r","sql":"","other":1})"}) {
    const Reaction reaction = protocol.Take(Call("query_sql", arguments));
    EXPECT_FALSE(reaction.work.has_value()) << arguments;
    EXPECT_NE(reaction.answer.find("\"isError\":true"), std::string::npos) << reaction.answer;
  }
}

TEST(McpProtocol, TheLastOfTwoValuesOfAKeyCounts) {
  Protocol protocol;
  const Reaction reaction = protocol.Take(Call("open_job", R"({"path":"a","path":"b"})"));
  ASSERT_TRUE(reaction.work.has_value());
  EXPECT_EQ(reaction.work->arguments.Text("path"), "b");
}

TEST(McpProtocol, AKeyThatLooksLikeAPathIsNone) {
  Protocol protocol;
  const Reaction reaction =
      protocol.Take(R"({"jsonrpc":"2.0","id":1,"params.name":"open_job","method":"ping"})");
  EXPECT_EQ(reaction.answer, R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST(McpProtocol, CancellingNamesTheIdAsJson) {
  Protocol protocol;
  EXPECT_EQ(protocol
                .Take(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                      R"("params":{"requestId":"a"}})")
                .cancelled,
            "\"a\"");
  EXPECT_EQ(protocol
                .Take(R"({"jsonrpc":"2.0","method":"notifications/cancelled",)"
                      R"("params":{"requestId":12}})")
                .cancelled,
            "12");
}

TEST(McpLineReader, LinesComeInAnyPieces) {
  const std::string text = "one\r\n\ntwo\nlast";
  for (size_t bytes = 1; bytes <= text.size(); ++bytes) {
    LineReader reader(10);
    std::string seen;
    std::string_view line;
    for (size_t at = 0; at < text.size(); at += bytes) {
      std::string_view piece = std::string_view(text).substr(at, bytes);
      while (!piece.empty())
        if (reader.Take(piece, line) == LineReader::Kind::kLine) seen += std::string(line) + "|";
    }
    EXPECT_EQ(reader.TakeRest(line), LineReader::Kind::kLine);
    EXPECT_EQ(seen + std::string(line), "one||two|last") << bytes;
    EXPECT_EQ(reader.TakeRest(line), LineReader::Kind::kNone);
  }
}

TEST(McpLineReader, ALongLineIsForgottenAndTheNextOneIsWhole) {
  LineReader reader(4);
  std::string_view bytes = "12345678\n1234\n", line;
  EXPECT_EQ(reader.Take(bytes, line), LineReader::Kind::kTooLong);
  EXPECT_EQ(reader.Take(bytes, line), LineReader::Kind::kLine);
  EXPECT_EQ(line, "1234");
}

}  // namespace
}  // namespace debrief::mcp
