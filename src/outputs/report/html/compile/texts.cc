// Writes what text_choice.cc chose. Texts lie in the order of the log, so that those of one
// compilation share an island. Memory: one island and one text at a time. Cost: reading, packing
// and writing at most TextLimits::all bytes. A text that cannot be read (the log changed) is left
// out like one that is too large.
#include "outputs/report/html/compile/texts.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json/writer.h"
#include "base/pools/numbering.h"
#include "base/text/newlines.h"
#include "base/text/utf8.h"
#include "model/compile/frames.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "tables/compile_log.h"

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostTextFrames = 40'000;
constexpr size_t kMostStacks = 20'000;
constexpr size_t kDeepest = 100;
constexpr size_t kLongestFrameText = 300;  // bytes of a source line or a path

std::string KeyOf(const Model& model, const CompileEntryTable& entries, size_t row) {
  const int32_t rank = entries.rank[row];
  const std::string_view id = WithoutAttempt(model.pools.Text(entries.compile_id[row]));
  return fmt::format("{}:{}:{}:{}", entries.input[row],
                     rank == kNone32 ? "" : fmt::format("{}", rank),
                     entries.life[row] == kNone32 ? 0 : entries.life[row], id);
}

// Where each compilation began: the stacks of dynamo_start, in the index of texts.
//
//   "frames": [["train.py", 52, "step", "loss = model(x)"], ...]
//   "stacks": {"1:0:0:0/0": [0, 1, 2], ...}       positions in it, innermost first, by
//                                                 input:rank:life:compile id; no rank: empty
class StackIndex {
 public:
  explicit StackIndex(const Model& model) : model_(model) {
    const auto& entries = model.tables.Get<CompileEntryTable>();
    for (size_t row = 0; row < entries.size() && stacks_.size() < kMostStacks; ++row) {
      if (entries.stack[row] == StackId::kNone) continue;
      if (model.pools.Text(entries.kind[row]) != "dynamo_start") continue;
      stacks_.try_emplace(KeyOf(model, entries, row), entries.stack[row]);
    }
  }

  void Write(JsonWriter& json) {
    std::vector<std::pair<std::string_view, std::vector<size_t>>> lists;
    for (const auto& [key, stack] : stacks_) lists.emplace_back(key, NumbersOf(stack));
    json.Array("frames", frames_, [&](FrameId id) {
      const Frame& frame = model_.pools.GetFrame(id);
      json.BeginArray().Value(Text(frame.file)).Value(frame.line);
      json.Value(Text(frame.function)).Value(Text(frame.text)).EndArray();
    });
    json.Key("stacks").BeginObject();
    for (const auto& [key, numbers] : lists) json.ListField(key, numbers);
    json.EndObject();
  }

 private:
  std::string_view Text(StringId id) const {
    return model_.pools.Text(id).substr(0, kLongestFrameText);
  }

  std::vector<size_t> NumbersOf(StackId stack) {
    std::vector<size_t> numbers;
    for (const FrameId id : model_.pools.GetStack(stack)) {
      if (numbers.size() == kDeepest) break;
      const auto [at, is_new] = numbers_.try_emplace(id, frames_.size());
      if (is_new && frames_.size() == kMostTextFrames) {
        numbers_.erase(at);
        break;
      }
      if (is_new) frames_.push_back(id);
      numbers.push_back(at->second);
    }
    return numbers;
  }

  const Model& model_;
  std::map<std::string, StackId> stacks_;
  std::unordered_map<FrameId, size_t> numbers_;
  std::vector<FrameId> frames_;
};

constexpr size_t kLongestName = 200;  // bytes

struct StoredText {
  size_t chunk = 0, offset = 0, bytes = 0, lines = 0;
  int64_t whole = 0;
};

// Leaves out the beginning of a character that was cut.
void DropCutCharacter(std::string& text) {
  size_t end = text.size();
  while (end > 0 && text.size() - end < 4 && IsContinuation(text[end - 1])) --end;
  if (end > 0 && (text[end - 1] & 0x80) != 0) text.resize(end - 1);
}

size_t LinesOf(std::string_view text) {
  return text.empty() ? 0 : CountNewlines(text) + (text.back() == '\n' ? 0 : 1);
}

class TextWriter {
 public:
  TextWriter(const Model& model, const TextLimits& limits, const IslandSink& add)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        limits_(limits),
        add_(add) {}

  Status Write() {
    const TextChoice choice = ChooseTexts(model_, limits_);
    TRY(WriteChosen(choice));
    return add_("texts", Index(choice));
  }

 private:
  Status WriteChosen(const TextChoice& choice) {
    numbers_.assign(choice.texts.size(), -1);
    for (size_t i = 0; i < choice.texts.size(); ++i) {
      if (choice.texts[i].chosen && Append(choice.texts[i]))
        numbers_[i] = static_cast<int64_t>(stored_.size()) - 1;
      if (chunk_.size() >= limits_.chunk) TRY(FinishChunk());
    }
    return chunk_.empty() ? Status() : FinishChunk();
  }

