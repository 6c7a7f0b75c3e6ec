#include "inputs/perfetto/tracks.h"

#include "model/timeline/kinds.h"

namespace debrief::inputs::perfetto {

namespace {

constexpr int kMostAncestors = 64;  // parents may form a ring

void TakeText(std::string& have, std::string_view told) {
  if (!told.empty()) have = told;
}

}  // namespace

size_t Tracks::IndexOf(uint64_t uuid) {
  const auto [found, is_new] = index_of_.try_emplace(uuid, tracks_.size());
  if (is_new) tracks_.push_back({.uuid = uuid});
  return found->second;
}

void Tracks::DescribeThread(const Thread& thread, Track& track) {
  track.is_thread = true;
  track.pid = thread.pid;
  track.tid = thread.tid;
  TakeText(track.thread_name, thread.name);
}

void Tracks::Describe(const Descriptor& descriptor) {
  Track& track = at(IndexOf(descriptor.uuid));
  if (descriptor.parent) track.parent = descriptor.parent;
  TakeText(track.name, descriptor.name);
  if (descriptor.process) {
    track.pid = descriptor.process->pid;
    TakeText(track.process_name, descriptor.process->name);
  }
  if (descriptor.thread) DescribeThread(*descriptor.thread, track);
  if (descriptor.is_counter) {
    track.is_counter = true;
    track.is_incremental = descriptor.is_incremental;
    track.unit_multiplier = static_cast<double>(descriptor.unit_multiplier);
    TakeText(track.unit, descriptor.unit);
  }
}

const Tracks::Track* Tracks::ProcessOf(const Track& track) const {
  const Track* at = &track;
  for (int i = 0; i < kMostAncestors && !at->pid; ++i) {
    if (!at->parent) return nullptr;
    const auto parent = index_of_.find(*at->parent);
    if (parent == index_of_.end()) return nullptr;
    at = &tracks_[parent->second];
  }
  return at->pid ? at : nullptr;
}

std::string Tracks::PidOf(const Track& track) const {
  const Track* process = ProcessOf(track);
  return process == nullptr ? std::string() : std::to_string(*process->pid);
}

int32_t Tracks::ResolveOne(const Track& track, timeline::TimelineWriter& writer) {
  std::string_view kind = timeline::kAsync;
  std::string tid = std::to_string(track.uuid);
  if (track.is_counter) {
    kind = timeline::kCounter;
    if (!track.name.empty()) tid = track.name;
  } else if (track.has_work) {
    kind = timeline::kStream;
  } else if (track.is_thread) {
    kind = timeline::kThread;
  }
  if (track.is_thread && track.tid) tid = std::to_string(*track.tid);
  const int32_t number = writer.Track(PidOf(track), tid, kind);
  const std::string& name = track.name.empty() ? track.thread_name : track.name;
  if (!name.empty()) writer.tracks().name[static_cast<size_t>(number)] = writer.Intern(name);
  return number;
}

std::vector<int32_t> Tracks::Resolve(timeline::TimelineWriter& writer) {
  std::vector<int32_t> numbers;
  for (const Track& track : tracks_) {
    const bool is_known = track.model_track != kNone32 || !track.is_used;
    numbers.push_back(is_known ? track.model_track : ResolveOne(track, writer));
  }
  return numbers;
}

void Tracks::NameProcesses(timeline::TimelineWriter& writer) const {
  for (const Track& track : tracks_) {
    if (track.process_name.empty() || !track.pid) continue;
    const auto process = static_cast<size_t>(writer.Process(std::to_string(*track.pid)));
    writer.processes().name[process] = writer.Intern(track.process_name);
  }
}

}  // namespace debrief::inputs::perfetto
