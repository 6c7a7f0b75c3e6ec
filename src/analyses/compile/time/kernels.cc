#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analyses/compile/rows.h"
#include "analyses/compile/time/phases.h"
#include "base/json/cursor.h"
#include "model/compile/payload.h"
#include "tables/compile_autotune.h"
#include "tables/compile_kernel.h"

namespace debrief::analyses::compile_time {

namespace {

// What the end of a tuning phase carries. Texts that are JSON themselves are copied: they are
// opened once the event has been read.
struct Tuning {
  std::string compile_id;
  std::string kernel;
  std::string shapes;
  std::string dtypes;
  std::string strides;
  std::string stats;     // {"num_choices": 20, "best_kernel": ..., "best_time": ...}
  std::string metadata;  // {"exceptions": [{"choice": ..., "exception_message": ...}]}
};

struct Failures {
  int64_t count = 0;
  std::string first;
};

void Take(JsonValue value, std::string& text) {
  if (auto found = value.String()) text = *found;
}

double Seconds(const Phase& phase) {
  return static_cast<double>(phase.end_ns - phase.start_ns) / 1e9;
}

enum class What : uint8_t { kNothing, kKernel, kAutotuning, kPrecompiling };

What WhatIs(std::string_view name) {
  if (name.starts_with("CachingAutotuner.")) return What::kKernel;
  if (name.ends_with("_template_autotuning")) return What::kAutotuning;
  if (name.ends_with("_template_precompiling")) return What::kPrecompiling;
  return What::kNothing;
}

class Reader : EntryPass {
 public:
  Reader(const Model& model, Part& part) : EntryPass(model, part) {}

  void ReadArtifacts() {
    AskOnce<bool> is_info(model_.pools,
                          [](std::string_view name) { return name == "triton_kernel_info"; });
    for (size_t row = 0; row < entries_.size(); ++row) {
      if (is_info(entries_.name[row]) && Text(entries_.kind[row]) == "artifact") ReadInfo(row);
    }
  }

  void ReadPhases(std::vector<Phase>& phases) {
    for (Phase& phase : phases) {
      const What what = what_(phase.name);
      if (what != What::kNothing && phase.end_row != kNoRow) ReadPhase(what, phase);
    }
  }

 private:
  void ReadPhase(What what, Phase& phase) {
    auto lines = PayloadLines(model_, entries_, phase.end_row);
    if (!lines.ok() || !reader_.Open(lines.value().text()).ok()) return;
    Tuning tuning;
    Status status = reader_.root().ForEachField([&](std::string_view key, JsonValue value) {
      return key == "args" ? ReadArgs(value, tuning) : Status();
    });
    if (!status.ok()) return;
    if (phase.compile_id == StringId::kNone) phase.compile_id = IdOf(tuning.compile_id);
    if (what == What::kKernel) return AddTuned(phase, tuning);
    if (what == What::kPrecompiling) return KeepPrecompiling(phase, tuning);
    AddChoice(phase, tuning);
  }

  static Status ReadArgs(JsonValue args, Tuning& tuning) {
    return args.ForEachField([&](std::string_view key, JsonValue value) {
      if (key == "compile_id") Take(value, tuning.compile_id);
      if (key == "kernel_name") Take(value, tuning.kernel);
      if (key == "autotune_shape") Take(value, tuning.shapes);
      if (key == "autotune_dtypes") Take(value, tuning.dtypes);
      if (key == "autotune_strides") Take(value, tuning.strides);
      if (key == "autotune_choices_stats") Take(value, tuning.stats);
      if (key == "metadata") Take(value, tuning.metadata);
    });
  }

  void AddTuned(const Phase& phase, const Tuning& tuning) {
    if (tuning.kernel.empty()) return;
    auto row = RowOf<CompileKernelRow>(phase.who, entries_.entry[phase.end_row], phase.compile_id);
    row.kernel = part_.pools.Intern(tuning.kernel);
    row.what = part_.pools.Intern(Text(phase.name));
    row.seconds = Seconds(phase);
    part_.tables.Edit<CompileKernelTable>().Add(row);
  }

  // The choices are compiled right before they are tried.
  void KeepPrecompiling(const Phase& phase, const Tuning& tuning) {
    precompiled_input_ = phase.who.input;
    precompile_s_ = Seconds(phase);
    failures_ = tuning.metadata.empty() ? Failures() : ReadFailures(tuning.metadata);
  }

