#include "inputs/import.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <new>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/threads/guard.h"
#include "inputs/analyser_text.h"
#include "inputs/input_diagnostics.h"
#include "inputs/open_input.h"
#include "inputs/same_part.h"
#include "inputs/stack_rows.h"
#include "tables/input.h"

namespace debrief {

namespace {

int64_t CountRows(const TableSet& tables) {
  int64_t rows = 0;
  for (TableId id = 0; id < AllTables().size(); ++id) {
    if (const Table* table = tables.Find(id)) rows += static_cast<int64_t>(table->size());
  }
  return rows;
}

void AddNote(Part& part, int32_t input, FoundInput::Note note) {
  part.diagnostics.Add(*note.kind, input, std::move(note.occurrence));
}

// What an importer gave up with, as a diagnostic.
FoundInput::Note NoteOfFailure(const Status& status) {
  if (status.code() == Code::kChanged) return NoteOf(status, Packing::kNone);
  return {
      &kInputFailed,
      {.offset = status.place().offset, .line = status.place().line, .detail = status.message()}};
}

bool IsRead(const FoundInput& input) {
  return input.importer != nullptr && input.importer->open != nullptr &&
         input.state == InputState::kRecognised;
}

// Bytes read, counted as they lie on disk: a range of an unpacked input counts for its share.
class BytesRead {
 public:
  BytesRead(const std::vector<FoundInput>& inputs, Progress& progress) : progress_(progress) {
    uint64_t total = 0;
    for (const FoundInput& input : inputs) total += IsRead(input) ? input.bytes : 0;
    progress_.Begin("import", total, ProgressUnit::kBytes);
  }

  void Add(uint64_t bytes) { progress_.Step(done_ += bytes); }

