#include "inputs/discovery/find_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/bytes/archive.h"
#include "base/bytes/byte_stream.h"
#include "base/sqlite/database.h"
#include "base/text/safe_name.h"
#include "base/text/strings.h"
#include "base/threads/guard.h"
#include "inputs/discovery/walk_folders.h"
#include "inputs/input_diagnostics.h"
#include "inputs/input_members.h"
#include "inputs/open_input.h"

namespace debrief {

namespace {

// .tar.gz inside .zip inside .tar is still somebody's data; more is a trick.
constexpr int kMaxNesting = 4;

std::string WithoutPacking(const std::string& name) {
  for (std::string_view suffix : {".gz", ".zst"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

// What a process prints to: one that prints nothing leaves an empty file, which is no trouble, and
// is a rank all the same. Files that a library writes when it has something to say (TORCH_TRACE
// logs, dumps) are not among them.
bool IsOutputName(std::string_view name) {
  auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (has("trace") || has("dump")) return false;
  return has("stdout") || has("stderr") || name.ends_with(".out") || name.ends_with(".err") ||
         name.ends_with(".log") || name.ends_with(".txt");
}

// The one for plain text.
const Importer* FallbackImporter() {
  auto found = std::find_if(AllImporters().begin(), AllImporters().end(),
                            [](const Importer* each) { return each->info.fallback; });
  return found == AllImporters().end() ? nullptr : *found;
}

// Looks into one file, stream or member, and into everything packed inside it.
class Inspector {
 public:
  Inspector(const FindOptions& options, SpillBudget& budget) : options_(options), budget_(budget) {}

  // `input` says where the bytes come from; what is found is appended to `out`.
  void Inspect(FoundInput input, std::unique_ptr<ByteStream> stream, int nesting,
               std::vector<FoundInput>& out) {
    const auto view = ViewHead(*stream, kSniffBytes);
    if (!view.ok()) {
      input.notes.push_back(NoteOf(view.status(), input.packing));
      input.state = InputState::kFailed;
      out.push_back(std::move(input));
      return;
    }
    const std::string_view head = view->text();
    if (nesting > kMaxNesting) return AddTooDeep(std::move(input), out);
    if (Packing packing = DetectPacking(head); packing != Packing::kNone) {
      // OpenInput unpacks once; what is packed twice is kept now.
      if (input.packing != Packing::kNone) input.file.clear();
      input.packing = packing;
      input.name = WithoutPacking(input.name);
      auto packed = MakePrefixedStream(std::string(head), std::move(stream));
      return Inspect(std::move(input), Decompress(packing, std::move(packed), limits_), nesting + 1,
                     out);
    }
    if (LooksLikeArchive(head)) {
      auto whole = MakePrefixedStream(std::string(head), std::move(stream));
      return Walk(std::move(input), *whole, nesting, out);
    }
    std::vector<std::string> tables;
    if (LooksLikeSqlite(head)) tables = TablesOf(input, head, *stream);
    Sniff(input, head, tables);
    bool can_reopen = !input.file.empty();
    bool is_short = head.size() < kSniffBytes;
    if (can_reopen && is_short && input.importer == nullptr) CheckEnd(input, *stream);
    bool is_text = input.importer != nullptr && input.importer->info.fallback;
    const std::string_view first = is_text ? head : std::string_view();
    const bool has_members = input.importer != nullptr && input.importer->members != nullptr;
    const bool must_keep = !can_reopen || (has_members && input.packing != Packing::kNone);
    if (must_keep && input.unpacked == nullptr)
      TakeBytes(input, *MakePrefixedStream(std::string(head), std::move(stream)));
    if (has_members) return AddMembers(std::move(input), nesting, out);
    if (is_text) input.text = CluesOfText(first, TailOf(input, first.size()), options_.now_ns);
    out.push_back(std::move(input));
  }

 private:
  void AddTooDeep(FoundInput input, std::vector<FoundInput>& out) {
    input.state = InputState::kFailed;
    input.notes.push_back({&kInputTooDeep, {}});
    out.push_back(std::move(input));
  }

  void Walk(FoundInput archive, ByteStream& stream, int nesting, std::vector<FoundInput>& out) {
    size_t before = out.size();
    bool unsafe = false;
    Status status = WalkArchive(stream, {}, [&](const ArchiveMember& member, ByteStream& body) {
      unsafe |= member.unsafe_name;
      if (member.type == ArchiveMember::Type::kFile) {
        Inspect(MemberInput(archive, member), MakePrefixedStream("", body), nesting + 1, out);
      }
      return Status();
    });
    // What follows the last member is of no interest, but that the stream around it is whole is:
    // the checksum of a .tar.gz comes last.
    int64_t rest = 0;
    if (status.ok()) status = ReadToEnd(stream, rest);
    // The archive itself is an input only when there is something to say about it.
    if (status.ok() && !unsafe && out.size() > before) return;
    if (unsafe) archive.notes.push_back({&kArchiveUnsafeName, {}});
    if (!status.ok()) archive.notes.push_back(ArchiveNote(status, archive.packing));
    if (out.size() == before && status.ok()) archive.notes.push_back({&kInputEmpty, {}});
    archive.state = status.ok() ? InputState::kSkipped : InputState::kFailed;
    out.push_back(std::move(archive));
  }

  static FoundInput::Note ArchiveNote(const Status& status, Packing packing) {
    if (packing != Packing::kNone && status.code() != Code::kUnsupported)
      return NoteOf(status, packing);
    const DiagnosticKind& kind = status.code() == Code::kLimit ? kArchiveBomb : kArchiveDamaged;
    return {&kind, {.offset = status.place().offset, .line = -1, .detail = status.message()}};
  }

  static FoundInput MemberInput(const FoundInput& archive, const ArchiveMember& member) {
    std::string shown = Printable(member.name);
    while (shown.starts_with("./")) shown.erase(0, 2);
    size_t slash = shown.rfind('/');
    FoundInput input;
    input.path = archive.path + "!" + shown;
    input.folder =
        slash == std::string::npos ? archive.path : archive.path + "/" + shown.substr(0, slash);
    input.name = slash == std::string::npos ? shown : shown.substr(slash + 1);
    input.bytes = member.size < 0 ? 0 : static_cast<uint64_t>(member.size);
    return input;
  }

  // A database may have its schema anywhere, so that it is opened; one that is packed is unpacked
  // for that, and kept.
  std::vector<std::string> TablesOf(FoundInput& input, std::string_view head, ByteStream& stream) {
    std::unique_ptr<Source> file;
    if (input.file.empty() || input.packing != Packing::kNone) {
      Spilled spilled = Spill(*MakePrefixedStream(std::string(head), stream), budget_);
      if (!spilled.trouble.ok()) input.notes.push_back(NoteOf(spilled.trouble, input.packing));
      input.content_bytes = static_cast<int64_t>(spilled.source->size());
      input.unpacked = std::move(spilled.source);
    } else if (auto opened = OpenFileSource(input.file); opened.ok()) {
      file = std::move(opened).value();
    }
    const Source* source = file != nullptr ? file.get() : input.unpacked.get();
    return source == nullptr ? std::vector<std::string>() : TableNamesOf(*source);
  }

  void Sniff(FoundInput& input, std::string_view head, std::span<const std::string> tables) {
    if (head.empty() && IsOutputName(input.name)) {
      input.importer = FallbackImporter();
      return;
    }
    if (head.empty()) {
      input.state = InputState::kSkipped;
      input.notes.push_back({&kInputEmpty, {}});
      return;
    }
    auto outline = OutlineOf(head);
    SniffInput sniff{.path = input.path,
                     .name = input.name,
                     .head = head,
                     .whole = head.size() < kSniffBytes,
                     .json = outline ? &*outline : nullptr,
                     .tables = tables,
                     .now_ns = options_.now_ns};
    Recognise(sniff, input);
    if (input.importer == nullptr) {
      input.state = InputState::kSkipped;
      input.notes.push_back({&kInputUnknown, {}});
      input.unpacked.reset();
    }
  }

  // "[rank5]: hello" and "[2026-11-15 02:42:22] hello" begin like JSON and are none: a text with
  // letters and no key is not JSON, unless it is a list of strings.
  static std::optional<JsonOutline> OutlineOf(std::string_view head) {
    auto outline = JsonOutline::Of(head);
    size_t first = std::min(head.find_first_not_of(" \t\r\n["), head.size());
    bool quoted = head.substr(first).starts_with('"');
    auto has_key = [&](const JsonOutline::Entry& entry) {
      return quoted || entry.path.find_first_not_of("[]") != std::string::npos;
    };
    bool is_text = outline && std::any_of(head.begin(), head.end(), IsAlphabetic) &&
                   std::none_of(outline->entries().begin(), outline->entries().end(), has_key);
    return is_text ? std::nullopt : outline;
  }

  void Recognise(const SniffInput& sniff, FoundInput& input) const {
    for (bool fallback : {false, true}) {
      for (const Importer* importer : AllImporters()) {
        if (importer->info.fallback != fallback) continue;
        Recognition recognition = importer->sniff(sniff);
        if (!recognition.mine) continue;
        if (input.importer == nullptr) {
          input.importer = importer;
          input.recognition = recognition;
        }
        input.claims.push_back(importer);
        if (!options_.all_claims) return;
      }
      if (input.importer != nullptr) return;
    }
  }

  // Nobody will read a file that no importer knows. Where its head was all of it, its end is here,
  // and may tell why nobody knows it.
  static void CheckEnd(FoundInput& input, ByteStream& stream) {
    int64_t rest = 0;
    if (Status end = ReadToEnd(stream, rest); !end.ok()) {
      input.notes.push_back(NoteOf(end, input.packing));
      input.state = InputState::kFailed;
    }
  }

  // A file that holds several inputs becomes each of them; they share its bytes where these were
  // unpacked.
  void AddMembers(FoundInput file, int nesting, std::vector<FoundInput>& out) {
    std::shared_ptr<const Source> source = std::move(file.unpacked);
    const bool is_unpacked = source != nullptr;
    if (!is_unpacked) {
      auto opened = OpenFileSource(file.file);
      if (opened.ok()) source = std::move(opened).value();
    }
    std::vector<InputMember> members;
    if (source != nullptr) members = file.importer->members(*source);
    if (members.empty()) members.push_back({.recognition = file.recognition});
    for (InputMember& member : members) {
      FoundInput input = MemberOfFile(file, member);
      if (member.is_text) {
        AddText(std::move(input), std::move(member), nesting, out);
        continue;
      }
      if (is_unpacked) input.unpacked = MakeSharedView(source);
      input.notes = std::exchange(file.notes, {});  // said once
      if (member.unread != nullptr) {
        input.state = InputState::kSkipped;
        input.notes.push_back({member.unread, {}});
      }
      out.push_back(std::move(input));
    }
  }

  void AddText(FoundInput input, InputMember member, int nesting, std::vector<FoundInput>& out) {
    const size_t before = out.size();
    input.bytes = member.text.size();
    const std::unique_ptr<Source> text = MakeMemorySource(std::move(member.text));
    Inspect(std::move(input), MakeSourceStream(*text), nesting + 1, out);
    for (size_t i = before; i < out.size(); ++i) {
      if (out[i].recognition.pid == kNone64) out[i].recognition.pid = member.recognition.pid;
      if (out[i].recognition.rank == kNone32) out[i].recognition.rank = member.recognition.rank;
      if (out[i].recognition.host.empty()) out[i].recognition.host = member.recognition.host;
    }
  }

  // The last bytes behind the first `head_bytes`; none of a packed file, which is unpacked later.
  static std::string TailOf(const FoundInput& input, size_t head_bytes) {
    std::unique_ptr<Source> opened;
    const Source* source = input.unpacked.get();
    bool is_longer = input.bytes > head_bytes;
    if (source == nullptr && input.packing == Packing::kNone && !input.file.empty() && is_longer) {
      auto file = OpenFileSource(input.file);
      if (file.ok()) opened = std::move(file).value();
      source = opened.get();
    }
    if (source == nullptr || source->size() <= head_bytes) return {};
    uint64_t begin = std::max<uint64_t>(
        head_bytes, source->size() - std::min<uint64_t>(source->size(), kSniffBytes));
    auto bytes = source->View(begin, kSniffBytes);
    return bytes.ok() ? std::string(bytes.value().text()) : std::string();
  }

  // What cannot be opened again is kept now if an importer will read it, else read to its end, so
  // that a damaged stream is noticed all the same.
  void TakeBytes(FoundInput& input, ByteStream& stream) {
    Status trouble;
    if (input.importer != nullptr && input.importer->open != nullptr) {
      Spilled spilled = Spill(stream, budget_);
      input.content_bytes = static_cast<int64_t>(spilled.source->size());
      input.unpacked = std::move(spilled.source);
      trouble = std::move(spilled.trouble);
    } else {
      trouble = ReadToEnd(stream, input.content_bytes);
    }
    if (trouble.ok()) return;
    input.notes.push_back(NoteOf(trouble, input.packing));
    // As a file of that kind beside the archive would be.
    bool unread = input.unpacked == nullptr && input.state == InputState::kRecognised;
    if (unread) input.state = InputState::kFailed;
  }

  const FindOptions& options_;
  SpillBudget& budget_;
  ExpansionLimits limits_;
};

// A plain file on disk: only its head is read now.
std::vector<FoundInput> InspectFile(FoundInput input, const FindOptions& options,
                                    SpillBudget& budget) {
  std::vector<FoundInput> out;
  if (input.file.empty()) {  // the walk could not open it, and said why
    out.push_back(std::move(input));
    return out;
  }
  auto source = OpenFileSource(input.file);
  if (!source.ok()) {
    input.state = InputState::kFailed;
    input.notes.push_back({&kInputUnreadable, {.detail = source.status().message()}});
    out.push_back(std::move(input));
    return out;
  }
  Inspector(options, budget).Inspect(std::move(input), MakeSourceStream(*source.value()), 0, out);
  return out;
}

// When memory runs out, the file is told as one that could not be read.
std::vector<FoundInput> InspectGuarded(FoundInput input, const FindOptions& options,
                                       SpillBudget& budget) {
  FoundInput lost;
  lost.path = input.path;
  lost.folder = input.folder;
  lost.name = input.name;
  lost.bytes = input.bytes;
  std::vector<FoundInput> out;
  Status status = Guarded([&] { out = InspectFile(std::move(input), options, budget); });
  if (status.ok()) return out;
  lost.state = InputState::kFailed;
  lost.notes.push_back({&kInputNoMemory, {.offset = -1, .line = -1, .detail = status.message()}});
  out.clear();
  out.push_back(std::move(lost));
  return out;
}

std::vector<FoundInput> InspectStdin(const FindOptions& options, SpillBudget& budget) {
  FoundInput input;
  input.path = "(stdin)";
  input.name = "stdin";
  std::vector<FoundInput> out;
  Inspector(options, budget).Inspect(std::move(input), MakeFdStream(options.stdin_fd), 0, out);
  for (FoundInput& found : out)
    found.bytes =
        std::max(found.bytes, static_cast<uint64_t>(std::max<int64_t>(0, found.content_bytes)));
  return out;
}

}  // namespace

std::string_view InputStateName(InputState state) {
  switch (state) {
    case InputState::kImported:
      return "imported";
    case InputState::kRecognised:
      return "recognised";
    case InputState::kSkipped:
      return "skipped";
    case InputState::kFailed:
      return "failed";
  }
  return "failed";
}

FoundInput::Note NoteOf(const Status& trouble, Packing packing) {
  auto choose = [&](const DiagnosticKind& gzip,
                    const DiagnosticKind& zstd) -> const DiagnosticKind& {
    return packing == Packing::kZstd ? zstd : gzip;
  };
  const DiagnosticKind* kind = &kInputFailed;
  bool packed = packing != Packing::kNone;
  switch (trouble.code()) {
    case Code::kTruncated:
      kind = packed ? &choose(kGzipTruncated, kZstdTruncated) : &kArchiveDamaged;
      break;
    case Code::kInvalid:
      kind = packed ? &choose(kGzipCorrupt, kZstdCorrupt) : &kArchiveDamaged;
      break;
    case Code::kLimit:
      kind = packed ? &choose(kGzipBomb, kZstdBomb) : &kArchiveBomb;
      break;
    case Code::kChanged:
      kind = &kInputChanged;
      break;
    case Code::kNoSpace:
      kind = &kSpillFull;
      break;
    case Code::kDenied:
    case Code::kIo:
    case Code::kNotFound:
      kind = &kInputUnreadable;
      break;
    default:
      break;
  }
  return {kind, {.offset = trouble.place().offset, .line = -1, .detail = trouble.message()}};
}

std::vector<FoundInput> FindInputs(const FindOptions& options, ThreadPool& pool,
                                   SpillBudget& budget, Progress& progress) {
  std::vector<std::string> paths;
  std::copy_if(options.paths.begin(), options.paths.end(), std::back_inserter(paths),
               [](const std::string& path) { return path != "-"; });
  std::vector<FoundInput> files = WalkFolders(paths, options.output_folder, options.stays_inside);
  std::vector<FoundInput> found;
  progress.Begin("find", files.size());
  pool.MapInOrder<std::vector<FoundInput>>(
      files.size(), [&](size_t i) { return InspectGuarded(std::move(files[i]), options, budget); },
      [&](size_t i, std::vector<FoundInput>&& inputs) {
        std::move(inputs.begin(), inputs.end(), std::back_inserter(found));
        progress.Step(i + 1);
      });
  if (paths.size() < options.paths.size()) {
    std::vector<FoundInput> inputs = InspectStdin(options, budget);
    std::move(inputs.begin(), inputs.end(), std::back_inserter(found));
  }
  ForgiveUnread(found);
  progress.End();
  return found;
}

}  // namespace debrief
