// debrief compile: what TORCH_TRACE logs tell; the drop-in for tlparse.
//
//   a log                  its tree
//   a folder with one      the same
//   a folder of rank logs  a tree a rank (rank_<N>/) and a landing page (--all-ranks-html)
//
// stdout and stderr carry what tlparse says; the tree appears all at once when everything is
// written.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>
#include <numeric>

#include "app/build_model.h"
#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/compile_logs.h"
#include "app/confine.h"
#include "app/folders/staged_folder.h"
#include "app/split_ranks.h"
#include "app/terminal.h"
#include "compat/tlparse/tree.h"
#include "model/model.h"
#include "outputs/compile_stacks.h"
#include "outputs/run_json.h"
#include "outputs/terminal/compile_summary/answers.h"
#include "tables/compile_log.h"
#include "tables/input.h"

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
    if (!options.compile_id.empty()) TRY(summary::CheckCompileId(model, options.compile_id));
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
  TRY(staged.Begin(options.runnable, {.overwrite = options.overwrite, .inputs = {options.path}}));
  ASSIGN_OR_RETURN(int written, summary::WriteRunnables(model, staged.path()));
  TRY(staged.Publish());
  PrintNote(fmt::format("{} files in {}", written, options.runnable));
  return {};
}

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

using outputs::tlparse_tree::MakePlan;
using outputs::tlparse_tree::TreeOptions;
using outputs::tlparse_tree::TreePlan;
using outputs::tlparse_tree::TreeScope;

bool IsFolder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

Status Usage(std::string text) { return Status(Code::kUsage, std::move(text)); }

// tlparse's own complaints.
Status CheckOptions(const CompileOptions& options) {
  if (options.latest && options.all_ranks)
    return Usage("--latest cannot be used with --all-ranks-html");
  if (options.latest && !IsFolder(options.path))
    return Usage(fmt::format("Input path {} is not a directory (required when using --latest)",
                             options.path));
  if (CheckPaths({&options.path, 1}).ok()) return {};
  return Usage(options.all_ranks
                   ? fmt::format("Input path {} must be a directory when using --all-ranks-html",
                                 options.path)
                   : fmt::format("{} is not a file", options.path));
}

int64_t EntryCount(const Model& model) {
  const auto& logs = model.tables.Get<CompileLogTable>();
  return std::accumulate(logs.entries.begin(), logs.entries.end(), int64_t{0});
}

// The template with commit and branch filled in; path and line differ from frame to frame.
std::string SourceLink(const CompileOptions& options) {
  const std::pair<std::string_view, std::string_view> values[] = {{"{commit}", options.commit},
                                                                  {"{branch}", options.branch}};
  std::string link;
  for (std::string_view rest = options.source_link; !rest.empty();) {
    std::string_view put = rest.substr(0, 1);
    size_t taken = 1;
    for (const auto& [name, value] : values) {
      if (!rest.starts_with(name)) continue;
      put = value;
      taken = name.size();
    }
    link += put;
    rest.remove_prefix(taken);
  }
  return link;
}

class CompileRun {
 public:
  CompileRun(const CompileOptions& options, const GlobalOptions& global)
      : options_(options), global_(global), pool_(ThreadCount(global)) {
    tree_ = {.compat = options.compat,
             .plain_text = options.plain_text,
             .export_report = options.export_report,
             .provenance = options.inductor_provenance,
             .custom_header_html = options.custom_header_html,
             .source_link = SourceLink(options),
             .source_strip = options.strip};
  }

  Status Run() {
    TRY(CheckOptions(options_));
    if (options_.latest) {
      ASSIGN_OR_RETURN(options_.path, NewestFile(options_.path));
    }
    is_folder_ = IsFolder(options_.path);
    if (AsksForAnswer(options_)) {
      TRY(ReadLogs());
      return PrintCompileAnswer(model_, options_, global_);
    }
    StagedFolder staged;
    const bool is_tree = options_.split_ranks.empty();
    TRY(staged.Begin(
        is_tree ? options_.output : options_.split_ranks,
        {.overwrite = options_.overwrite, .inputs = {options_.path}, .is_tlparse_tree = is_tree}));
    TRY(ReadLogs());
    TRY(is_tree ? WriteTrees(staged.path()) : SplitRanks(model_, staged.path()));
    TRY(staged.Publish());
    Report();
    return {};
  }

  const Model& model() const { return model_; }