  bool Append(const DistinctText& text) {
    if (!ReadPayloadStart(model_, entries_, text.row, limits_.one, text_).ok()) return false;
    constexpr int64_t kEmptyLine = 2;                            // a tab and a line end
    if (text_.empty() && text.bytes > kEmptyLine) return false;  // its log is not open any more
    const bool is_cut = text.bytes > limits_.one;
    if (is_cut) DropCutCharacter(text_);
    stored_.push_back(
        {chunks_, chunk_.size(), text_.size(), LinesOf(text_), is_cut ? text.bytes : 0});
    chunk_ += text_;
    return true;
  }

  Status FinishChunk() {
    TRY(add_(fmt::format("text/{}", chunks_++), chunk_));
    chunk_.clear();
    return {};
  }

  std::string NameOf(size_t row) const {
    const std::string_view kind = model_.pools.Text(entries_.kind[row]);
    std::string_view name = model_.pools.Text(entries_.name[row]);
    if (model_.pools.Text(entries_.form[row]) == "code") {
      name = model_.pools.Text(entries_.detail[row]);
      name = name.substr(name.rfind('/') + 1);  // npos + 1 is 0
    }
    name = name.substr(0, kLongestName);
    const bool has_own = kind == "artifact" || kind == "dump_file" || kind.empty();
    if (has_own || name.empty()) return std::string(name.empty() ? kind : name);
    return fmt::format("{} {}", kind, name);
  }

  void WriteArtifact(const TextArtifact& one, JsonWriter& json) {
    const int64_t attempt = entries_.compile_attempt[one.row];
    const std::string_view kind = model_.pools.Text(entries_.kind[one.row]);
    json.BeginArray().Value(entries_.entry[one.row]);
    json.Value(kinds_.Of(std::string(kind.substr(0, kLongestName))))
        .Value(names_.Of(NameOf(one.row)));
    json.Value(forms_.Of(std::string(model_.pools.Text(entries_.form[one.row]))));
    json.Value(attempt == kNone64 ? 0 : attempt).Value(entries_.payload_bytes[one.row]);
    json.Value(numbers_[one.text]).EndArray();
  }

  struct Owner {
    size_t row = 0;  // an entry of it
    std::string id;
    std::string artifacts;  // JSON, without the brackets
  };

  std::vector<Owner> Owners(const TextChoice& choice) {
    std::vector<Owner> owners;
    std::map<std::string, size_t, std::less<>> known;
    for (const TextArtifact& one : choice.artifacts) {
      const size_t row = one.row;
      const std::string_view id =
          WithoutAttempt(model_.pools.Text(entries_.compile_id[row])).substr(0, kLongestName);
      const std::string key = fmt::format("{}:{}:{}:{}", entries_.input[row], entries_.rank[row],
                                          entries_.life[row], id);
      const auto [at, is_new] = known.try_emplace(key, owners.size());
      if (is_new) owners.push_back({row, std::string(id), ""});
      std::string& list = owners[at->second].artifacts;
      if (!list.empty()) list += ',';
      JsonWriter json(&list);
      WriteArtifact(one, json);
    }
    return owners;
  }

  std::string Index(const TextChoice& choice) {
    const std::vector<Owner> owners = Owners(choice);
    int64_t left_out = choice.artifacts_left_out;
    int64_t left_out_bytes = 0;
    for (size_t i = 0; i < numbers_.size(); ++i) {
      if (numbers_[i] >= 0) continue;
      ++left_out;
      left_out_bytes += choice.texts[i].bytes;
    }
    std::string out;
    JsonWriter json(&out);
    json.BeginObject().Field("most_bytes", limits_.all).Field("left_out", left_out);
    json.Field("left_out_bytes", left_out_bytes);
    json.ListField("kinds", kinds_.all()).ListField("names", names_.all());
    json.ListField("forms", forms_.all());
    json.Array("texts", stored_, [&](const StoredText& text) {
      json.BeginArray().Value(text.chunk).Value(text.offset).Value(text.bytes);
      json.Value(text.lines).Value(text.whole).EndArray();
    });
    json.Objects("compilations", owners, [&](const Owner& owner) {
      json.Field("input", entries_.input[owner.row]).Field("rank", entries_.rank[owner.row]);
      json.Field("life", entries_.life[owner.row]).Field("id", owner.id);
      json.Key("artifacts").Raw("[" + owner.artifacts + "]");
    });
    StackIndex(model_).Write(json);
    json.EndObject();
    return out;
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  const TextLimits& limits_;
  const IslandSink& add_;
  std::string chunk_, text_;
  size_t chunks_ = 0;
  std::vector<StoredText> stored_;
  std::vector<int64_t> numbers_;  // of distinct texts; -1: left out
  Numbering<std::string> kinds_, names_, forms_;
};

}  // namespace

Status WriteTexts(const Model& model, const TextLimits& limits, const IslandSink& add) {
  if (model.tables.Get<CompileLogTable>().size() == 0) return {};
  return TextWriter(model, limits, add).Write();
}

Status AddTexts(const Model& model, Islands& islands) {
  return WriteTexts(model, TextLimits(), islands.Sink());
}

}  // namespace debrief::outputs::html
