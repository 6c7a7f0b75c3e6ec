// Options of the commands for other programs and before the next run: mcp, doctor, skill, help.
#include <CLI/Config.hpp>

#include "app/command_options.h"

namespace debrief {

CLI::App* AddMcp(CLI::App& app, Parsed& parsed) {
  auto* mcp = app.add_subcommand("mcp", "A server for agents (Model Context Protocol on stdio)");
  AddOption(*mcp, "ROOT", parsed.mcp.roots, "",
            "Folders whose jobs clients may read (the current one)");
  mcp->footer(
      "Speaks the revisions 2026-07-28 and 2025-11-25 of the protocol (docs/mcp.md).\n\n"
      "Example:\n  debrief mcp examples < /dev/null && echo the client has left");
  return mcp;
}

CLI::App* AddDoctor(CLI::App& app, Parsed& parsed) {
  auto* doctor =
      app.add_subcommand("doctor", "What to set so that the next run leaves evidence of a failure");
  DoctorOptions& options = parsed.doctor;
  AddOption(*doctor, "WHAT", options.words, "",
            "A job's folder, a script (.sh, .sbatch, pod .yaml), or -- and a command; without any, "
            "the environment");
  AddOption(*doctor, "--for", options.target, "WHERE", "Lines for bash, sbatch or k8s")
      ->check(OneOf({"bash", "sbatch", "k8s"}));
  AddOption(*doctor, "--torch", options.torch, "VERSION",
            "Of PyTorch, for example 2.6: some names have changed");
  AddOption(*doctor, "--logs", options.logs, "DIR",
            "Folder for evidence, on a file system that all machines share");
  AddGlobal(*doctor, parsed);
  doctor->footer(
      "Examples:\n  debrief doctor examples/hung-job\n"
      "  debrief doctor --for sbatch -- torchrun --nproc-per-node 8 train.py");
  return doctor;
}

CLI::App* AddSkill(CLI::App& app) {
  auto* skill =
      app.add_subcommand("skill", "Print SKILL.md: from a symptom to the command, for agents")
          ->group("");
  skill->footer("Example:\n  debrief skill");
  return skill;
}

CLI::App* AddHelp(CLI::App& app, Parsed& parsed) {
  auto* help =
      app.add_subcommand("help", "Help of a command, man pages, completions of shells")->group("");
  HelpOptions& options = parsed.help;
  AddOption(*help, "COMMAND", options.command, "", "Of this command; without one, of debrief");
  auto* man = help->add_flag("--man", options.man, "As a man page");
  auto* completion = AddOption(*help, "--completion", options.completion, "SHELL",
                               "Completions for bash, zsh or fish");
  completion->check(OneOf({"bash", "zsh", "fish"}))->excludes(man);
  AddOption(*help, "--install", options.install, "DIR",
            "Write all man pages and completions below DIR/share")
      ->excludes(man)
      ->excludes(completion);
  help->footer("Examples:\n  debrief help flight --man\n  debrief help --completion bash");
  return help;
}

}  // namespace debrief