 private:
  Progress& progress_;
  std::atomic<uint64_t> done_ = 0;
};

uint64_t ShareOf(uint64_t whole, uint64_t part, uint64_t of) {
  if (of == 0) return 0;
  return static_cast<uint64_t>(static_cast<double>(whole) * static_cast<double>(part) /
                               static_cast<double>(of));
}

using OnBytes = std::function<void(uint64_t bytes)>;

// Unpacking is the first half of the way of a packed input. Returns what it counted for.
uint64_t Open(FoundInput& input, SpillBudget& budget, const OnBytes& on_bytes, Spilled& opened) {
  uint64_t packed = 0, told = 0;
  opened = OpenInput(input, budget, [&](uint64_t bytes) {
    packed += bytes;
    const uint64_t half = std::min(packed, input.bytes) / 2;
    on_bytes(half - told);
    told = half;
  });
  return told;
}

// `told` bytes were counted before.
void Read(FoundInput& input, const ImportOptions& options, ThreadPool& pool, uint64_t told,
          const OnBytes& on_bytes, Imported& imported) {
  const uint64_t left = input.bytes - told;
  ImportContext context{.who = input.who,
                        .path = input.path,
                        .now_ns = options.now_ns,
                        .keeps_args = options.keeps_args,
                        .ops_alone = options.ops_alone,
                        .member = input.member};
  std::unique_ptr<Reader> reader = input.importer->open(context);
  auto on_range = [&](uint64_t range_bytes) {
    uint64_t share = ShareOf(left, range_bytes, imported.source->size());
    told += share;
    on_bytes(share);
  };
  const Diagnostics before = imported.part.diagnostics;
  Status status = ImportSource(*reader, *imported.source, pool, imported.part, on_range);
  // What ranges do not cover, and what was lost in rounding.
  on_bytes(input.bytes - std::min(told, input.bytes));
  input.state = status.ok() ? InputState::kImported : InputState::kFailed;
  input.content_bytes = static_cast<int64_t>(imported.source->size());
  for (uint64_t chunk_bytes : options.check_chunk_bytes) {
    context.chunk_bytes = chunk_bytes;
    Part again;
    again.diagnostics = before;
    Status same = ImportSource(*input.importer->open(context), *imported.source, pool, again);
    DEBRIEF_CHECK(same.ok() == status.ok() && same.message() == status.message());
    CheckSamePart(imported.part, std::move(again));
  }
  // Stacks of a hung process may stand in any output of a rank; that importer reads lines alone.
  if (status.ok() && input.importer->info.fallback)
    status = inputs::AddStacksInText(*imported.source, input.who, imported.part);
  if (status.ok() && input.importer->info.fallback)
    status = inputs::AddAnalyserText(*imported.source, input.who, imported.part);
  input.rows = CountRows(imported.part.tables);
  if (!status.ok()) AddNote(imported.part, input.who.input, NoteOfFailure(status));
}

Imported ImportOne(FoundInput& input, const ImportOptions& options, ThreadPool& pool,
                   SpillBudget& budget, const OnBytes& on_bytes) {
  Imported imported;
  TakeNotes(input, imported.part);
  if (input.importer == nullptr || input.state != InputState::kRecognised) return imported;
  Status trouble;
  if (IsRead(input)) {
    Spilled opened;
    const uint64_t told = Open(input, budget, on_bytes, opened);
    trouble = std::move(opened.trouble);
    imported.source = std::move(opened.source);
    if (imported.source != nullptr) Read(input, options, pool, told, on_bytes, imported);
  } else if (input.packing != Packing::kNone && !input.file.empty()) {
    trouble = CheckPacked(input, input.content_bytes);
  }
  if (!trouble.ok()) {
    AddNote(imported.part, input.who.input, NoteOf(trouble, input.packing));
    bool cut = trouble.code() == Code::kTruncated || trouble.code() == Code::kInvalid;
    bool read_some = imported.source != nullptr && (cut || input.rows > 0);
    if (!read_some) input.state = InputState::kFailed;
  }
  return imported;
}

}  // namespace

void TakeNotes(FoundInput& input, Part& part) {
  for (FoundInput::Note& note : input.notes) AddNote(part, input.who.input, std::move(note));
  input.notes.clear();
}

bool KeepsSource(const FoundInput& input) {
  if (input.importer == nullptr) return false;
  const auto& makes = input.importer->info.makes;
  return std::find(makes.begin(), makes.end(), "compile_entry") != makes.end();
}

// When memory runs out, what was read of this input is let go, and the others are read.
Imported ImportInput(FoundInput& input, const ImportOptions& options, ThreadPool& pool,
                     SpillBudget& budget, const std::function<void(uint64_t bytes)>& on_bytes) {
  Imported imported;
  Status status = Guarded([&] { imported = ImportOne(input, options, pool, budget, on_bytes); });
  if (status.ok()) return imported;
  input.state = InputState::kFailed;
  input.rows = 0;
  AddNote(imported.part, input.who.input,
          {&kInputNoMemory, {.offset = -1, .line = -1, .detail = status.message()}});
  return imported;
}

namespace {

void AddInputRow(const FoundInput& input, Model& model) {
  auto row = Part::RowOf<InputRow>(input.who);
  row.input = input.who.input;
  row.path = model.pools.Intern(input.path);
  row.kind = model.pools.Intern(input.importer == nullptr ? "unknown" : input.importer->info.name);
  row.state = model.pools.Intern(InputStateName(input.state));
  row.bytes = static_cast<int64_t>(input.bytes);
  row.content_bytes = input.content_bytes;
  row.rows = input.rows;
  row.start_ns = input.recognition.start_ns;
  model.tables.Edit<InputTable>().Add(row);
}

}  // namespace

Status ImportSource(Reader& reader, const Source& source, ThreadPool& pool, Part& whole,
                    const std::function<void(uint64_t bytes)>& on_range) {
  ASSIGN_OR_RETURN(std::vector<ByteRange> ranges, reader.Split(source));
  Status first_error;
  using Outcome = std::pair<Part, Status>;
  pool.MapInOrder<Outcome>(
      ranges.size(),
      [&](size_t i) {
        Outcome outcome;
        outcome.second = reader.Read(source, ranges[i], outcome.first);
        return outcome;
      },
      [&](size_t i, Outcome&& outcome) {
        if (on_range) on_range(ranges[i].size());
        Status merged = reader.Merge(std::move(outcome.first), whole);
        if (first_error.ok()) first_error = outcome.second.ok() ? merged : outcome.second;
      });
  Status finished = reader.Finish(whole);
  return first_error.ok() ? finished : first_error;
}

namespace {

// Joins imported parts to the model in order of input, holding back those that have twins until the
// last of them is there.
class Joiner {
 public:
  Joiner(std::vector<FoundInput>& inputs, Model& model) : inputs_(inputs), model_(model) {
    for (const FoundInput& input : inputs) {
      if (HasTwins(input)) ++expected_[KeyOf(input)];
      if (input.importer != nullptr) kinds_[input.importer].bytes += input.bytes;
    }
  }

  void Take(size_t i, Imported&& imported) {
    FoundInput& input = inputs_[i];
    if (!HasRoomFor(imported.part)) LetGo(input, imported.part);
    if (KeepsSource(input)) model_.sources[i] = std::move(imported.source);
    if (input.importer != nullptr) Expect(input, kinds_[input.importer]);
    if (!HasTwins(input) || expected_[KeyOf(input)] == 1) {
      model_.Append(std::move(imported.part));
      return;
    }
    auto& waiting = waiting_[KeyOf(input)];
    waiting.emplace_back(i, std::move(imported.part));
    if (waiting.size() == expected_[KeyOf(input)]) Settle(waiting);
  }

