#include "app/bundle/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/build_model.h"
#include "base/paths.h"
#include "base/text/strings.h"
#include "inputs/jobs/name_clues.h"
#include "inputs/open_input.h"
#include "inputs/sniffing.h"
#include "redact/binary.h"
#include "redact/learner.h"
#include "redact/pickle_redactor.h"
#include "redact/text_redactor.h"
#include "redact/trace_log.h"

namespace debrief::bundle {

namespace {

// How the bytes of an input are redacted.
enum class Form : uint8_t { kText, kTraceLog, kPickle, kBinary };

std::string_view KindName(const FoundInput& input) {
  return input.importer == nullptr ? "" : input.importer->info.name;
}

Result<Form> FormOfInput(const FoundInput& input, const Source& source) {
  const std::string_view kind = KindName(input);
  if (kind == "torch_trace") return Form::kTraceLog;
  if (kind == "perfetto" || kind == "recording") return Form::kBinary;
  if (kind != "flight_recorder" && kind != "memory_snapshot") return Form::kText;
  ASSIGN_OR_RETURN(const ByteView head, source.View(0, kSniffBytes));
  return LooksLikePickle(head.text()) ? Form::kPickle : Form::kText;
}

// Files whose whole purpose is a secret, whatever is in them.
bool IsNamedAsSecret(std::string_view name) {
  constexpr std::array<std::string_view, 14> kNames = {
      ".netrc", ".env",    "id_rsa",           "id_ed25519",  "id_ecdsa",
      "id_dsa", ".pgpass", ".git-credentials", "credentials", "credentials.json",
      ".npmrc", ".pypirc", "kubeconfig",       "secrets.yaml"};
  constexpr std::array<std::string_view, 6> kEndings = {".pem", ".key", ".p12",
                                                        ".pfx", ".jks", ".keytab"};
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kEndings, [&](std::string_view end) { return name.ends_with(end); });
}

// node07, gpunode-17, dgx-3: a folder for what one machine wrote.
bool IsNamedAsMachine(std::string_view folder) {
  constexpr std::array<std::string_view, 10> kEndings = {
      "node", "host", "compute", "dgx", "hgx", "nid", "server", "machine", "worker", "vm"};
  const size_t digits = folder.find_first_of("0123456789");
  if (digits == std::string_view::npos) return false;
  std::string_view word = folder.substr(0, digits);
  while (word.ends_with('-')) word.remove_suffix(1);
  const bool has_rest = folder.find_first_not_of("0123456789-abcdefghijklmnopqrstuvwxyz.",
                                                 digits) != std::string_view::npos;
  return !has_rest &&
         std::ranges::any_of(kEndings, [&](std::string_view end) { return word.ends_with(end); });
}

void AddCounts(const redact::Counts& from, redact::Counts& to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += from[i];
}

}  // namespace

Bundler::Bundler(const Choice& choice, const std::vector<std::string>& roots, SpillBudget& budget)
    : choice_(choice), roots_(roots), budget_(budget), spool_(budget.folder) {
  for (std::string& root : roots_) {
    while (root.size() > 1 && root.ends_with('/')) root.pop_back();
    places_.push_back(PlaceOf(root));
  }
}

bool Bundler::LeadsOut(const std::string& file) const {
  const std::string place = PlaceOf(file);
  return std::ranges::none_of(places_, [&](const std::string& root) {
    return place == root || place.starts_with(root.ends_with('/') ? root : root + "/");
  });
}

// "logs/rank0.log" of "job/logs/rank0.log.gz"; members of archives as if they were unpacked.
std::string Bundler::NameOf(const FoundInput& input) const {
  std::string_view path = input.path;
  for (const std::string& root : roots_) {
    if (path == root) path = FileName(path);
    if (path.starts_with(root) && path.size() > root.size() &&
        (path[root.size()] == '/' || path[root.size()] == '!')) {
      path.remove_prefix(root.size() + 1);
      break;
    }
  }
  std::string name(path);
  for (size_t at = name.find('!'); at != std::string::npos; at = name.find('!', at + 1))
    name[at] = '/';
  if (input.packing == Packing::kGzip && name.ends_with(".gz")) name.resize(name.size() - 3);
  if (input.packing == Packing::kZstd && name.ends_with(".zst")) name.resize(name.size() - 4);
  while (name.starts_with('/') || name.starts_with("./")) name.erase(0, name.find('/') + 1);
  return name.empty() ? "input" : name;
}

std::string Bundler::WhyNot(const FoundInput& input) const {
  if (input.importer == nullptr)
    return input.state == InputState::kFailed ? "cannot be read" : "of no kind that debrief reads";
  if (input.file.empty() && input.unpacked == nullptr) return "cannot be read";
  if (!input.file.empty() && LeadsOut(input.file)) return "a link that leads out of the folder";
  if (IsNamedAsSecret(input.name)) return "named as a file of secrets";
  if (!choice_.kinds.empty() &&
      std::ranges::find(choice_.kinds, std::string(KindName(input))) == choice_.kinds.end())
    return "of a kind that was not asked for";
  const bool is_document = input.importer->info.fallback && IsNamedAsDocument(input.name);
  if (is_document && !input.text.is_pods && !choice_.documents)
    return "written by people (--documents takes it)";
  const bool is_binary = KindName(input) == "recording" || KindName(input) == "perfetto";
  if (choice_.redacts && choice_.hides.shapes && is_binary) return "its shapes cannot be hidden";
  return "";
}

