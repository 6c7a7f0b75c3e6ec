// The words in which the timeline tables say what a track or a slice is. One place, so that every
// importer writes and every analysis compares the same ones.
#pragma once

#include <string_view>

namespace debrief::timeline {

// timeline_track.kind
inline constexpr std::string_view kThread = "thread";
inline constexpr std::string_view kStream = "stream";
inline constexpr std::string_view kStreamAnnotation = "stream_annotation";
inline constexpr std::string_view kAsync = "async";  // also a slice's kind
inline constexpr std::string_view kCounter = "counter";

// timeline_slice.kind
inline constexpr std::string_view kOp = "op";
inline constexpr std::string_view kRuntime = "runtime";
inline constexpr std::string_view kPython = "python";
inline constexpr std::string_view kAnnotation = "annotation";
inline constexpr std::string_view kKernel = "kernel";
inline constexpr std::string_view kMemcpy = "memcpy";
inline constexpr std::string_view kMemset = "memset";
inline constexpr std::string_view kSync = "sync";
inline constexpr std::string_view kQueue = "queue";  // work that a device has and does not run yet
inline constexpr std::string_view kDeviceAnnotation = "device_annotation";
inline constexpr std::string_view kCounterRange = "counter_range";
inline constexpr std::string_view kOverhead = "overhead";
inline constexpr std::string_view kSpan = "span";
inline constexpr std::string_view kInstant = "instant";
inline constexpr std::string_view kOther = "other";

// timeline_flow.phase
inline constexpr std::string_view kFlowStart = "start";
inline constexpr std::string_view kFlowStep = "step";
inline constexpr std::string_view kFlowEnd = "end";

// The kind of a slice by its Kineto category, of today and of 2020 ("Kernel", "Operator"); kOther
// for categories of other programs.
std::string_view KindOfCategory(std::string_view category);

// A category that is of this kind, for slices that have none of their own; empty for kOther and
// what is no kind of events in a file.
std::string_view CategoryOfKind(std::string_view kind);

// Is of a device: kernel, memcpy, memset, sync, queue, counter_range, device_annotation.
bool IsDeviceKind(std::string_view kind);

}  // namespace debrief::timeline
