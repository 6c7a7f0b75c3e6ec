// The C functions that write records; those that open, close and copy are in c_recording.cc.
#include <string.h>

#include "debrief/recorder.h"
#include "recorder/clock.h"
#include "recorder/op_record.h"
#include "recorder/writer.h"

using namespace debrief::recorder;  // NOLINT: functions of the C interface are in no namespace

extern "C" {

uint32_t dbr_on = 0;

}  // extern "C"

namespace {

bool On() { return __atomic_load_n(&dbr_on, __ATOMIC_RELAXED) != 0; }

// One by one: an array that is copied goes through the stack, and the wide loads of the copy wait
// for the narrow stores.
template <typename... Words>
void WriteWords(uint64_t* at, Words... words) {
  ((*at++ = words), ...);
}

template <typename... Words>
void Emit(RecordType type, unsigned flags, dbr_id name, dbr_id track, Words... values) {
  constexpr unsigned kWords = 1 + sizeof...(Words);
  ThreadState* thread = Reserve(kWords);
  if (thread == nullptr) return;
  const dbr_id where = track != 0 ? track : thread->track;
  WriteWords(thread->words + thread->at, FirstWord(type, flags, kWords, name, where), values...);
  Publish(thread, kWords);
}

// `times` words of time, then what WriteOp() makes of the op.
template <typename... Words>
[[gnu::noinline, gnu::cold]] void EmitLargeOp(RecordType type, dbr_id name, const dbr_op_info& info,
                                              Words... times) {
  constexpr unsigned kTimes = sizeof...(Words);
  const PackedOp packed = MeasureOp(info);
  const unsigned count = RecordWords(1 + kTimes + packed.words);
  ThreadState* thread = Reserve(count);
  if (thread == nullptr) return;
  uint64_t* at = thread->words + thread->at;
  const unsigned first = count < kMaxWords ? count : static_cast<unsigned>(kMaxWords);
  WriteWords(at, FirstWord(type, packed.flags, first, name, thread->track), times...);
  WriteOp(packed, info, at + 1 + kTimes);
  if (count > kMaxWords) SplitRecord(at, 1 + kTimes + packed.words);
  Publish(thread, count);
}

// Nearly all ops, in one pass over their shapes: where the chunk has room for the longest short
// form nothing need be measured before. The dims are read once: that all are small shows when they
// are written. False when that is no op of the short form; nothing is recorded then.
template <typename... Words>
inline bool EmitShortOp(ThreadState* thread, RecordType type, dbr_id name, const dbr_op_info& info,
                        Words... times) {
  constexpr unsigned kTimes = sizeof...(Words);
  uint64_t* const first = thread->words + thread->at;
  uint64_t* const descriptor = first + 1 + kTimes;
  const unsigned flags = info.bytes != 0 ? kOpBytes : 0;
  if (info.bytes != 0) descriptor[1] = info.bytes;
  NarrowWriter writer(descriptor + 1 + (info.bytes != 0 ? 1 : 0));
  uint64_t described = (info.dtype & 127) | uint64_t{info.input_count} << 8;
  unsigned highest = 0;  // rank
  for (uint32_t i = 0; i < info.input_count; ++i) {
    const dbr_shape& shape = info.inputs[i];
    described |= uint64_t{shape.rank & 15} << (16 + 4 * i);
    highest = shape.rank > highest ? shape.rank : highest;
    if (__builtin_expect(highest > kMaxRank, 0)) return false;
    writer.Write(shape);
  }
  if (info.output == nullptr) {
    described |= uint64_t{kNoShape} << 12;
  } else {
    if (__builtin_expect(info.output->rank > kMaxRank, 0)) return false;
    described |= uint64_t{info.output->rank} << 12;
    writer.Write(*info.output);
  }
  writer.Finish();
  if (__builtin_expect(!writer.all_small(), 0)) return false;
  *descriptor = described;
  const auto count = static_cast<unsigned>(writer.end() - first);
  WriteWords(first, FirstWord(type, flags, count, name, thread->track), times...);
  Publish(thread, count);
  return true;
}

// Words of the longest short form: first word, times, descriptor, bytes and all dims.
constexpr unsigned kShortOpWords = 1 + 2 + 2 + ((kMaxInputs + 1) * kMaxRank + 2) / 3;

template <typename... Words>
void EmitOp(RecordType type, dbr_id name, const dbr_op_info* info, Words... times) {
  if (!On() || info == nullptr) return;
  ThreadState* thread = thread_state;
  const bool has_room = thread != nullptr && thread->at + kShortOpWords <= thread->limit;
  if (__builtin_expect(has_room && info->input_count <= kMaxInputs, 1)) {
    thread = Reserve(kShortOpWords);
    if (thread == nullptr) return;
    if (__builtin_expect(EmitShortOp(thread, type, name, *info, times...), 1)) return;
    Abandon(thread);
  }
  EmitLargeOp(type, name, *info, times...);
}

uint64_t BitsOf(double value) {
  uint64_t bits;
  static_assert(sizeof bits == sizeof value);
  __builtin_memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Two threads may look up the same site at once: they find the same id.
dbr_id SiteName(dbr_site* site) {
  const uint64_t number = __atomic_load_n(&recording_number, __ATOMIC_RELAXED);
  const uint64_t cached = __atomic_load_n(&site->cached, __ATOMIC_RELAXED);
  if (__builtin_expect(cached >> 32 == number, 1)) return static_cast<dbr_id>(cached);
  const dbr_id id = dbr_name(site->text, strlen(site->text));
  __atomic_store_n(&site->cached, number << 32 | id, __ATOMIC_RELAXED);
  return id;
}

}  // namespace

extern "C" {

uint64_t dbr_now(void) { return Now(); }

void dbr_span(dbr_id name, uint64_t start, uint64_t end) {
  if (On()) Emit(RecordType::kSpan, 0, name, 0, start, end - start);
}

void dbr_op(dbr_id name, uint64_t start, uint64_t end, const dbr_op_info* info) {
  EmitOp(RecordType::kOp, name, info, start, end - start);
}

void dbr_begin(dbr_id name) {
  if (On()) Emit(RecordType::kBegin, 0, name, 0, Now());
}

void dbr_end(void) {
  if (On()) Emit(RecordType::kEnd, 0, 0, 0, Now());
}

void dbr_end_op(const dbr_op_info* info) {
  if (On()) EmitOp(RecordType::kOpEnd, 0, info, Now());
}

void dbr_instant(dbr_id name) {
  if (On()) Emit(RecordType::kInstant, 0, name, 0, Now());
}

void dbr_counter(dbr_id name, double value) {
  if (On()) Emit(RecordType::kCounter, 0, name, 0, Now(), BitsOf(value));
}

void dbr_flow(dbr_id name, int kind, uint64_t id) {
  if (!On() || kind < DBR_FLOW_START || kind > DBR_FLOW_END) return;
  Emit(RecordType::kFlow, static_cast<unsigned>(kind), name, 0, Now(), id);
}

void dbr_note_i64(dbr_id key, int64_t value) {
  if (On()) Emit(RecordType::kNote, kNoteI64, key, 0, Now(), static_cast<uint64_t>(value));
}

void dbr_note_f64(dbr_id key, double value) {
  if (On()) Emit(RecordType::kNote, kNoteF64, key, 0, Now(), BitsOf(value));
}

void dbr_note_str(dbr_id key, dbr_id value) {
  if (On()) Emit(RecordType::kNote, kNoteText, key, 0, Now(), uint64_t{value});
}

void dbr_set_step(uint64_t step) {
  if (On()) Emit(RecordType::kStep, 0, 0, 0, Now(), step);
}

void dbr_alloc(dbr_id device, uint64_t address, uint64_t bytes) {
  if (On()) Emit(RecordType::kAlloc, 0, 0, device, Now(), address, bytes);
}

void dbr_free(dbr_id device, uint64_t address, uint64_t bytes) {
  if (On()) Emit(RecordType::kFree, 0, 0, device, Now(), address, bytes);
}

// The time is read before the name is looked up, which may take a lock.
void dbr_site_span(dbr_site* site, uint64_t start) {
  const uint64_t end = Now();
  dbr_span(SiteName(site), start, end);
}

void dbr_site_op(dbr_site* site, uint64_t start, const dbr_op_info* info) {
  const uint64_t end = Now();
  dbr_op(SiteName(site), start, end, info);
}

void dbr_set_device(dbr_id device) {
  ThreadState* thread = thread_state != nullptr ? thread_state : RegisterThread();
  // In a signal handler that interrupted a record, the record's device is not changed under it.
  if (thread == nullptr || __atomic_load_n(&thread->where, __ATOMIC_RELAXED) != kOutside) return;
  __atomic_store_n(&thread->where, kWaiting, __ATOMIC_RELAXED);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  DropForeignChunk(*thread);
  thread->track = device & kMaxId;
  __atomic_store_n(&thread->where, kOutside, __ATOMIC_RELEASE);
}

}  // extern "C"
