// What the timeline shows, whatever it came from: a profile, the phases of a compiler, collectives of a Flight
// Recorder dump, lines of a job's output, samples of a monitor.
//
//   Timeline --> Process (rank 3, GPU 0) --> Lane (stream 7) --> slices, in rows by depth
//
// Only the outline is there at first; the slices of a process are read (data.ts) when it is first opened.
// Times are nanoseconds since Timeline.base as doubles: exact for spans of 100 days.

export type Source = "profile" | "compile" | "flight" | "text" | "recorder" | "host";

export interface Timeline {
  base: number; // nanoseconds since 1970 of time 0; not exact, only for showing a date; 0: unknown
  first: number;
  last: number;
  processes: Process[]; // in the order in which they are shown: by job, rank, source
  slices: number; // in all, those left out of the page included
  leftOut: number; // of these, not in the page: the shortest of their lanes, and ranks of very many
  moments?: Moment[]; // where a reader looks first
}

// From shortly before the ranks of a job diverged to its end; of a slow job its recorded steps.
export interface Moment {
  job: number | null;
  from: number;
  to: number;
  isSlow?: boolean;
}

// What one party did: the host or a device of one rank, its compiler, its collectives.
export interface Process {
  id: string; // in the address: "7" or "7.2", input and process
  title: string; // "rank 3 \u00b7 GPU 0"
  job: number | null;
  attempt: number | null;
  rank: number | null;
  source: Source;
  lanes: Lane[];
  island: string; // where its slices are
  slices: number;
  shift: Shift; // from its own clock to that of the others
}

// time + offset + drift * (time - middle) is the time on the common clock.
export interface Shift {
  offset: number;
  drift: number;
  middle: number;
}

type LaneKind =
  | "thread"
  | "stream"
  | "async"
  | "counter"
  | "compile"
  | "collectives"
  | "text"
  | "steps"
  | "events";

export interface Lane {
  id: string; // within its process, in the address
  name: string; // "thread 1 (python3)", "stream 7"
  kind: LaneKind;
  depths: number; // rows of boxes it takes
  slices: number;
}

// The slices of a lane as columns, sorted by depth, then start. Row `d` of boxes is
// [depthFirst[d], depthFirst[d + 1]); slices in it do not overlap.
export interface LaneData {
  depthFirst: Uint32Array; // depths + 1
  start: Float64Array; // as recorded, without the process's shift
  duration: Float64Array; // 0: a moment
  name: Uint32Array; // into texts
  note: Uint32Array; // into texts, 0 is "": shapes, bytes, group and sequence ... in words
  kind: Uint8Array; // into ProcessData.kinds: gives the colour
  number: Uint32Array; // what the slice is called by flows; its row among those of the input
}

// Arrows: from one slice to another of the same process's island; sorted by `to`.
export interface Flows {
  from: Uint32Array; // numbers of slices
  to: Uint32Array;
  kind: Uint8Array; // into ProcessData.flowKinds ("launch", "fwdbwd" ...)
}

export interface CounterData {
  name: string; // of the series: "allocated"; "" where the lane has only one
  time: Float64Array;
  value: Float64Array;
  unit: string; // "bytes", "" ...
}

// All that one island holds; processes of one input share it.
export interface IslandData {
  texts: string[]; // clean
  kinds: string[]; // "kernel", "op", "runtime", "comm", "memcpy", "compile", ...
  flowKinds: string[];
  lanes: Map<string, LaneData>; // by "process id/lane id"
  counters: Map<string, CounterData[]>; // likewise, for lanes of kind "counter"; one a series
  flows: Flows;
}
