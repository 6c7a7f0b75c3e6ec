#include "app/compile_answers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <limits>

#include "app/staged_folder.h"
#include "app/terminal.h"
#include "outputs/compile_stacks.h"
#include "outputs/terminal/compile_summary/graph_text.h"
#include "outputs/terminal/compile_summary/runnable.h"
#include "outputs/terminal/compile_summary/summary.h"

namespace debrief {

namespace {

namespace summary = outputs::compile_summary;

// Only a terminal has an edge.
size_t Width() {
  return isatty(STDOUT_FILENO) != 0 ? static_cast<size_t>(TerminalWidth())
                                    : std::numeric_limits<size_t>::max();
}

Result<std::string> AnswerText(const Model& model, const CompileOptions& options,
                               const GlobalOptions& global) {
  if (options.summary) {
    summary::SummaryOptions wanted{.width = Width(), .compile_id = options.compile_id};
    return global.json ? summary::SummaryJson(model, wanted) : summary::SummaryText(model, wanted);
  }
  if (!options.against.empty())
    return summary::GraphDifference(model, options.against, options.graph, Width());
  if (!options.graph.empty()) return summary::GraphTable(model, options.graph, Width());
  if (options.dot) return outputs::Dot(model);
  auto samples = outputs::MakeSamples(model);
  return options.collapsed ? outputs::Collapsed(model, samples)
                           : outputs::Speedscope(model, samples);
}

Status WriteRunnableFiles(const Model& model, const CompileOptions& options) {
  StagedFolder staged;
  TRY(staged.Begin(options.runnable, options.overwrite));
  ASSIGN_OR_RETURN(int written, summary::WriteRunnables(model, staged.path()));
  TRY(staged.Publish());
  PrintNote(fmt::format("{} files in {}", written, options.runnable));
  return {};
}

}  // namespace

bool AsksForAnswer(const CompileOptions& options) {
  return options.summary || !options.graph.empty() || options.collapsed || options.speedscope ||
         options.dot || !options.runnable.empty();
}

Status PrintCompileAnswer(const Model& model, const CompileOptions& options,
                          const GlobalOptions& global) {
  if (!options.runnable.empty()) return WriteRunnableFiles(model, options);
  ASSIGN_OR_RETURN(std::string text, AnswerText(model, options, global));
  StdoutSink().Write(text);
  return {};
}

}  // namespace debrief
