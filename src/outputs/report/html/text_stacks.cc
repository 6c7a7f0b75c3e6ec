#include "outputs/report/html/text_stacks.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "outputs/report/html/text_choice.h"
#include "tables/compile_entry.h"

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
    json.Key("frames").BeginArray();
    for (const FrameId id : frames_) {
      const Frame& frame = model_.pools.GetFrame(id);
      json.BeginArray().Value(Text(frame.file)).Value(frame.line);
      json.Value(Text(frame.function)).Value(Text(frame.text)).EndArray();
    }
    json.EndArray().Key("stacks").BeginObject();
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

}  // namespace

void WriteStartStacks(const Model& model, JsonWriter& json) { StackIndex(model).Write(json); }

}  // namespace debrief::outputs::html
