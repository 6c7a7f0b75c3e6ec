#include "outputs/report/html/timeline/island.h"

#include <algorithm>
#include <cmath>

#include "base/json/writer.h"

namespace debrief::outputs::html {

namespace {

constexpr double kLargestWhole = 9007199254740992.0;  // 2^53: all below are exact in a page

bool IsWhole(const CounterPoint& point) {
  return std::abs(point.value) < kLargestWhole && std::trunc(point.value) == point.value;
}

}  // namespace

void IslandWriter::AddLane(std::string_view key, const PackedRows& rows,
                           const std::vector<Slice>& slices) {
  size_t at = 0;
  int64_t number = 0;
  for (uint32_t size : rows.row_sizes) {
    int64_t end = 0;
    for (const size_t last = at + size; at < last; ++at) {
      const Slice& slice = slices[rows.order[at]];
      blocks_[kStart].Put(static_cast<uint64_t>(slice.start - end));
      blocks_[kDuration].Put(static_cast<uint64_t>(slice.duration));
      blocks_[kName].Put(slice.name);
      blocks_[kNote].Put(slice.note);
      blocks_[kKind].PutByte(static_cast<uint8_t>(slice.kind));
      blocks_[kNumber].PutSigned(int64_t{slice.number} - number);
      end = slice.end();
      number = slice.number;
    }
  }
  lanes_.push_back({std::string(key), rows.row_sizes});
}

void IslandWriter::AddCounters(std::string_view key, const std::vector<CounterSeries>& series) {
  auto& [_, added] = counters_.emplace_back(std::string(key), std::vector<Series>());
  for (const CounterSeries& one : series) {
    const bool whole = std::all_of(one.points.begin(), one.points.end(), IsWhole);
    added.push_back({one.name, one.unit, one.points.size(), whole});
    PutSeries(one);
  }
}

void IslandWriter::PutSeries(const CounterSeries& series) {
  VarintColumn& block = blocks_[kCounters];
  int64_t time = 0;
  for (const CounterPoint& point : series.points) {
    block.PutSigned(point.time - time);
    time = point.time;
  }
  const bool whole = std::all_of(series.points.begin(), series.points.end(), IsWhole);
  int64_t before = 0;
  for (const CounterPoint& point : series.points) {
    if (!whole) {
      block.PutDouble(point.value);
      continue;
    }
    const auto value = static_cast<int64_t>(point.value);
    block.PutSigned(value - before);
    before = value;
  }
}

uint8_t IslandWriter::AddFlowKind(std::string_view name) {
  const auto at = std::find(flow_kinds_.begin(), flow_kinds_.end(), name);
  if (at == flow_kinds_.end()) {
    if (flow_kinds_.size() == 256) return 255;  // hostile: as the last of them
    flow_kinds_.emplace_back(name);
    return static_cast<uint8_t>(flow_kinds_.size() - 1);
  }
  return static_cast<uint8_t>(at - flow_kinds_.begin());
}

void IslandWriter::AddFlows(const std::vector<TimelineArrow>& arrows) {
  uint32_t to = 0;
  int64_t from = 0;
  for (const TimelineArrow& arrow : arrows) {
    blocks_[kFlowTo].Put(arrow.to - to);
    blocks_[kFlowFrom].PutSigned(arrow.from - from);
    blocks_[kFlowKind].PutByte(arrow.kind);
    to = arrow.to;
    from = arrow.from;
  }
  flows_ = arrows.size();
}

std::string IslandWriter::Header(const TimelineTexts& texts) const {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().ListField("kinds", SliceKindNames());
  json.Array("flowKinds", flow_kinds_, [&](const std::string& kind) { json.Value(CutText(kind)); });
  json.Key("texts").Raw("[" + texts.json() + "]");
  json.Array("lanes", lanes_, [&](const Lane& lane) {
    json.BeginArray().Value(lane.key).List(lane.row_sizes).EndArray();
  });
  json.Array("counters", counters_, [&](const auto& counter) {
    json.BeginArray().Value(counter.first).BeginArray();
    for (const Series& one : counter.second) {
      json.BeginArray().Value(CutText(one.name)).Value(one.unit);
      json.Value(one.points).Value(one.whole ? 1 : 0).EndArray();
    }
    json.EndArray().EndArray();
  });
  json.Field("flows", flows_);
  json.Array("bytes", blocks_, [&](const VarintColumn& one) { json.Value(one.bytes().size()); });
  json.EndObject();
  return out;
}

std::string IslandWriter::Finish(const TimelineTexts& texts) const {
  const std::string header = Header(texts);
  size_t size = header.size() + 4;
  for (const VarintColumn& block : blocks_) size += block.bytes().size();
  std::string out;
  out.reserve(size);
  for (int i = 0; i < 4; ++i) out += static_cast<char>(header.size() >> (8 * i));
  out += header;
  for (const VarintColumn& block : blocks_) out += block.bytes();
  return out;
}

}  // namespace debrief::outputs::html