  void AddChoice(const Phase& phase, const Tuning& tuning) {
    auto row =
        RowOf<CompileAutotuneRow>(phase.who, entries_.entry[phase.end_row], phase.compile_id);
    row.name = part_.pools.Intern(Text(phase.name));
    row.shapes = texts_(tuning.shapes);
    row.dtypes = texts_(tuning.dtypes);
    row.strides = texts_(tuning.strides);
    row.seconds = Seconds(phase);
    if (precompiled_input_ == phase.who.input) {
      row.precompile_seconds = precompile_s_;
      row.failed = failures_.count;
      row.failure = texts_(failures_.first);
    }
    precompiled_input_ = kNone32;
    if (!tuning.stats.empty()) ReadStats(tuning.stats, row);
    part_.tables.Edit<CompileAutotuneTable>().Add(row);
  }

  void ReadStats(const std::string& text, CompileAutotuneRow& row) {
    auto known = [](std::optional<int64_t> number) { return number.value_or(kNone64); };
    if (!Open(text)) return;
    Status status = reader_.root().ForEachField([&](std::string_view key, JsonValue value) {
      if (key == "num_choices") row.choices = known(value.Int());
      if (key == "num_triton_choices") row.triton_choices = known(value.Int());
      if (key == "best_time") row.best_ms = value.Double().value_or(kNoDouble);
      if (key == "best_kernel") row.best = texts_(value.String().value_or(""));
      if (key == "best_kernel_desc") row.best_description = texts_(value.String().value_or(""));
    });
    static_cast<void>(status);  // what was read before the text broke is true
  }

  Failures ReadFailures(const std::string& text) {
    Failures failures;
    if (!Open(text)) return failures;
    Status status = reader_.root().ForEachField([&](std::string_view key, JsonValue value) {
      if (key != "exceptions") return Status();
      return value.ForEachElement([&](JsonValue one) {
        const bool is_first = failures.count++ == 0;
        return one.ForEachField([&](std::string_view field, JsonValue message) {
          if (is_first && field == "exception_message") Take(message, failures.first);
        });
      });
    });
    static_cast<void>(status);
    return failures;
  }

  void ReadInfo(size_t row) {
    auto lines = PayloadLines(model_, entries_, row);
    if (!lines.ok() || !reader_.Open(lines.value().text()).ok()) return;
    Status status = reader_.root().ForEachField(
        [&](std::string_view kernel, JsonValue value) { return ReadKernel(row, kernel, value); });
    static_cast<void>(status);
  }

  Status ReadKernel(size_t entry, std::string_view kernel, JsonValue value) {
    auto row = RowOf<CompileKernelRow>(IdentityOf(entries_, entry), entries_.entry[entry],
                                       entries_.compile_id[entry]);
    row.kernel = part_.pools.Intern(kernel);
    row.what = part_.pools.Intern("compile");
    TRY(value.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "compile_time_us") row.seconds = field.Double().value_or(kNoDouble) / 1e6;
      if (key == "num_configs") row.configs = field.Int().value_or(kNone64);
      if (key == "autotune_cache_state") row.cache = texts_(field.String().value_or(""));
      if (key == "only_config" || key == "best_config")
        row.config = texts_(field.Raw().value_or(""));
    }));
    part_.tables.Edit<CompileKernelTable>().Add(row);
    return {};
  }

  template <typename Row>
  Row RowOf(const Identity& who, int64_t entry, StringId id) {
    Row row = Part::RowOf<Row>(who);
    row.input = who.input;
    row.entry = entry;
    row.compile_id = texts_(id);
    return row;
  }

  // A document of its own inside of a string.
  bool Open(const std::string& text) {
    inner_.assign(text).append(kPadding, '\0');
    return reader_.Open({inner_.data(), text.size()}).ok();
  }

  // The id of the model for a compilation that some entry names.
  StringId IdOf(std::string_view id) {
    if (ids_.empty()) {
      for (StringId known : entries_.compile_id) ids_.try_emplace(Text(known), known);
    }
    auto found = ids_.find(id);
    return id.empty() || found == ids_.end() ? StringId::kNone : found->second;
  }

  JsonReader reader_;
  std::string inner_;
  AskOnce<What> what_{model_.pools, WhatIs};
  std::unordered_map<std::string_view, StringId> ids_;
  int32_t precompiled_input_ = kNone32;
  double precompile_s_ = 0;
  Failures failures_;
};

}  // namespace

void AddKernels(const Model& model, std::vector<Phase>& phases, Part& part) {
  Reader reader(model, part);
  reader.ReadArtifacts();
  reader.ReadPhases(phases);
}

}  // namespace debrief::analyses::compile_time
