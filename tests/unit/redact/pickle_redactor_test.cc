#include "redact/pickle_redactor.h"

#include <gtest/gtest.h>

#include <string>

namespace debrief::redact {
namespace pickle_redactor_test {

struct Outcome {
  Status status;
  std::string bytes;
};

Outcome RunOn(std::string pickle) {
  Names names;
  names.AddHost("node17");
  names.Settle();
  Counts counts = {};
  TextRedactor texts(names, {}, counts);
  auto source = MakeMemorySource(std::move(pickle));
  Outcome outcome;
  outcome.status = RedactPickle(*source, texts, nullptr, counts, [&](std::string_view bytes) {
    outcome.bytes += bytes;
    return Status();
  });
  return outcome;
}

TEST(PickleRedactor, WritesNewLengthsAndNoFrames) {
  // b'\x80\x04\x95\x0a...' of pickle.dumps("node17!")
  const Outcome outcome =
      RunOn(std::string("\x80\x04\x95\x0b\0\0\0\0\0\0\0\x8c\x07node17!\x94.", 22));
  EXPECT_TRUE(outcome.status.ok());
  EXPECT_EQ(outcome.bytes, std::string("\x80\x04\x8c\x07host-0!\x94.", 13));
}

TEST(PickleRedactor, GrowsAShortText) {
  // Each "/ node17 ..." of 255 bytes stays as long; a text that outgrows one byte of length gets
  // four.
  const std::string text = "a@b.example " + std::string(243, 'x');
  const Outcome outcome = RunOn("\x8c\xff" + text + ".");
  const std::string longer = "person-1@example.com " + std::string(243, 'x');
  EXPECT_EQ(outcome.bytes, "X" + std::string("\x08\x01\0\0", 4) + longer + ".");
}

TEST(PickleRedactor, RefusesCodeAndKeepsWhatIsWhole) {
  EXPECT_EQ(RunOn("cos\nsystem\n.").status.code(), Code::kUnsupported);
  EXPECT_EQ(RunOn("\xff").status.code(), Code::kInvalid);
  const Outcome cut = RunOn(std::string("\x80\x02X\x40\0\0\0node17", 13));
  EXPECT_TRUE(cut.status.ok());
  EXPECT_EQ(cut.bytes, "\x80\x02");
}

}  // namespace pickle_redactor_test
}  // namespace debrief::redact
