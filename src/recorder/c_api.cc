// The C functions that write records; those that open, close and copy are in c_recording.cc.
#include <string.h>

#include "debrief/recorder.h"
#include "recorder/clock.h"
#include "recorder/op_record.h"
#include "recorder/recording.h"
#include "recorder/writer.h"

using namespace debrief::recorder;

extern "C" {

uint32_t dbr_on = 0;

}  // extern "C"

namespace {

bool On() { return __atomic_load_n(&dbr_on, __ATOMIC_RELAXED) != 0; }

template <typename... Words>
void Emit(RecordType type, unsigned flags, dbr_id name, Words... values) {
  constexpr unsigned kWords = 1 + sizeof...(Words);
  if (!On()) return;
  ThreadState& thread = thread_state;
  uint64_t* at = Reserve(thread, kWords);
  if (at == nullptr) return;
  const uint64_t words[kWords] = {FirstWord(type, flags, kWords, name, thread.track), values...};
  __builtin_memcpy(at, words, sizeof words);
  Publish(thread, kWords);
}

// `times` words of time, then what WriteOp() makes of the op.
template <typename... Words>
void EmitOp(RecordType type, dbr_id name, const dbr_op_info* info, Words... times) {
  if (!On() || info == nullptr) return;
  const PackedOp packed = MeasureOp(*info);
  const unsigned count = 1 + static_cast<unsigned>(sizeof...(Words)) + packed.words;
  ThreadState& thread = thread_state;
  uint64_t* at = Reserve(thread, count);
  if (at == nullptr) return;
  const uint64_t words[] = {FirstWord(type, packed.flags, count, name, thread.track), times...};
  __builtin_memcpy(at, words, sizeof words);
  WriteOp(packed, *info, at + 1 + sizeof...(Words));
  Publish(thread, count);
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
  Emit(RecordType::kSpan, 0, name, start, end - start);
}

void dbr_op(dbr_id name, uint64_t start, uint64_t end, const dbr_op_info* info) {
  EmitOp(RecordType::kOp, name, info, start, end - start);
}

void dbr_begin(dbr_id name) { Emit(RecordType::kBegin, 0, name, Now()); }

void dbr_end(void) { Emit(RecordType::kEnd, 0, 0, Now()); }

void dbr_end_op(const dbr_op_info* info) { EmitOp(RecordType::kOpEnd, 0, info, Now()); }

void dbr_instant(dbr_id name) { Emit(RecordType::kInstant, 0, name, Now()); }

void dbr_counter(dbr_id name, double value) {
  uint64_t bits;
  static_assert(sizeof bits == sizeof value);
  __builtin_memcpy(&bits, &value, sizeof bits);
  Emit(RecordType::kCounter, 0, name, Now(), bits);
}

void dbr_flow(dbr_id name, int kind, uint64_t id) {
  if (kind < DBR_FLOW_START || kind > DBR_FLOW_END) return;
  Emit(RecordType::kFlow, static_cast<unsigned>(kind), name, Now(), id);
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
  ThreadState& thread = thread_state;
  const uint32_t number = __atomic_load_n(&recording_number, __ATOMIC_RELAXED);
  if (thread.number != number) {
    thread.chunk = nullptr;
    thread.at = thread.limit = 0;
    thread.number = number;
  }
  thread.track = device & kMaxId;
}

}  // extern "C"
