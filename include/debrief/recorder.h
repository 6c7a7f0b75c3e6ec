/* Records what a program does, at a few nanoseconds a record, into a file that survives its death.
 *
 *   dbr_recording* recording;
 *   if (dbr_open("run.dbr", NULL, &recording) == DBR_OK) { ... dbr_close(recording); }
 *
 * One recording at a time per process. Everything may be called from any thread. Nothing here
 * prints, aborts or throws: what cannot be recorded is counted. A forked child writes to a file of
 * its own, path.PID, made with its first record. What writes records may be called in a signal
 * handler; a record that comes while the same thread is in the recorder is counted as dropped. The
 * format is described in docs/formats/recording.md.
 */
#ifndef DEBRIEF_RECORDER_H
#define DEBRIEF_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DBR_API __attribute__((visibility("default")))

typedef struct dbr_recording dbr_recording;
typedef uint32_t dbr_id; /* of a string; 0 is "no name" */

typedef enum dbr_status {
  DBR_OK = 0,
  DBR_INVALID = 1,  /* an argument makes no sense */
  DBR_BUSY = 2,     /* a recording is open already */
  DBR_IO = 3,       /* the file could not be made; see errno */
  DBR_NO_SPACE = 4, /* the disk has no room for the first chunks */
  DBR_CLOSED = 5    /* this recording is not open */
} dbr_status;

enum { DBR_RING = 0, DBR_STOP = 1 }; /* full: overwrite the oldest, or record no more */
enum {
  DBR_NO_HELPER = 1, /* no thread of the recorder's own; new chunks then cost their page faults */
  DBR_NO_MAPPING =
      2 /* write full chunks to the file instead of mapping it; see the format's page */
};
enum { DBR_FLOW_START = 0, DBR_FLOW_STEP = 1, DBR_FLOW_END = 2 };

typedef enum dbr_dtype {
  DBR_DTYPE_UNKNOWN = 0,
  DBR_BOOL,
  DBR_U8,
  DBR_I8,
  DBR_I16,
  DBR_I32,
  DBR_I64,
  DBR_F16,
  DBR_BF16,
  DBR_F32,
  DBR_F64,
  DBR_C64,
  DBR_C128,
  DBR_F8_E4M3,
  DBR_F8_E5M2
} dbr_dtype;

/* Fields are only ever added at the end; `size` says which of them the caller knows. */
typedef struct dbr_options {
  uint32_t size;            /* sizeof(dbr_options) */
  uint32_t policy;          /* DBR_RING or DBR_STOP */
  uint64_t max_bytes;       /* of the file; 0: 64 MiB. At least 8 chunks of 64 KiB */
  int32_t rank;             /* -1: not known */
  int32_t world_size;       /* -1: not known */
  const char* process_name; /* may be NULL */
  uint32_t sync_seconds;    /* 0: never; else the file is synced to the disk this often */
  uint32_t flags;           /* DBR_NO_HELPER, DBR_NO_MAPPING */
} dbr_options;

typedef struct dbr_shape {
  const uint64_t* dims;
  uint32_t rank; /* 0 is a scalar */
} dbr_shape;

typedef struct dbr_op_info {
  const dbr_shape* inputs;
  uint32_t input_count;
  uint32_t dtype;          /* dbr_dtype of the output */
  const dbr_shape* output; /* NULL: not told */
  uint64_t bytes;          /* 0: not told */
} dbr_op_info;

typedef struct dbr_losses {
  uint64_t overwritten; /* taken back by the ring */
  uint64_t dropped;     /* no room, or inside a signal that interrupted a record */
  uint64_t names;       /* strings that found no room */
  int stopped;          /* errno that ended growth of the file, 0 when none did */
} dbr_losses;

DBR_API void dbr_options_init(dbr_options* options);
DBR_API dbr_status dbr_open(const char* path, const dbr_options* options,
                            dbr_recording** recording);
/* Waits for threads that are in the middle of a record. Nothing of a closed recording is kept. */
DBR_API dbr_status dbr_close(dbr_recording* recording);
DBR_API void dbr_enable(dbr_recording* recording, int on);
/* Copies what is published to another file, while recording goes on. */
DBR_API dbr_status dbr_snapshot(dbr_recording* recording, const char* path);
DBR_API dbr_losses dbr_get_losses(dbr_recording* recording);

/* Takes a lock and searches: call it once a string and keep the id. */
DBR_API dbr_id dbr_name(const char* text, size_t bytes);
DBR_API void dbr_thread_name(dbr_id name);
DBR_API void dbr_set_device(dbr_id device); /* of this thread's records from here on; 0: none */
DBR_API void dbr_meta(const char* key, const char* value);

DBR_API uint64_t dbr_now(void); /* in ticks of the recording's clock */
DBR_API void dbr_span(dbr_id name, uint64_t start, uint64_t end);
DBR_API void dbr_op(dbr_id name, uint64_t start, uint64_t end, const dbr_op_info* info);
DBR_API void dbr_begin(dbr_id name); /* visible at once, so also when the process dies in it */
DBR_API void dbr_end(void);
DBR_API void dbr_end_op(const dbr_op_info* info);
DBR_API void dbr_instant(dbr_id name);
DBR_API void dbr_counter(dbr_id name, double value);
DBR_API void dbr_flow(dbr_id name, int kind, uint64_t id);

/* Something about the innermost span of this thread that is open now, begun with dbr_begin() or
 * written later. */
DBR_API void dbr_note_i64(dbr_id key, int64_t value);
DBR_API void dbr_note_f64(dbr_id key, double value);
DBR_API void dbr_note_str(dbr_id key, dbr_id value);
/* The process is in this step from now on. */
DBR_API void dbr_set_step(uint64_t step);
/* `address` is anything that is the same for both. Device 0: the one that dbr_set_device() told. */
DBR_API void dbr_alloc(dbr_id device, uint64_t address, uint64_t bytes);
DBR_API void dbr_free(dbr_id device, uint64_t address, uint64_t bytes);

/* A place in the source whose name is looked up once a recording; see recorder.hpp. */
typedef struct dbr_site {
  const char* text;
  uint64_t cached; /* recording number << 32 | id */
} dbr_site;
DBR_API __attribute__((cold)) void dbr_site_span(dbr_site* site, uint64_t start);
DBR_API __attribute__((cold)) void dbr_site_op(dbr_site* site, uint64_t start,
                                               const dbr_op_info* info);

/* Not 0 while records are taken. Read it with a relaxed load; do not write it. */
DBR_API extern uint32_t dbr_on;

#ifdef __cplusplus
}
#endif
#endif