 private:
  // Rows are joined column by column: memory that runs out in the middle would leave a table with
  // columns of different lengths. So it is asked before whether there is enough.
  static bool HasRoomFor(const Part& part) {
    constexpr size_t kBytesOfRow = 256, kBytesOfText = 128, kEnough = 16 << 20;
    const size_t bytes = static_cast<size_t>(CountRows(part.tables)) * kBytesOfRow +
                         part.pools.strings.size() * kBytesOfText;
    if (bytes < kEnough) return true;
    void* probe = ::operator new(bytes, std::nothrow);
    ::operator delete(probe);
    return probe != nullptr;
  }

  // The inputs of one importer.
  struct Kind {
    uint64_t bytes = 0;  // of all
    uint64_t joined_bytes = 0;
    size_t joined = 0;
  };

  // Thousands of ranks leave alike files. When some are joined, the rows of all are known well
  // enough to make room for them at once; growing in steps copies every row several times.
  void Expect(const FoundInput& input, Kind& kind) {
    constexpr size_t kEnough = 64;
    constexpr double kMostTimes = 1e6, kMostRows = 1 << 26;
    kind.joined_bytes += input.bytes;
    if (++kind.joined != kEnough || kind.joined_bytes == 0) return;
    const double times =
        std::min(1.02 * static_cast<double>(kind.bytes) / static_cast<double>(kind.joined_bytes),
                 kMostTimes);
    [[maybe_unused]] const Status no_room = Guarded([&] {
      for (TableId id = 0; id < AllTables().size(); ++id) {
        const Table* table = model_.tables.Find(id);
        if (table == nullptr || table->info().is_packed || !Makes(*input.importer, *table))
          continue;
        const double rows = times * static_cast<double>(table->size());
        if (rows < kMostRows) model_.tables.Edit(id).Reserve(static_cast<size_t>(rows));
      }
    });
  }

  static bool Makes(const Importer& importer, const Table& table) {
    const auto& makes = importer.info.makes;
    return std::find(makes.begin(), makes.end(), table.info().name) != makes.end();
  }

  static void LetGo(FoundInput& input, Part& part) {
    part = Part();
    input.state = InputState::kFailed;
    input.rows = 0;
    AddNote(part, input.who.input,
            {&kInputNoMemory, {.offset = -1, .line = -1, .detail = "no room for its tables"}});
  }

  using Key = std::tuple<const Importer*, int32_t, int32_t, int32_t>;
  using Waiting = std::vector<std::pair<size_t, Part>>;

  static bool HasTwins(const FoundInput& input) {
    return input.importer != nullptr && input.importer->settle != nullptr &&
           input.who.rank != kNone32;
  }

  static Key KeyOf(const FoundInput& input) {
    return {input.importer, input.who.job, input.who.attempt, input.who.rank};
  }

  void Settle(Waiting& waiting) {
    std::vector<Twin> twins;
    for (auto& [i, part] : waiting) twins.push_back({inputs_[i].who.input, &part, true});
    inputs_[waiting.front().first].importer->settle(twins);
    for (size_t t = 0; t < twins.size(); ++t) {
      auto& [i, part] = waiting[t];
      if (!twins[t].keep) {
        part.tables = TableSet();
        inputs_[i].rows = 0;
        inputs_[i].state = InputState::kSkipped;
      }
      model_.Append(std::move(part));
    }
    waiting = Waiting();
  }

  std::vector<FoundInput>& inputs_;
  Model& model_;
  std::map<Key, size_t> expected_;
  std::map<Key, Waiting> waiting_;
  std::map<const Importer*, Kind> kinds_;
};

}  // namespace

void ImportAll(std::vector<FoundInput>& inputs, const ImportOptions& options, ThreadPool& pool,
               SpillBudget& budget, Progress& progress, Model& model) {
  BytesRead bytes_read(inputs, progress);
  const auto on_bytes = [&](uint64_t bytes) { bytes_read.Add(bytes); };
  JoinAll(
      inputs, pool,
      [&](size_t i) { return ImportInput(inputs[i], options, pool, budget, on_bytes); }, model);
  progress.End();
}

void JoinAll(std::vector<FoundInput>& inputs, ThreadPool& pool,
             const std::function<Imported(size_t input)>& import, Model& model) {
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].who.input = static_cast<int32_t>(i);
  model.sources.resize(inputs.size());
  Joiner joiner(inputs, model);
  pool.MapInOrder<Imported>(inputs.size(), import, [&](size_t i, Imported&& imported) {
    joiner.Take(i, std::move(imported));
  });
  for (const FoundInput& input : inputs) AddInputRow(input, model);
}

}  // namespace debrief