void Bundler::Learn(FoundInput& input) {
  if (!choice_.redacts || !WhyNot(input).empty()) return;
  redact::Learner learner(names_);
  for (const std::string& host :
       {input.recognition.host, input.text.host, CluesOfFile(input.name).host})
    names_.AddHost(host, true);
  const std::string name = NameOf(input);
  // Of folders alone: rank1.org is a file.
  learner.Learn(std::string(ParentPart(name)) + "/");
  std::string_view folders = ParentPart(name);
  while (!folders.empty()) {
    if (IsNamedAsMachine(LastPart(folders))) names_.AddHost(LastPart(folders));
    folders = ParentPart(folders);
  }
  Spilled opened;
  if (!input.file.empty()) opened = OpenInput(input, budget_);
  const Source* source = input.file.empty() ? input.unpacked.get() : opened.source.get();
  if (source == nullptr || source->size() > choice_.limits.file_bytes) return;
  const auto learn = [&](std::string_view text) {
    learner.Learn(text);
    return Status();
  };
  auto form = FormOfInput(input, *source);
  if (!form.ok()) return;
  // What cannot be read to its end is told when it is added.
  if (form.value() == Form::kPickle) (void)redact::ForEachPickledText(*source, learn);
  if (form.value() == Form::kBinary) (void)redact::ForEachString(*source, learn);
  if (form.value() == Form::kText || form.value() == Form::kTraceLog)
    (void)redact::ForEachPiece(*source, learn);
}

Status Bundler::RedactTo(const FoundInput& input, const Source& source, redact::Counts& counts) {
  const redact::Sink out = [&](std::string_view bytes) { return spool_.Append(bytes); };
  redact::TextRedactor texts(names_, choice_.hides, counts);
  ASSIGN_OR_RETURN(const Form form, FormOfInput(input, source));
  switch (form) {
    case Form::kTraceLog:
      return redact::RedactTraceLog(source, texts, out);
    case Form::kPickle:
      return redact::RedactPickle(source, texts, choice_.hides.shapes ? &names_ : nullptr, counts,
                                  out);
    case Form::kBinary:
      if (KindName(input) == "perfetto" && redact::HasPackedPackets(source))
        return {Code::kUnsupported, "it has packed packets"};
      return redact::RedactBinary(source, texts, out);
    case Form::kText:
      break;
  }
  std::string redacted;
  return redact::ForEachPiece(source, [&](std::string_view text) {
    redacted.clear();
    texts.Redact(text, redacted);
    return spool_.Append(redacted);
  });
}

// Fills the spool; `why` says what is wrong with the input, a Status what is wrong with the disk.
Status Bundler::Write(const FoundInput& input, const Source& source, Member& member,
                      std::string& why) {
  TRY(spool_.Clear());
  Status status = choice_.redacts ? RedactTo(input, source, member.replaced)
                                  : redact::ForEachPiece(source, [&](std::string_view bytes) {
                                      return spool_.Append(bytes);
                                    });
  if (status.code() == Code::kNoSpace) return status;
  if (!status.ok()) why = fmt::format("cannot be redacted safely: {}", status.message());
  return {};
}

std::string Bundler::UniqueName(const std::string& name) {
  std::string unique = name;
  for (int i = 2; !used_names_.insert(unique).second; ++i) unique = fmt::format("{}~{}", name, i);
  return unique;
}

Status Bundler::Add(FoundInput& input, TarWriter& tar) {
  std::string name = NameOf(input);
  if (choice_.redacts) name = Redacted(name);
  std::string why = WhyNot(input);
  uint64_t bytes = input.bytes;
  if (why.empty()) {
    Spilled opened;
    if (input.file.empty()) {
      opened.source = std::move(input.unpacked);
    } else {
      opened = OpenInput(input, budget_);
    }
    if (opened.source == nullptr) {
      why = "cannot be read";
    } else {
      bytes = opened.source->size();
      if (bytes > choice_.limits.file_bytes) why = "larger than --max-file";
      if (bytes_ + bytes > choice_.limits.all_bytes)
        why = "the bundle would be larger than --max-total";
    }
    Member member{.name = "", .kind = std::string(KindName(input)), .bytes = 0, .replaced = {}};
    if (why.empty()) TRY(Write(input, *opened.source, member, why));
    if (why.empty()) {
      member.name = UniqueName(name);
      member.bytes = spool_.size();
      bytes_ += spool_.size();
      TRY(tar.BeginFile(member.name, member.bytes));
      TRY(spool_.ForEachPiece([&](std::string_view piece) { return tar.Append(piece); }));
      AddCounts(member.replaced, contents_.replaced);
      contents_.members.push_back(std::move(member));
      return {};
    }
  }
  contents_.left_out.push_back({std::move(name), std::move(why), bytes});
  return {};
}

std::string Bundler::Redacted(std::string_view text) {
  if (!choice_.redacts) return std::string(text);
  redact::Counts uncounted = {};
  std::string redacted;
  redact::TextRedactor(names_, {}, uncounted).Redact(text, redacted);
  return redacted;
}

}  // namespace debrief::bundle
