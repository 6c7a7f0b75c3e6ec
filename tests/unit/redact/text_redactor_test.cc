#include "redact/text_redactor.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "redact/learner.h"

namespace debrief::redact {
namespace text_redactor_test {

// What becomes of a text whose names were learned from itself.
std::string Redacted(std::string_view text, const Options& options = {}) {
  Names names;
  Learner(names).Learn(text);
  names.Settle();
  Counts counts = {};
  std::string out;
  TextRedactor(names, options, counts).Redact(text, out);
  return out;
}

struct Case {
  std::string_view text;
  std::string_view expected;
};

TEST(TextRedactor, ReplacesSecrets) {
  for (const auto& [text, expected] : {
           Case{"x hf_AbCdEfGhIjKlMnOpQrSt y", "x REDACTED_TOKEN y"},
           {"AKIAIOSFODNN7EXAMPLE.", "REDACTED_TOKEN."},
           {"https://hooks.slack.com/services/T0/B0/abcdef",
            "https://hooks.slack.com/services/REDACTED_TOKEN"},
           {"DB_PASSWORD=a b", "DB_PASSWORD=REDACTED b"},
           {"f(password=a, n=1)", "f(password=REDACTED, n=1)"},
           {R"({"password": "a\"b", "n": 1})", R"({"password": "REDACTED", "n": 1})"},
           {R"({"password": 12, "n": 1})", R"({"password": "REDACTED", "n": 1})"},
           {R"("{\"apiKey\": \"abcdef1\"}")", R"("{\"apiKey\": \"REDACTED\"}")"},
           {"?a=1&sig=abcdef%2F&b=2", "?a=1&sig=REDACTED&b=2"},
           {"PGPASSWORD=a HFTOKEN=abcdef1", "PGPASSWORD=REDACTED HFTOKEN=REDACTED"},
           {"<password>a b</password>", "<password>REDACTED</password>"},
           {"a:\n  password: |\n    x\n    y\n  b: 1", "a:\n  password: |\n    REDACTED\n  b: 1"},
           {"your API key: abc123", "your API key: REDACTED"},
           {"curl -u me:pw http://x/", "curl -u REDACTED http://x/"},
           {"wandb login 0123456789abcdef0123456789abcdef01234567", "wandb login REDACTED_TOKEN"},
           {R"("{\"password\": \"a\\\"b\", 1}")", R"("{\"password\": \"REDACTED\", 1}")"},
           {"--token abcdef1 -v", "--token REDACTED -v"},
           {"Authorization: Bearer abc", "Authorization: REDACTED"},
           {"say Bearer abcdefgh.ijkl now", "say Bearer REDACTED_TOKEN now"},
           {"https://me:pw@h.example/x", "https://REDACTED@host-0.example/x"},
           {"mail a.b@c.example now", "mail person-1@example.com now"},
           {"10.1.2.3:80 10.1.2.4 10.1.2.3", "198.18.0.1:80 198.18.0.2 198.18.0.1"},
           {"[fe80::1:2]:80", "[2001:db8::0:1]:80"},
           {"/home/ann/a.py of ann", "/home/user-1/a.py of user-1"},
           {R"("C:\\Users\\ann\\a.py")", R"("C:\\Users\\user-1\\a.py")"},
           {"SLURMD_NODENAME=gpu17 on gpu17", "SLURMD_NODENAME=host-0 on host-0"},
           {"trainer.corp.internal self.cfg.local block2.net",
            "host-0.example self.cfg.local block2.net"},
           {"n7:1:2 [0] NCCL INFO n7", "host-0:1:2 [0] NCCL INFO host-0"},
           {"MASTER_ADDR=nodex7.hpc.corp.internal nodex7", "MASTER_ADDR=host-0.example host-0"},
       })
    EXPECT_EQ(Redacted(text), expected);
}

TEST(TextRedactor, LeavesTheRestAlone) {
  for (std::string_view text : {"unexpected token: newline",
                                "sig=SIGTERM",
                                "PWD=/tmp/x",
                                "commit 0123456789abcdef0123456789abcdef01234567",
                                "c10::add(",
                                "step 5 loss 2.31",
                                "eos_token: </s>",
                                "num_tokens=4096",
                                "token: 512",
                                "cudnn==9.1.0.70",
                                "std::vector<c10::Error>",
                                "12:34:56.789",
                                "0000:4b:00.0",
                                "127.0.0.1:29500",
                                "[::1]:80",
                                "sk-learn",
                                "hf_model",
                                "password: None",
                                "cache_key=abcdef",
                                "if token == other:",
                                "/home/user/train.py",
                                "@torch.compile",
                                "a@b",
                                "",
                                "-----BEGIN CERTIFICATE-----\nabc"})
    EXPECT_EQ(Redacted(text), text);
}

TEST(TextRedactor, KeyOverSeveralCalls) {
  Names names;
  names.Settle();
  Counts counts = {};
  std::string out;
  TextRedactor redactor(names, {}, counts);
  for (std::string_view line :
       {"[rank0]:-----BEGIN PRIVATE KEY-----\n", "[rank0]:MIIEowIBAAKCAQEA\n", "[rank0]:Qw==\n",
        "[rank0]:-----END PRIVATE KEY-----\n", "MIIEowIB\n"})
    redactor.Redact(line, out);
  EXPECT_EQ(out,
            "[rank0]:-----BEGIN PRIVATE KEY-----\n[rank0]:REDACTED\n[rank0]:REDACTED\n"
            "[rank0]:-----END PRIVATE KEY-----\nMIIEowIB\n");
  EXPECT_EQ(counts[static_cast<size_t>(Secret::kPrivateKey)], 1U);
}

TEST(TextRedactor, KeepsLengths) {
  Names names;
  names.AddHost("node17");
  names.Settle();
  Counts counts = {};
  std::string out;
  TextRedactor redactor(names, {}, counts);
  redactor.KeepLengths();
  redactor.Redact("Ahf_AbCdEfGhIjKlMnOpQrSt Bnode17C", out);
  EXPECT_EQ(out, "AREDACTED_TOKENxxxxxxxxx Bhost-0C");
}

TEST(TextRedactor, HidesShapesAndFiles) {
  const Options both{.shapes = true, .files = true};
  EXPECT_EQ(Redacted("size torch.Size([4096, 77, 4096])", both),
            "size torch.Size([1001, 1002, 1001])");
  EXPECT_EQ(Redacted(R"("Input Dims": [[8], []], "n": 8)", both),
            R"("Input Dims": [[1001], []], "n": 8)");
  EXPECT_EQ(Redacted("File \"/home/user/p/m.py\", line 3", both),
            "File \"/home/folder-1/folder-2/file-1.py\", line 3");
  EXPECT_EQ(Redacted("/x/site-packages/torch/a.py", both), "/x/site-packages/torch/a.py");
}

// Names that begin alike, and pieces without an end, cost what their bytes cost.
TEST(TextRedactor, HostileTextsAreLinear) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "password\\\\\\\"a@";
  EXPECT_GT(Redacted(text).size(), 1000U);
  EXPECT_EQ(Redacted(std::string(1 << 20, '[')).size(), size_t{1} << 20);
  EXPECT_EQ(Redacted(std::string(1 << 20, ':')).size(), size_t{1} << 20);
  EXPECT_EQ(Redacted(std::string(1 << 20, '1')).size(), size_t{1} << 20);
}

}  // namespace text_redactor_test
}  // namespace debrief::redact
