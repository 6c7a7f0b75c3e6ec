// Compile logs made by hand: entries with payloads, as the importer would leave them in the model.
#pragma once

#include <string>
#include <string_view>

#include "analyses/schedule.h"
#include "model/model.h"
#include "tables/compile_entry.h"

namespace debrief {

struct TestEntry {
  std::string_view name;     // of an artifact, or of a graph dump
  std::string_view payload;  // as it was logged, without tabs
  int64_t frame = 0;
  int64_t frame_compile = 0;
  int64_t attempt = 0;
  std::string_view kind = "artifact";
  std::string_view encoding = "json";
  std::string_view state = "read";
};

class CompileLogBuilder {
 public:
  // The log of `rank`; entries that follow go into it.
  CompileLogBuilder& Log(int32_t rank) {
    Finish();
    rank_ = rank;
    return *this;
  }

  CompileLogBuilder& Add(const TestEntry& entry) {
    auto& pools = model_.pools;
    CompileEntryRow row;
    row.job = row.attempt = 0;
    row.rank = rank_;
    row.input = static_cast<int32_t>(model_.sources.size());
    row.entry = static_cast<int64_t>(text_.size());
    row.line = ++lines_;
    row.kind = pools.Intern(entry.kind);
    row.state = pools.Intern(entry.state);
    bool is_named = entry.kind == "artifact" || entry.kind == "graph_dump";
    if (is_named) row.name = pools.Intern(entry.name);
    if (entry.kind == "artifact") row.detail = pools.Intern(entry.encoding);
    row.file = pools.Intern(std::string(is_named ? entry.name : entry.kind) += ".txt");
    row.frame_id = entry.frame;
    row.frame_compile_id = entry.frame_compile;
    row.compile_attempt = entry.attempt;
    row.compile_id = pools.Intern(Id(entry));
    text_ += "V0101 header\n";
    row.payload_offset = static_cast<int64_t>(text_.size());
    AppendTabbed(entry.payload);
    row.payload_bytes = static_cast<int64_t>(text_.size()) - row.payload_offset;
    model_.tables.Edit<CompileEntryTable>().Add(row);
    return *this;
  }

  // The tables of `analysis` join the model; its findings are returned.
  std::vector<Finding> Run(const Analysis& analysis) {
    Finish();
    AnalysisResult result;
    Status status = RunDeclared(analysis, model_, result);
    if (!status.ok()) return {};
    model_.Append(std::move(result.part));
    return std::move(result.findings);
  }

  Model& model() { return model_; }

 private:
  static std::string Id(const TestEntry& entry) {
    std::string id = std::to_string(entry.frame) + "/" + std::to_string(entry.frame_compile);
    return entry.attempt > 0 ? id + "_" + std::to_string(entry.attempt) : id;
  }

  void AppendTabbed(std::string_view payload) {
    while (!payload.empty()) {
      size_t end = payload.find('\n');
      ((text_ += '\t') += payload.substr(0, end)) += '\n';
      payload.remove_prefix(end == std::string_view::npos ? payload.size() : end + 1);
    }
  }

  void Finish() {
    if (rank_ == kNone32) return;
    model_.sources.push_back(MakeMemorySource(std::move(text_)));
    text_.clear();
    lines_ = 0;
    rank_ = kNone32;
  }

  Model model_;
  std::string text_;
  int64_t lines_ = 0;
  int32_t rank_ = kNone32;
};

}  // namespace debrief
