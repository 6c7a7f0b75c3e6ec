#include "torch/log_message.h"

#include <gtest/gtest.h>

namespace debrief {
namespace log_message_test {

TEST(LogMessage, WithoutWhatTheLoggerPutInFront) {
  EXPECT_EQ(
      LogMessage("[E1115 02:47:56.485379059 ProcessGroupNCCL.cpp:612] [Rank 1] Collective hung"),
      "Collective hung");
  EXPECT_EQ(
      LogMessage("[E1115 23:24:59.2 PG.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank 0] Received"),
      "Received");
  EXPECT_EQ(
      LogMessage("E1115 23:22:10.130000 1320 torch/distributed/api.py:986] failed (exitcode: -9)"),
      "failed (exitcode: -9)");
  EXPECT_EQ(
      LogMessage("[2026-11-15 02:42:15,000] torch.distributed.api: [ERROR] failed (exitcode: 1)"),
      "failed (exitcode: 1)");
  for (const char* plain : {"ValueError: bad batch", "[rank 3] text", "[E1115", ""})
    EXPECT_EQ(LogMessage(plain), plain);
}

TEST(LogMessage, AQuoteKeepsWhichWorkAndWhatIsSaidOfIt) {
  EXPECT_EQ(
      QuotedMessage("[E1115 02:47:56.4 P.cpp:612] [Rank 1] Collective WorkNCCL(SeqNum=17, "
                    "OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=10000) raised: x"),
      "Collective WorkNCCL(SeqNum=17, OpType=ALLREDUCE, ...) raised: x");
  EXPECT_EQ(QuotedMessage("WorkNCCL(SeqNum=17, OpType=ALLREDUCE, NumelIn=5"),
            "WorkNCCL(SeqNum=17, OpType=ALLREDUCE, NumelIn=5");
}

}  // namespace log_message_test
}  // namespace debrief