 private:
  Status ReadLogs() {
    budget_.folder = TemporaryFolder();
    BuildModel(
        {.paths = {options_.path},
         .output_folder = options_.output,
         .select = [&](std::vector<FoundInput>& inputs) { KeepLogs(options_, is_folder_, inputs); },
         .derived_tables = WantedTables()},
        global_, budget_, model_);
    attempts_ = FindAttempts(model_);
    if (model_.tables.Get<CompileLogTable>().size() > 0) return {};
    // A summary says itself that a text tells nothing.
    if (options_.summary && model_.tables.Get<InputTable>().size() > 0) return {};
    std::string_view form = options_.all_ranks ? "No rank log files found in directory {}"
                            : is_folder_       ? "No TORCH_TRACE logs found in directory {}"
                                               : "{} is not a file";
    return Status(Code::kNotFound, fmt::format(fmt::runtime(form), options_.path));
  }

  // A tree alone shows no findings and few tables; everything else may show all there is.
  std::optional<std::span<const std::string_view>> WantedTables() const {
    bool tree_only = !AsksForAnswer(options_) && !global_.json && !options_.fail_on;
    if (!tree_only) return std::nullopt;
    return outputs::tlparse_tree::DerivedTables();
  }

  // The attempt to show, and whether its ranks stand side by side.
  Status WriteTrees(const std::string& folder) {
    shown_ = ChooseAttempt(attempts_);
    if (options_.attempt > 0) {
      shown_ = static_cast<size_t>(options_.attempt) - 1;
      if (shown_ >= attempts_.size())
        return Usage(fmt::format("there is no attempt {}: the logs have {}", options_.attempt,
                                 attempts_.size()));
    }
    bool several = shown_ < attempts_.size() && HasSeveralRanks(attempts_[shown_]);
    if (options_.all_ranks && !is_folder_ && !several) {
      return Usage(fmt::format("Input path {} must be a directory when using --all-ranks-html",
                               options_.path));
    }
    bool side_by_side = options_.all_ranks || (is_folder_ && several);
    return side_by_side ? WriteRanks(folder) : WriteOne(folder);
  }

  static bool HasSeveralRanks(const CompileAttempt& attempt) {
    return attempt.logs.size() > 1 && attempt.logs.front().rank != attempt.logs.back().rank;
  }

  // One log as tlparse sees it: all its process lives, unless one was asked for.
  TreeScope ScopeOfOne() const {
    const auto& logs = model_.tables.Get<CompileLogTable>();
    if (attempts_.empty()) return {.input = logs.input[0]};
    const CompileAttempt& attempt = attempts_[shown_];
    TreeScope scope{.input = attempt.logs.front().input};
    if (options_.attempt > 0) scope.life = attempt.logs.front().life;
    return scope;
  }

  Status WriteOne(const std::string& folder) {
    TreePlan plan = MakePlan(model_, ScopeOfOne(), tree_);
    if (plan.rank != kNone32 && !options_.export_report)
      Note(fmt::format("Detected rank: Some({})", plan.rank));
    TRY(CheckStrict(plan));
    TRY(WriteTree(model_, plan, tree_, false, pool_, folder));
    ReportLog(plan);
    return {};
  }

  Status WriteRanks(const std::string& folder) {
    std::vector<TreePlan> plans;
    if (shown_ < attempts_.size()) {
      for (const TreeScope& scope : attempts_[shown_].logs) {
        if (scope.rank == kNone32) {
          Note(fmt::format("{}: names no rank and is left out", PathOf(scope.input)));
        } else {
          plans.push_back(MakePlan(model_, ScopeOfRank(scope), tree_));
        }
      }
    }
    if (plans.empty())
      return Status(Code::kNotFound,
                    fmt::format("No rank log files found in directory {}", options_.path));
    for (TreePlan& plan : plans) TRY(WriteRank(plan, folder));
    std::vector<std::string> written;
    TRY(WriteLanding(model_, plans, tree_, pool_, folder, written));
    ReportLanding(written);
    return {};
  }

  std::string_view PathOf(int32_t input) const {
    return model_.pools.Text(model_.tables.Get<InputTable>().path[static_cast<size_t>(input)]);
  }

  // A log of one rank is taken whole, as tlparse does.
  TreeScope ScopeOfRank(TreeScope scope) const {
    const auto& logs = model_.tables.Get<CompileLogTable>();
    for (size_t i = 0; i < logs.size(); ++i) {
      if (logs.input[i] != scope.input) continue;
      scope.rank_asked = model_.pools.lists.Get(logs.ranks[i]).size() > 1;
      if (logs.lives[i] <= 1) scope.life = kNone32;
    }
    return scope;
  }

