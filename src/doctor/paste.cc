#include "doctor/paste.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "base/json/writer.h"
#include "base/text/columns.h"
#include "base/text/newlines.h"
#include "base/text/safe_name.h"

namespace debrief::doctor {

namespace {

std::string LogsOf(const ShowOptions& options) {
  if (!options.logs.empty()) return options.logs;
  if (options.target == Target::kSbatch) return "$SLURM_SUBMIT_DIR/logs/$SLURM_JOB_ID";
  return options.target == Target::kK8s ? "/logs" : "$PWD/logs";
}

// `value` with the variable that holds the folder, or the folder itself where there is no shell.
std::string WithLogs(std::string value, std::string_view logs) {
  constexpr std::string_view kMark = "{logs}";
  for (size_t at = 0; (at = value.find(kMark, at)) != std::string::npos; at += logs.size())
    value.replace(at, kMark.size(), logs);
  return value;
}

// The fixes of all advices, each once; a later one of the same name is what an earlier one said.
std::vector<Fix> AllFixes(const std::vector<Advice>& advices, Fix::Kind kind) {
  std::vector<Fix> fixes;
  std::set<std::string> seen;
  for (const Advice& advice : advices) {
    for (const Fix& fix : advice.fixes)
      if (fix.kind == kind && seen.insert(fix.name).second) fixes.push_back(fix);
  }
  return fixes;
}

bool NeedsLogs(const std::vector<Advice>& advices) {
  return std::ranges::any_of(advices, [](const Advice& advice) {
    return std::ranges::any_of(advice.fixes, [](const Fix& fix) {
      return fix.kind != Fix::Kind::kPython && fix.value.find("{logs}") != std::string::npos;
    });
  });
}

std::string_view LauncherWord(const Setup& setup) {
  switch (setup.launcher) {
    case Launcher::kAccelerate:
      return "accelerate launch";
    case Launcher::kDeepspeed:
      return "deepspeed";
    case Launcher::kSrun:
      return "srun";
    case Launcher::kMpirun:
      return "mpirun";
    default:
      return "torchrun";
  }
}

// A value of ours as a word of a shell that still replaces variables in it.
std::string Quoted(const std::string& value) {
  const bool is_plain = value.find_first_of(" $%/") == std::string::npos;
  return is_plain ? value : fmt::format("\"{}\"", value);
}

// The launcher with the options that it lacks, behind srun where that has to hand variables on;
// empty when nothing is lacking.
std::string LauncherLine(const std::vector<Advice>& advices, const Setup& setup,
                         std::string_view logs, bool is_sbatch) {
  const bool is_srun = setup.launcher == Launcher::kSrun;
  bool hands_on = is_sbatch && !is_srun && setup.MayBeDistributed();
  std::string options;
  for (const Fix& fix : AllFixes(advices, Fix::Kind::kLauncherOption)) {
    const bool is_export = fix.name.starts_with("srun ");
    hands_on |= is_export;
    if (!is_export) options += fmt::format(" {} {}", fix.name, Quoted(WithLogs(fix.value, logs)));
  }
  if (options.empty() && !hands_on) return "";
  const std::string_view launcher = options.empty() && !is_srun ? "" : LauncherWord(setup);
  const std::string_view before = !hands_on ? "" : is_srun ? "" : "srun --export=ALL ";
  const std::string_view after = hands_on && is_srun ? " --export=ALL" : "";
  return fmt::format("{}{}{}{}{}...\n", before, launcher, after, options,
                     launcher.empty() ? "" : " ");
}

std::string ShellLines(const std::vector<Advice>& advices, const Setup& setup,
                       const ShowOptions& options) {
  constexpr std::string_view kVariable = "$EVIDENCE";
  std::string text;
  if (NeedsLogs(advices))
    text += fmt::format("export EVIDENCE=\"{}\"\nmkdir -p \"$EVIDENCE\"\n", LogsOf(options));
  for (const Fix& fix : AllFixes(advices, Fix::Kind::kRemove))
    text += fmt::format("unset {}\n", fix.name);
  for (const Fix& fix : AllFixes(advices, Fix::Kind::kVariable)) {
    const std::string value = WithLogs(fix.value, kVariable);
    // Without a value: the script has one, and forgot to export it.
    text += value.empty() ? fmt::format("export {}\n", fix.name)
                          : fmt::format("export {}={}\n", fix.name, Quoted(value));
  }
  if (!AllFixes(advices, Fix::Kind::kCoreLimit).empty()) text += "ulimit -c unlimited\n";
  return text + LauncherLine(advices, setup, kVariable, options.target == Target::kSbatch);
}

std::string YamlText(std::string_view value) {
  std::string quoted = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string PodLines(const std::vector<Advice>& advices, const Setup& setup,
                     const ShowOptions& options) {
  const std::string logs = LogsOf(options);
  std::string text =
      "# in the container of the pod\nterminationMessagePolicy: FallbackToLogsOnError\n";
  const std::vector<Fix> variables = AllFixes(advices, Fix::Kind::kVariable);
  if (!variables.empty()) text += "env:\n";
  for (const Fix& fix : variables)
    text +=
        fmt::format("  - name: {}\n    value: {}\n", fix.name, YamlText(WithLogs(fix.value, logs)));
  for (const Fix& fix : AllFixes(advices, Fix::Kind::kRemove))
    text += fmt::format("# remove from env: {}\n", fix.name);
  const std::string launcher = LauncherLine(advices, setup, logs, false);
  const bool has_core = !AllFixes(advices, Fix::Kind::kCoreLimit).empty();
  if (!launcher.empty() || has_core || NeedsLogs(advices)) {
    text += fmt::format("command: [\"bash\", \"-c\"]\nargs:\n  - |\n    mkdir -p {}\n", logs);
    if (has_core) text += "    ulimit -c unlimited\n";
    text += launcher.empty() ? "    exec ...\n" : "    exec " + launcher;
  }
  if (NeedsLogs(advices))
    text += fmt::format(
        "volumeMounts:\n  - name: evidence\n    mountPath: {}\n"
        "# in the pod: a volume that outlives it and that all pods of the job share\n"
        "volumes:\n  - name: evidence\n    persistentVolumeClaim:\n      claimName: evidence\n",
        logs);
  return text;
}

std::string PythonLines(const std::vector<Advice>& advices, const ShowOptions& options) {
  std::string text;
  for (const Fix& fix : AllFixes(advices, Fix::Kind::kPython))
    text += WithLogs(fix.value, options.logs.empty() ? "logs" : options.logs) + "\n";
  return text;
}

// Words of `text` in lines of at most `width`, all but the first behind `indent` blanks.
std::string InLines(std::string_view text, size_t indent, size_t width) {
  return fmt::format("{}", fmt::join(Wrap(text, width - indent), "\n" + std::string(indent, ' ')));
}

std::string Indented(std::string_view lines) {
  std::string out;
  LineSplitter splitter(lines);
  for (std::string_view line; splitter.Next(line);) out += fmt::format("  {}\n", line);
  return out;
}

std::string HeadOfText(const Setup& setup) {
  std::string facts;
  const auto add = [&](std::string_view fact) {
    facts += fmt::format("{}{}", facts.empty() ? "" : ", ", fact);
  };
  if (!LauncherName(setup.launcher).empty()) add(LauncherName(setup.launcher));
  add(setup.torch ? fmt::format("PyTorch {}.{}", setup.torch->major, setup.torch->minor)
                  : "PyTorch of any version; --torch 2.9 names one");
  return fmt::format("{} ({})\n\n", setup.name.empty() ? "environment" : Printable(setup.name),
                     facts);
}

std::string_view FixKindName(Fix::Kind kind) {
  static constexpr std::string_view kNames[] = {"variable", "option", "limit", "remove", "python"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view TargetName(Target target) {
  static constexpr std::string_view kNames[] = {"bash", "sbatch", "k8s"};
  return kNames[static_cast<size_t>(target)];
}

}  // namespace

std::string PasteLines(const std::vector<Advice>& advices, const Setup& setup,
                       const ShowOptions& options) {
  const bool has_some = std::ranges::any_of(advices, [](const Advice& advice) {
    return std::ranges::any_of(advice.fixes,
                               [](const Fix& fix) { return fix.kind != Fix::Kind::kPython; });
  });
  if (!has_some) return "";
  return options.target == Target::kK8s ? PodLines(advices, setup, options)
                                        : ShellLines(advices, setup, options);
}

std::string AdviceText(const std::vector<Advice>& advices, const Setup& setup,
                       const ShowOptions& options, size_t width) {
  std::string text = HeadOfText(setup);
  constexpr size_t kIndent = 9;
  for (const Advice& advice : advices) {
    const std::string sentence = fmt::format("{}: {}", advice.subject, advice.why);
    text += fmt::format("{:{}}{}\n", AdviceStateName(advice.state), kIndent,
                        InLines(Printable(sentence), kIndent, std::max<size_t>(width, 60)));
  }
  const std::string paste = PasteLines(advices, setup, options);
  const std::string python = PythonLines(advices, options);
  if (!paste.empty())
    text +=
        fmt::format("\nLines to paste ({}):\n\n{}", TargetName(options.target), Indented(paste));
  if (!python.empty()) text += "\nIn the program:\n\n" + Indented(python);
  if (paste.empty() && python.empty()) text += "\nNothing is missing.\n";
  return text;
}

std::string AdviceJson(const std::vector<Advice>& advices, const Setup& setup,
                       const ShowOptions& options) {
  std::string out;
  JsonWriter json(&out, 1);
  json.BeginObject().Field("name", setup.name).Field("launcher", LauncherName(setup.launcher));
  json.Objects("advice", advices, [&](const Advice& advice) {
    json.Field("state", AdviceStateName(advice.state)).Field("subject", advice.subject);
    json.Field("why", advice.why);
    json.Objects("set", advice.fixes, [&](const Fix& fix) {
      json.Field("kind", FixKindName(fix.kind)).Field("name", fix.name);
      json.Field("value", WithLogs(fix.value, LogsOf(options)));
    });
  });
  json.Field("for", TargetName(options.target)).Field("paste", PasteLines(advices, setup, options));
  json.Field("python", PythonLines(advices, options)).EndObject();
  return out + "\n";
}

}  // namespace debrief::doctor
