#include "inputs/input_members.h"

#include <set>
#include <string_view>
#include <utility>

#include "base/sqlite/database.h"

namespace debrief {

namespace {

// A source that several inputs read, each as its own.
class SharedView final : public Source {
 public:
  explicit SharedView(std::shared_ptr<const Source> source) : source_(std::move(source)) {}

  uint64_t size() const override { return source_->size(); }
  Result<ByteView> View(uint64_t offset, size_t length) const override {
    return source_->View(offset, length);
  }

 private:
  std::shared_ptr<const Source> source_;
};

std::string_view WithoutExtension(std::string_view path) {
  const size_t dot = path.rfind('.');
  const bool is_in_name =
      dot != std::string_view::npos && path.find_first_of("/!", dot) == std::string_view::npos;
  return is_in_name ? path.substr(0, dot) : path;
}

}  // namespace

std::unique_ptr<Source> MakeSharedView(std::shared_ptr<const Source> source) {
  return std::make_unique<SharedView>(std::move(source));
}

FoundInput MemberOfFile(const FoundInput& file, const InputMember& member) {
  FoundInput input;
  const bool is_file = member.name.empty();
  input.path = is_file ? file.path : file.path + "!" + member.name;
  input.folder = is_file ? file.folder : file.path;
  input.name = is_file || !member.is_text ? file.name : member.name;
  input.bytes = file.bytes;
  if (member.is_text) return input;
  input.file = file.file;
  input.content_bytes = file.content_bytes;
  input.packing = file.packing;
  input.importer = file.importer;
  input.claims = file.claims;
  input.state = file.state;
  input.recognition = member.recognition;
  input.member = member.number;
  return input;
}

std::vector<std::string> TableNamesOf(const Source& source) {
  auto database = SqliteDatabase::Open(source);
  if (!database.ok()) return {};
  const std::vector<std::string_view> names = database.value()->Tables();
  return {names.begin(), names.end()};
}

void ForgiveUnread(std::vector<FoundInput>& found) {
  std::set<std::string_view> read;
  for (const FoundInput& input : found) {
    const bool is_read = input.importer != nullptr && input.importer->members != nullptr &&
                         input.state == InputState::kRecognised;
    // A file that holds several inputs is read under its own name, too.
    if (is_read)
      read.insert(WithoutExtension(std::string_view(input.path).substr(0, input.path.find('!'))));
  }
  for (FoundInput& input : found) {
    const bool is_unread = input.importer != nullptr && input.importer->members != nullptr &&
                           input.state == InputState::kSkipped;
    if (is_unread && read.contains(WithoutExtension(input.path))) input.notes.clear();
  }
}

}  // namespace debrief
