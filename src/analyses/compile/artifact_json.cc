#include "analyses/compile/artifact_json.h"

#include <array>
#include <charconv>

#include "base/bytes/md5.h"
#include "base/bytes/source.h"
#include "base/json/canonical_number.h"

namespace debrief {

namespace {

constexpr std::string_view kEstimate = "\"estimated_runtime_ns\":";

Status WrongForm() { return Status(Code::kInvalid, "not the expected form"); }

// The number that tlparse has in the end. It reads what it has written itself, so the token, which
// is canonical, goes once more through serde_json's way of reading numbers.
std::optional<double> ReadTwice(std::string_view token) {
  std::array<char, 2 * kCanonicalNumberBytes> again;
  if (token.size() > kCanonicalNumberBytes) return std::nullopt;
  const char* end = WriteCanonicalNumber(token, again.data());
  double number = 0;
  if (end == nullptr) return std::nullopt;
  if (std::from_chars(again.data(), end, number).ec != std::errc()) return std::nullopt;
  return number;
}

Result<RuntimeOp> ReadOp(JsonValue value) {
  std::optional<std::string_view> name;
  std::optional<double> estimate;
  TRY(value.ForEachField([&](std::string_view key, JsonValue field) {
    if (key == "name") name = field.String();
    if (key != "estimated_runtime_ns" || field.kind() != JsonKind::kNumber) return;
    if (auto raw = field.Raw()) estimate = ReadTwice(*raw);
  }));
  if (!name || !estimate) return WrongForm();
  return RuntimeOp{std::string(*name), *estimate};
}

Status ReadOps(JsonValue value, std::vector<RuntimeOp>& ops) {
  return value.ForEachElement([&](JsonValue element) -> Status {
    ASSIGN_OR_RETURN(RuntimeOp op, ReadOp(element));
    ops.push_back(std::move(op));
    return {};
  });
}

// A step of the order is an id, or an object with one; what is neither is left out.
void ReadStep(JsonValue step, std::vector<std::string>& order) {
  auto add = [&](std::optional<std::string_view> id) {
    if (id) order.emplace_back(*id);
  };
  if (step.kind() == JsonKind::kString) return add(step.String());
  if (step.kind() != JsonKind::kObject) return;
  Status status = step.ForEachField([&](std::string_view key, JsonValue field) {
    if (key == "compile_id" && field.kind() == JsonKind::kString) add(field.String());
  });
  static_cast<void>(status);  // the text was found to be JSON already
}

}  // namespace

bool ArtifactReader::Open(std::string_view text) {
  text_.clear();
  if (!canonical_.Append(text, JsonCanonical::kCompact, text_)) return false;
  const size_t bytes = text_.size();
  text_.append(kPadding, '\0');
  canonical_text_ = std::string_view(text_).substr(0, bytes);
  return reader_.Open(canonical_text_).ok();
}

std::optional<std::vector<std::string>> ArtifactReader::Schedule(std::string_view text) {
  std::vector<std::string> ops;
  if (!Open(text)) return std::nullopt;
  Status status = reader_.root().ForEachElement([&](JsonValue element) -> Status {
    auto op = element.String();
    if (!op) return WrongForm();
    ops.emplace_back(*op);
    return {};
  });
  if (!status.ok()) return std::nullopt;
  return ops;
}

std::optional<Runtime> ArtifactReader::RuntimeAndMeta(std::string_view text) {
  Runtime runtime;
  bool has_ops = false;
  if (!Open(text)) return std::nullopt;
  Status status = reader_.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
    if (key != "ops") return {};
    has_ops = true;
    return ReadOps(value, runtime.ops);
  });
  if (!status.ok() || !has_ops) return std::nullopt;
  runtime.fingerprint = Md5Hex(canonical_text_);
  runtime.shape_fingerprint = Md5Hex(WithoutEstimates(canonical_text_));
  return runtime;
}

std::optional<std::vector<std::string>> ArtifactReader::ExecutionOrder(std::string_view text) {
  std::vector<std::string> order;
  bool has_order = false;
  if (!Open(text)) return std::nullopt;
  Status status = reader_.root().ForEachField([&](std::string_view key, JsonValue value) -> Status {
    if (key != "graph_execution_order") return {};
    has_order = true;
    return value.ForEachElement([&](JsonValue step) { ReadStep(step, order); });
  });
  if (!status.ok() || !has_order) return std::nullopt;
  return order;
}

// Inside of strings quotes are escaped, so a quoted text behind a brace or a comma with a colon
// behind it is a key.
std::string WithoutEstimates(std::string_view canonical) {
  std::string kept;
  kept.reserve(canonical.size());
  size_t from = 0;
  while (true) {
    size_t at = canonical.find(kEstimate, from);
    if (at == std::string_view::npos) break;
    size_t value = at + kEstimate.size();
    size_t end = canonical.find_first_of(",}", value);
    char before = at == 0 ? '\0' : canonical[at - 1];
    bool is_key = before == '{' || before == ',';
    bool is_number = end != std::string_view::npos &&
                     std::string_view("\"[{").find(canonical[value]) == std::string_view::npos;
    if (!is_key || !is_number) {
      kept += canonical.substr(from, value - from);
      from = value;
      continue;
    }
    kept += canonical.substr(from, at - from);
    if (canonical[end] == ',') {
      ++end;
    } else if (before == ',') {
      kept.pop_back();
    }
    from = end;
  }
  kept += canonical.substr(from);
  return kept;
}

}  // namespace debrief
