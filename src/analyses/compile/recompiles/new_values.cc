#include "analyses/compile/recompiles/new_values.h"

#include <fmt/format.h>

#include <tuple>

#include "analyses/compile/break_text.h"
#include "model/compile/payload.h"
#include "tables/compile_shape.h"
#include "tables/compile_tensor.h"

namespace debrief::analyses::compile_recompiles {

namespace {

// Element `at` of "[4, 64, 128]"; empty when there is none.
std::string_view Element(std::string_view list, int32_t at) {
  if (at < 0 || list.size() < 2) return {};
  list = list.substr(1, list.size() - 2);
  for (; at > 0; --at) {
    const size_t comma = list.find(',');
    if (comma == std::string_view::npos) return {};
    list.remove_prefix(comma + 1);
  }
  return Trimmed(list.substr(0, list.find(',')));
}

std::string SymbolSource(const std::string& source, const Change& change) {
  if (change.kind == "size") return fmt::format("{}.size()[{}]", source, change.dimension);
  if (change.kind == "stride") return fmt::format("{}.stride()[{}]", source, change.dimension);
  return source;
}

// What follows `before` on its line, up to the comment.
std::string_view Behind(std::string_view guards, const std::string& before) {
  const size_t at = guards.find(before);
  if (at == std::string_view::npos) return {};
  std::string_view line = FirstLine(guards.substr(at + before.size()));
  return Trimmed(line.substr(0, line.find("  # ")));
}

// The value that the guards require of `source`; empty when they do not.
std::string_view Search(std::string_view guards, const std::string& source, std::string_view kind) {
  if (kind == "type") {
    const std::string_view type = Behind(guards, fmt::format("___check_type_id({}, ", source));
    const size_t at = type.find("type=");
    return at == std::string_view::npos ? std::string_view() : ClassName(type.substr(at + 5));
  }
  if (kind == "length") return Behind(guards, fmt::format(": len({}) == ", source));
  if (kind == "identity") {
    const std::string_view id = Behind(guards, fmt::format("___check_obj_id({}, ", source));
    return id.substr(0, id.find(')'));
  }
  const std::string_view value = Behind(guards, fmt::format(": {} == ", source));
  return value.empty() ? Behind(guards, fmt::format(": {} is ", source)) : value;
}

// A search reads all guards of the compilation. Real ones differ in a handful of things; a log made
// to be slow gets no further values.
constexpr size_t kMostSearches = 256;

}  // namespace

NewValues::NewValues(const Compilations& compilations) : compilations_(compilations) {
  const Model& model = compilations.model();
  const auto& shapes = model.tables.Get<CompileShapeTable>();
  for (size_t row = 0; row < shapes.size(); ++row) {
    if (shapes.sources[row] == StringId::kNone) continue;
    if (model.pools.Text(shapes.kind[row]) != "create_symbol") continue;
    const int32_t at = compilations.At(shapes, row);
    if (at == kNobody) continue;
    symbols_[{at, model.pools.Text(shapes.sources[row])}] = {
        // the last attempt wins
        model.pools.Text(shapes.symbol[row]), model.pools.Text(shapes.value[row])};
  }
}

const NewValues::Symbol* NewValues::SymbolOf(int32_t compilation, std::string_view source) const {
  auto found = symbols_.find({compilation, source});
  return found == symbols_.end() ? nullptr : &found->second;
}

Status NewValues::ReadGuards(int32_t compilation) {
  if (guards_of_ == compilation) return {};
  guards_of_ = compilation;
  guards_.clear();
  found_.clear();
  const Compilation& of = compilations_.all()[static_cast<size_t>(compilation)];
  if (of.guards == kNoRow) return {};
  const Model& model = compilations_.model();
  return ReadPayload(model, model.tables.Get<CompileEntryTable>(), of.guards, guards_);
}

Status NewValues::FromGuards(int32_t now, const std::string& source, Change& change) {
  TRY(ReadGuards(now));
  std::string key = fmt::format("{} {}", change.kind, source);
  auto found = found_.find(key);
  if (found == found_.end()) {
    if (found_.size() == kMostSearches) return {};
    found = found_.emplace(std::move(key), Search(guards_, source, change.kind)).first;
  }
  change.new_value = found->second;
  return {};
}

void NewValues::ReadTensors() {
  tensors_read_ = true;
  const Model& model = compilations_.model();
  const auto& rows = model.tables.Get<CompileTensorTable>();
  std::map<std::tuple<int32_t, int64_t, int64_t>, size_t> described;  // compilation, describer, id
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::string_view kind = model.pools.Text(rows.kind[row]);
    if (kind == "describe_storage") continue;
    const int32_t at = compilations_.At(rows, row);
    if (at == kNobody) continue;
    const std::tuple key(at, rows.describer[row], rows.id[row]);
    if (kind == "describe_tensor") {
      described[key] = row;
    } else if (auto found = described.find(key); found != described.end()) {
      tensors_[{at, model.pools.Text(rows.source[row])}] = found->second;
    }
  }
}

std::string NewValues::TensorValue(int32_t compilation, const std::string& source,
                                   const Change& change) {
  if (!tensors_read_) ReadTensors();
  auto found = tensors_.find({compilation, source});
  if (found == tensors_.end()) return {};
  const Model& model = compilations_.model();
  const auto& rows = model.tables.Get<CompileTensorTable>();
  const size_t row = found->second;
  if (change.kind == "size")
    return std::string(Element(model.pools.Text(rows.sizes[row]), change.dimension));
  if (change.kind == "stride")
    return std::string(Element(model.pools.Text(rows.strides[row]), change.dimension));
  if (change.kind == "dtype") return std::string(model.pools.Text(rows.dtype[row]));
  if (change.kind == "device") return std::string(model.pools.Text(rows.device[row]));
  if (change.kind == "type") return "Tensor";
  return {};
}

void NewValues::FromTensors(int32_t now, int32_t before, const std::string& source,
                            Change& change) {
  if (change.old_value.empty() && before != kNobody)
    change.old_value = TensorValue(before, source, change);
  if (change.new_value.empty()) change.new_value = TensorValue(now, source, change);
}

Result<std::string> NewValues::Complete(int32_t now, int32_t before, Change& change) {
  if (change.name.empty() || change.kind == "global_state") return std::string();
  const std::string source = ToSource(change.name);
  const Symbol* symbol = SymbolOf(now, SymbolSource(source, change));
  if (symbol != nullptr && change.new_value.empty() && change.kind != "type")
    change.new_value = symbol->value;
  if (change.new_value.empty()) TRY(FromGuards(now, source, change));
  if (change.new_value.empty() || change.old_value.empty())
    FromTensors(now, before, source, change);
  return symbol == nullptr ? std::string() : std::string(symbol->name);
}

}  // namespace debrief::analyses::compile_recompiles