  Status WriteRank(TreePlan& plan, const std::string& folder) {
    std::string name = fmt::format("rank_{}", plan.rank);
    if (!global_.json)
      StdoutSink().Write(
          fmt::format("Processing rank {} \u2192 {}/{}\n", plan.rank, options_.output, name));
    TRY(CheckStrict(plan));
    std::string path = folder + "/" + name;
    if (mkdir(path.c_str(), 0777) != 0)
      return Status(Code::kDenied, "cannot make the folder").At({.file = path});
    TRY(WriteTree(model_, plan, tree_, true, pool_, path));
    ReportLog(plan);
    return {};
  }

  Status CheckStrict(const TreePlan& plan) const {
    if (options_.export_report) return {};
    if (options_.strict && plan.stats.Failed()) {
      Note(plan.stats.Text());
      return Usage("Something went wrong");
    }
    if (options_.strict_compile_id && plan.broken_ids)
      return Usage("Some log entries did not have compile id");
    return {};
  }

  void Note(const std::string& text) const {
    if (!global_.quiet) PrintNote(text);
  }

  // What tlparse says of one log.
  void ReportLog(const TreePlan& plan) const {
    if (options_.export_report) return;
    for (const std::string& message : plan.messages) Note(message);
    if (options_.verbose) {
      for (const std::string& key : plan.unknown_keys) Note("Unknown field " + key);
    }
    Note(plan.stats.Text());
    if (plan.unknown_keys.empty()) return;
    std::string keys;
    for (const std::string& key : plan.unknown_keys)
      keys += fmt::format("{}\"{}\"", keys.empty() ? "" : ", ", key);
    Note(fmt::format("Unknown fields: {{{}}} (consider updating debrief to render these)", keys));
  }

  void ReportLanding(const std::vector<std::string>& written) const {
    if (global_.json) return;
    std::string text;
    for (const std::string& file : written) {
      if (file == "runtime_estimations.json") text += "Runtime estimations: " + file + "\n";
      if (file == "collective_schedules.json") text += "Collective schedules: " + file + "\n";
    }
    text +=
        fmt::format("Multi-rank report generated under {}\nIndividual pages: rank_*/index.html\n",
                    options_.output);
    StdoutSink().Write(text);
  }

  // What is ours to say, once everything is written.
  void Report() const {
    if (global_.json) {
      StdoutSink sink;
      sink.Write(RunJson(model_, 1));
    }
    if (attempts_.size() > 1 && !global_.quiet)
      PrintNotes(DescribeAttempts(model_, attempts_, shown_) + "\n");
    const bool is_tree = options_.split_ranks.empty();
    if (std::string losses = is_tree ? "" : DescribeLosses(model_); !losses.empty()) Note(losses);
    if (EntryCount(model_) == 0) Note(fmt::format("{} has no TORCH_TRACE entries", options_.path));
    Note(is_tree ? fmt::format("wrote {}/index.html", options_.output)
                 : fmt::format("wrote {}/", options_.split_ranks));
    if (is_tree && !options_.no_browser) OpenInBrowser(options_.output + "/index.html");
  }

  CompileOptions options_;
  GlobalOptions global_;
  TreeOptions tree_;
  SpillBudget budget_;
  Model model_;
  ThreadPool pool_;
  std::vector<CompileAttempt> attempts_;
  size_t shown_ = 0;
  bool is_folder_ = false;
};

// As tlparse writes it; the name that was probably meant stands below.
void PrintTlparseError(const Status& status, const std::string& path) {
  std::string text = status.message();
  if (!status.place().file.empty()) text = status.place().file + ": " + text;
  if (!status.remedy().empty()) text += ". " + status.remedy() + ".";
  PrintNote("Error: " + text);
  const Status missing = CheckPaths({&path, 1});
  if (missing.remedy().starts_with("Did you mean")) PrintNote(missing.remedy());
}

}  // namespace

int RunCompile(const CompileOptions& options, const GlobalOptions& global) {
  CompileRun run(options, global);
  Status status = run.Run();
  if (status.ok()) return ExitCodeOf(run.model(), options.fail_on);
  PrintTlparseError(status, options.path);
  return 1;
}

}  // namespace debrief
