// The answers as a file of a report: `debrief PATH --with op_answers`.
#include "outputs/output.h"

#include "base/bytes/write_file.h"
#include "outputs/string_sink.h"
#include "outputs/terminal/op_answers/answers.h"

namespace debrief::outputs::op_answers {

namespace {

Status Write(const Model& model, const OutputContext& context) {
  const OpsOptions options = {.width = 160};
  StringSink text;
  WriteText(AnswerOps(model, options), options, text);
  return WriteFileAtomically(context.folder + "/op_answers.txt", text.text());
}

}  // namespace

const Output& Describe() {
  static const Output kOutput = {
      .info = {.name = "op_answers",
               .sentence = "what recorded ops tell, as text: totals, ops, devices, communication",
               .file = "op_answers.txt",
               .on_request = true},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::op_answers
