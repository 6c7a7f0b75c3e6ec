#include "content.h"

#include <stdio.h>

#include <bit>

namespace debrief::recorder::test {
namespace {

constexpr unsigned kMaxShapes = 32;
constexpr unsigned kMaxDims = 64;

enum Kind : unsigned {
  kSpanKind,
  kNarrowOp,
  kWideOp,
  kManyInputs,
  kBeginKind,
  kEndKind,
  kEndOpKind,
  kInstantKind,
  kCounterKind,
  kFlowKind,
  kNoteI64Kind,
  kNoteF64Kind,
  kNoteTextKind,
  kStepKind,
  kAllocKind,
  kFreeKind,
  kSplitOp  // needs kMore records
};

uint64_t Mix(uint64_t worker, uint64_t ordinal) {
  uint64_t x = (worker << 40) + ordinal + 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

Kind KindOf(uint64_t worker, uint64_t ordinal, Load load) {
  if (load == Load::kNames) return kInstantKind;
  if (load == Load::kLong) return kSplitOp;
  const uint64_t mixed = Mix(worker, ordinal);
  return mixed >> 4 & 511 ? static_cast<Kind>(mixed & 15) : kSplitOp;
}

uint64_t BlockOf(uint64_t ordinal, Load load) {
  return load == Load::kNames ? ordinal : ordinal / 256;
}

std::string NameText(uint64_t worker, uint64_t ordinal, Load load) {
  return "name " + std::to_string(worker) + " " + std::to_string(BlockOf(ordinal, load));
}

// The shapes of an op, all made of its ordinal.
struct Shapes {
  uint64_t dims[kMaxDims];
  dbr_shape inputs[kMaxShapes];
  dbr_shape output;
  dbr_op_info info;

  Shapes(Kind kind, uint64_t ordinal) {
    const unsigned counts[][2] = {{2, 3}, {2, 3}, {20, 3}, {32, 64}};
    const unsigned index = kind == kWideOp ? 1 : kind == kManyInputs ? 2 : kind == kSplitOp ? 3 : 0;
    const uint64_t scale = kind == kWideOp ? uint64_t{1} << 40 : 1;
    for (unsigned i = 0; i < kMaxDims; ++i) dims[i] = (ordinal + i) % 99'991 * scale;
    const unsigned rank = counts[index][1];
    for (unsigned i = 0; i < counts[index][0]; ++i) inputs[i] = {dims, rank};
    output = {dims, kind == kSplitOp ? 64u : 1u};
    info = {inputs, counts[index][0], DBR_BF16, &output, ordinal};
  }
};

void WriteOp(dbr_id name, Kind kind, uint64_t ordinal) {
  const Shapes shapes(kind, ordinal);
  dbr_op(name, ordinal, ordinal + 7, &shapes.info);
}

void WriteEndOp(uint64_t ordinal) {
  const Shapes shapes(kNarrowOp, ordinal);
  dbr_end_op(&shapes.info);
}

bool SameShapes(const RecordView& record, const Shapes& shapes) {
  const OpShapes op = UnpackOp(record);
  const auto same = [](const std::vector<uint64_t>& read, const dbr_shape& shape) {
    return std::equal(read.begin(), read.end(), shape.dims, shape.dims + shape.rank);
  };
  bool right = !op.left_out && op.dtype == DBR_BF16 && op.bytes == shapes.info.bytes &&
               op.inputs.size() == shapes.info.input_count && op.has_output &&
               same(op.output, shapes.output);
  for (size_t i = 0; right && i < op.inputs.size(); ++i) {
    right = same(op.inputs[i], shapes.inputs[i]);
  }
  return right;
}

// Whether a record is the one that Writer::Write() makes; names are compared by the caller.
bool SameNumbers(const RecordView& record, Kind kind, uint64_t i) {
  const auto is = [&](RecordType type, uint64_t value) {
    return record.type == type && record.values[1] == value;
  };
  switch (kind) {
    case kSpanKind:
      return record.values[0] == i && is(RecordType::kSpan, i & 1023);
    case kNarrowOp:
    case kWideOp:
    case kManyInputs:
    case kSplitOp:
      return record.values[0] == i && is(RecordType::kOp, 7) && SameShapes(record, {kind, i});
    case kEndOpKind:
      return record.type == RecordType::kOpEnd && SameShapes(record, {kNarrowOp, i});
    case kBeginKind:
      return record.type == RecordType::kBegin;
    case kEndKind:
      return record.type == RecordType::kEnd;
    case kInstantKind:
      return record.type == RecordType::kInstant;
    case kCounterKind:
      return is(RecordType::kCounter, std::bit_cast<uint64_t>(static_cast<double>(i)));
    case kFlowKind:
      return is(RecordType::kFlow, i) && record.flags == i % 3;
    case kNoteI64Kind:
      return is(RecordType::kNote, i) && record.flags == kNoteI64;
    case kNoteF64Kind:
      return is(RecordType::kNote, std::bit_cast<uint64_t>(static_cast<double>(i))) &&
             record.flags == kNoteF64;
    case kNoteTextKind:
      return is(RecordType::kNote, record.name) && record.flags == kNoteText;
    case kStepKind:
      return is(RecordType::kStep, i);
    case kAllocKind:
      return is(RecordType::kAlloc, i) && record.values[2] == i * 8;
    case kFreeKind:
      return is(RecordType::kFree, i) && record.values[2] == i * 8;
  }
  return false;
}

bool HasName(RecordType type) {
  return type != RecordType::kEnd && type != RecordType::kOpEnd && type != RecordType::kStep &&
         type != RecordType::kAlloc && type != RecordType::kFree;
}

// The ordinal that a record carries; kAny when its kind has no place for one.
uint64_t OrdinalIn(const RecordView& record) {
  if (record.type == RecordType::kSpan || record.type == RecordType::kOp) return record.values[0];
  if (record.type == RecordType::kFlow || record.type == RecordType::kStep ||
      record.type == RecordType::kAlloc || record.type == RecordType::kFree) {
    return record.values[1];
  }
  return kAny;
}

// The worker that a device's name tells; `workers` when it is none.
uint64_t WorkerOf(const std::string* device, uint64_t workers) {
  if (device == nullptr || device->compare(0, 7, "device ") != 0) return workers;
  const uint64_t worker = strtoull(device->c_str() + 7, nullptr, 10);
  return worker < workers ? worker : workers;
}

struct Nothing : RecordSink {
  void OnRecord(const RecordView&) override {}
};

// Finds the first ordinal of every worker from the first record that carries one.
struct Anchor : RecordSink {
  const ReadRecording* names;
  std::vector<Worker>* workers;
  void OnRecord(const RecordView& record) override {
    const uint64_t index = WorkerOf(names->Text(record.track), workers->size());
    if (index == workers->size()) return;
    Worker& worker = (*workers)[index];
    const uint64_t ordinal = OrdinalIn(record);
    if (worker.first == kAny && ordinal != kAny) worker.first = ordinal - worker.count;
    ++worker.count;
  }
};

struct Checker : RecordSink {
  const ReadRecording* names;
  Load load;
  Found* found;
  void OnRecord(const RecordView& record) override {
    if (record.type == RecordType::kLoss) {
      found->noted += record.values[0];
      return;
    }
    const uint64_t index = WorkerOf(names->Text(record.track), found->workers.size());
    if (index == found->workers.size()) {
      ++found->strange;
      return;
    }
    Worker& worker = found->workers[index];
    if (worker.first == kAny) {  // what is left of him carries no ordinal
      ++worker.count;
      return;
    }
    const uint64_t ordinal = worker.first + worker.count++;
    if (worker.tid == 0) worker.tid = record.tid;
    if (!IsRight(record, index, ordinal) || worker.tid != record.tid) ++found->wrong;
  }
  bool IsRight(const RecordView& record, uint64_t index, uint64_t ordinal) const {
    const std::string* name = names->Text(record.name);
    const bool named = HasName(record.type)
                           ? name != nullptr && *name == NameText(index, ordinal, load)
                           : record.name == 0;
    return named && SameNumbers(record, KindOf(index, ordinal, load), ordinal);
  }
};

}  // namespace

dbr_id Writer::NameOf(uint64_t ordinal) {
  const uint64_t block = BlockOf(ordinal, load_);
  if (block != block_) {
    const std::string text = NameText(worker_, ordinal, load_);
    name_ = dbr_name(text.data(), text.size());
    block_ = block;
  }
  return name_;
}

void Writer::Write(uint64_t i) {
  if (!started_) {
    const std::string device = "device " + std::to_string(worker_);
    dbr_set_device(dbr_name(device.data(), device.size()));
    started_ = true;
  }
  const dbr_id name = NameOf(i);
  const Kind kind = KindOf(worker_, i, load_);
  switch (kind) {
    case kSpanKind:
      return dbr_span(name, i, i + (i & 1023));
    case kNarrowOp:
    case kWideOp:
    case kManyInputs:
    case kSplitOp:
      return WriteOp(name, kind, i);
    case kEndOpKind:
      return WriteEndOp(i);
    case kBeginKind:
      return dbr_begin(name);
    case kEndKind:
      return dbr_end();
    case kInstantKind:
      return dbr_instant(name);
    case kCounterKind:
      return dbr_counter(name, static_cast<double>(i));
    case kFlowKind:
      return dbr_flow(name, static_cast<int>(i % 3), i);
    case kNoteI64Kind:
      return dbr_note_i64(name, static_cast<int64_t>(i));
    case kNoteF64Kind:
      return dbr_note_f64(name, static_cast<double>(i));
    case kNoteTextKind:
      return dbr_note_str(name, name);
    case kStepKind:
      return dbr_set_step(i);
    case kAllocKind:
      return dbr_alloc(0, i, i * 8);
    case kFreeKind:
      return dbr_free(0, i, i * 8);
  }
}

uint64_t Found::total() const {
  uint64_t sum = 0;
  for (const Worker& worker : workers) sum += worker.count;
  return sum;
}

Found Verify(std::span<const std::byte> bytes, uint64_t workers, Load load, uint64_t from) {
  Found found;
  found.workers.resize(workers, {.first = from});
  Nothing nothing;
  const ReadRecording names = ReadDbr(bytes, nothing);
  found.wrong = names.problems.size() + (names.ok ? 0 : 1);
  found.dropped = names.dropped;
  found.overwritten = names.overwritten;
  found.closed = names.header.closed == 1;
  if (from == kAny) {
    Anchor anchor;
    anchor.names = &names;
    anchor.workers = &found.workers;
    ReadDbr(bytes, anchor);
    for (Worker& worker : found.workers) worker.count = 0;
  }
  Checker checker;
  checker.names = &names;
  checker.load = load;
  checker.found = &found;
  ReadDbr(bytes, checker);
  return found;
}

Found VerifyFile(const std::string& path, uint64_t workers, Load load, uint64_t from) {
  std::vector<std::byte> bytes;
  if (FILE* file = fopen(path.c_str(), "rb")) {
    fseek(file, 0, SEEK_END);
    bytes.resize(static_cast<size_t>(ftell(file)));
    rewind(file);
    bytes.resize(fread(bytes.data(), 1, bytes.size(), file));
    fclose(file);
  }
  return Verify(bytes, workers, load, from);
}

}  // namespace debrief::recorder::test
