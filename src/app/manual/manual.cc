#include "app/manual/manual.h"

#include <fmt/format.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>

#include "app/terminal.h"
#include "base/bytes/growing_file.h"
#include "base/text/newlines.h"
#include "base/text/strings.h"
#include "base/version.h"

namespace debrief {

namespace {

namespace fs = std::filesystem;

// The values that OneOf() lets through; they are the name of its validator.
std::vector<std::string> ChoicesOf(CLI::Option& option) {
  std::vector<std::string> choices;
  try {
    const std::string& list = option.get_validator(0)->get_name();
    for (size_t begin = 0; begin < list.size();) {
      const size_t end = std::min(list.find(' ', begin), list.size());
      choices.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  } catch (const CLI::OptionNotFound&) {
    return {};  // it has no validator
  }
  return choices;
}

OptionWords WordsOf(CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  if (words.names.empty()) words.place = option.get_name();
  const bool is_flag = option.get_items_expected_max() == 0;
  words.value = is_flag ? "" : option.get_type_name();
  if (!is_flag && !words.names.empty() && words.value.empty()) words.value = "VALUE";
  words.text = option.get_description();
  words.choices = ChoicesOf(option);
  words.is_required = option.get_required();
  words.is_list = option.get_items_expected_max() > 1;
  return words;
}

void AddOptionsOf(CLI::App& command, std::vector<OptionWords>& found) {
  for (CLI::Option* option : command.get_options())
    if (!option->get_description().empty()) found.push_back(WordsOf(*option));
  for (CLI::App* group : command.get_subcommands([](CLI::App* each) {
         return each->get_name().empty();  // a group of options
       }))
    AddOptionsOf(*group, found);
}

// Text for roff: nothing in it is a request or an escape.
std::string Roff(std::string_view text) {
  std::string out;
  bool is_line_start = true;
  for (const char c : text) {
    if (is_line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    is_line_start = c == '\n';
  }
  return out;
}

std::string PageName(const CLI::App& app, const CLI::App& command) {
  return &app == &command ? "debrief" : "debrief-" + command.get_name();
}

std::string Synopsis(const CLI::App& app, const CLI::App& command,
                     const std::vector<OptionWords>& options) {
  std::string text = ".B debrief";
  if (&app != &command) text += " " + Roff(command.get_name());
  text += "\n[OPTIONS]";
  for (const OptionWords& one : options) {
    if (!one.names.empty()) continue;
    const std::string place = one.place + (one.is_list ? "..." : "");
    text += one.is_required ? " " + Roff(place) : fmt::format(" [{}]", Roff(place));
  }
  return text + "\n";
}

std::string OptionEntry(const OptionWords& option) {
  std::string head = option.place;
  for (const std::string& name : option.names)
    head += fmt::format("{}{}", head.empty() ? "" : ", ", name);
  std::string entry = fmt::format(".TP\n\\fB{}\\fR", Roff(head));
  if (!option.value.empty()) entry += fmt::format(" \\fI{}\\fR", Roff(option.value));
  return entry + "\n" + Roff(option.text) + "\n";
}

// Examples and what else stands below the options, as it stands there.
std::string FooterPart(const CLI::App& command) {
  const std::string footer = command.get_footer();
  std::string text;
  LineSplitter lines(footer);
  for (std::string_view line; lines.Next(line);) text += Roff(line) + "\n";
  return text.empty() ? "" : ".SH NOTES\n.nf\n" + text + ".fi\n";
}

std::string CommandsPart(CLI::App& app) {
  std::string text = ".SH COMMANDS\n";
  for (const CLI::App* command : CommandsOf(app))
    text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", Roff("debrief-" + command->get_name()),
                        Roff(command->get_description()));
  return text;
}

Status WriteBelow(const std::string& folder, const std::string& name, std::string_view text) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Status(Code::kDenied, "cannot make the folder").At({.file = folder});
  return WriteFileAtomically(folder + "/" + name, text);
}

Status InstallPages(CLI::App& app, const std::string& prefix) {
  const std::string share = prefix + "/share";
  std::vector<CLI::App*> pages = CommandsOf(app);
  pages.push_back(&app);
  for (CLI::App* page : pages)
    TRY(WriteBelow(share + "/man/man1", PageName(app, *page) + ".1", ManPage(app, *page)));
  TRY(WriteBelow(share + "/bash-completion/completions", "debrief", Completion(app, "bash")));
  TRY(WriteBelow(share + "/zsh/site-functions", "_debrief", Completion(app, "zsh")));
  return WriteBelow(share + "/fish/vendor_completions.d", "debrief.fish", Completion(app, "fish"));
}

CLI::App* CommandNamed(CLI::App& app, const std::string& name) {
  if (name.empty() || name == "debrief") return &app;
  for (CLI::App* command : CommandsOf(app))
    if (command->get_name() == name) return command;
  return nullptr;
}

}  // namespace

std::vector<OptionWords> OptionsOf(CLI::App& command) {
  std::vector<OptionWords> found;
  AddOptionsOf(command, found);
  return found;
}

std::vector<CLI::App*> CommandsOf(CLI::App& app) {
  return app.get_subcommands([](CLI::App* command) {
    return !command->get_name().empty() && !command->get_description().empty();
  });
}

std::string ManPage(CLI::App& app, CLI::App& command) {
  const std::string name = PageName(app, command);
  const std::vector<OptionWords> options = OptionsOf(command);
  std::string title = name;
  std::ranges::transform(title, title.begin(), [](char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  });
  std::string text =
      fmt::format(".TH {} 1 \"\" \"debrief {}\" \"debrief\"\n", Roff(title), kVersion);
  std::string summary = command.get_description();
  if (summary.starts_with("debrief ")) summary.erase(0, 8);
  text += fmt::format(".SH NAME\n{} \\- {}\n", Roff(name), Roff(summary));
  text += ".SH SYNOPSIS\n" + Synopsis(app, command, options);
  text += fmt::format(".SH DESCRIPTION\n{}\n", Roff(command.get_description()));
  if (&app == &command) text += CommandsPart(app);
  if (!options.empty()) text += ".SH OPTIONS\n";
  for (const OptionWords& option : options) text += OptionEntry(option);
  text += FooterPart(command);
  text +=
      ".SH EXIT STATUS\n0 done, 1 no report, 2 wrong usage, 3 a finding or a gate of "
      "\\fB\\-\\-fail\\-on\\fR.\n";
  if (&app != &command) text += ".SH SEE ALSO\n\\fBdebrief\\fR(1)\n";
  return text;
}

int RunHelp(CLI::App& app, const HelpOptions& options) {
  if (!options.install.empty()) {
    Status status = InstallPages(app, options.install);
    if (!status.ok()) return Fail(status);
    PrintNote(fmt::format("wrote man pages and completions below {}/share", options.install));
    return 0;
  }
  if (!options.completion.empty()) {
    StdoutSink().Write(Completion(app, options.completion));
    return 0;
  }
  CLI::App* command = CommandNamed(app, options.command);
  if (command == nullptr)
    return Fail(Status(Code::kUsage, fmt::format("no command {}", options.command))
                    .Remedy("See: debrief --help"));
  const std::string name = command == &app ? "debrief" : "debrief " + command->get_name();
  StdoutSink().Write(
      options.man ? ManPage(app, *command)
                  : command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
  return 0;
}

}  // namespace debrief
