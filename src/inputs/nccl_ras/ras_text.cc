#include "inputs/nccl_ras/ras_text.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text/strings.h"
#include "inputs/sniffing.h"
#include "inputs/text_lines.h"

namespace debrief::inputs::nccl_ras {

namespace {

constexpr size_t kMostRows = 1 << 20;  // of one answer

std::optional<int64_t> NumberOf(std::string_view text) { return NumberAt(text, 0); }

// What follows `before`, up to the next blank or the end.
std::string_view WordBehind(std::string_view line, std::string_view before) {
  size_t at = line.find(before);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + before.size());
  return rest.substr(0, rest.find(' '));
}

// " -- GPU 0 managed by process 456 on node 127.0.0.1"
void AddPlace(std::string_view line, RasRank& rank) {
  rank.gpu = CountOrNone(NumberOf(WordBehind(line, "GPU ")));
  rank.pid = NumberOf(WordBehind(line, "rocess ")).value_or(kNone64);
  rank.host = WordBehind(line, " on node ");
}

// "launched up to operation 35", "not launched any operations", "status ABORT", "reported TEXT".
bool AddStatement(std::string_view text, std::string_view op, RasRank& rank) {
  text = text.substr(0, text.find(" -- "));
  if (size_t at = text.find("launched up to operation "); at != std::string_view::npos) {
    rank.state = "counted";
    rank.count = NumberOf(text.substr(at + 25)).value_or(kNone64);
  } else if (Contains(text, "not launched any operations")) {
    rank.state = "counted";
    rank.count = 0;
  } else if (size_t status = text.find(" status "); status != std::string_view::npos) {
    rank.state = "status";
    rank.text = text.substr(status + 8);
  } else if (size_t reported = text.find(" reported "); reported != std::string_view::npos) {
    rank.state = "error";
    rank.text = text.substr(reported + 10);
  } else {
    return false;
  }
  if (rank.state == "counted") rank.op = op;
  return true;
}

}  // namespace

bool RasTextParser::IsFirstLine(std::string_view line) {
  return line.starts_with("NCCL version ") && Contains(line, " compiled with CUDA ");
}

void RasTextParser::Finish() {
  if (has_answer_) on_answer_(answer_);
  has_answer_ = false;
}

void RasTextParser::Add(std::string_view line, int64_t number) {
  if (IsFirstLine(line)) {
    int32_t next = answer_.snapshot + (has_answer_ ? 1 : 0);
    Finish();
    answer_ = {.snapshot = next};
    has_answer_ = true;
    section_ = Section::kNone;
    sizes_.clear();
    return;
  }
  bool full = answer_.ranks.size() + answer_.comms.size() >= kMostRows;
  if (!has_answer_ || full || BeginSection(line)) return;
  if (section_ == Section::kJob) AddJobLine(line);
  if (section_ == Section::kComms) AddCommLine(line, number);
  if (section_ != Section::kErrors && section_ != Section::kWarnings) return;
  if (line.starts_with("  ")) {
    AddBlockLine(line.substr(2), number);
  } else if (!line.empty()) {
    AddBlockHead(line);
  }
}

bool RasTextParser::BeginSection(std::string_view line) {
  if (line.starts_with("Job summary")) {
    section_ = Section::kJob;
  } else if (line.starts_with("Communicators...")) {
    section_ = Section::kComms;
  } else if (line == "Errors") {
    section_ = Section::kErrors;
  } else if (line == "Warnings") {
    section_ = Section::kWarnings;
  } else {
    return line.starts_with("====");
  }
  block_.clear();
  return true;
}

// The last row of numbers has the totals, the GPUs last.
void RasTextParser::AddJobLine(std::string_view line) {
  std::vector<std::string_view> words = WordsOf(line);
  bool numbers = words.size() >= 3 && std::all_of(words.begin(), words.end(), NumberOf);
  if (numbers) answer_.gpus = CountOrNone(NumberOf(words.back()));
}

void RasTextParser::AddCommLine(std::string_view line, int64_t number) {
  std::vector<std::string_view> words = WordsOf(line);
  if (words.size() != 8 || !NumberOf(words[0]) || !NumberOf(words[4])) return;
  RasComm comm;
  comm.line = number;
  comm.comms = CountOrNone(NumberOf(words[1]));
  comm.size = CountOrNone(NumberOf(words[4]));
  comm.status = words[6];
  comm.errors = words[7];
  sizes_[*NumberOf(words[0])] = comm.size;
  answer_.comms.push_back(std::move(comm));
}

// "DEAD", "#0-0 (d30205294129b289) MISMATCH".
void RasTextParser::AddBlockHead(std::string_view line) {
  hash_.clear();
  op_.clear();
  size_ = kNone32;
  last_ = {};
  std::vector<std::string_view> words = WordsOf(line);
  block_ = words.empty() ? "" : words.back();
  if (line[0] != '#') return;
  size_t open = line.find('('), close = line.find(')');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close)
    hash_ = line.substr(open + 1, close - open - 1);
  auto size = sizes_.find(NumberOf(line.substr(1)).value_or(-1));
  if (size != sizes_.end()) size_ = size->second;
}

RasRank RasTextParser::NewRank(int64_t number) const {
  RasRank rank;
  rank.line = number;
  rank.hash = hash_;
  rank.comm_size = size_;
  return rank;
}

void RasTextParser::AddBlockLine(std::string_view line, int64_t number) {
  constexpr std::string_view kDifferent = "Communicator ranks have different ";
  if (line.starts_with(kDifferent)) {
    op_ = line.substr(kDifferent.size());
    op_ = op_ == "status" ? "" : op_.substr(0, op_.find(' '));
    last_ = {};
  } else if (line.starts_with("Rank ")) {
    AddRank(line, number);
  } else if (line.starts_with("Process ")) {
    AddProcess(line, number);
  } else {
    AddCount(line, number);
  }
}

// "7 ranks have launched up to operation 35", "Missing communicator data from 2 job processes".
bool RasTextParser::AddCount(std::string_view line, int64_t number) {
  RasRank rank = NewRank(number);
  constexpr std::string_view kMissing = "Missing communicator data from ";
  bool missing = line.starts_with(kMissing);
  rank.ranks = CountOrNone(NumberOf(missing ? line.substr(kMissing.size()) : line));
  if (rank.ranks == kNone32) return false;
  if (missing) {
    rank.state = "missing";
  } else if (Contains(line, "considered dead")) {
    rank.state = "dead";
  } else if (!AddStatement(line, op_, rank)) {
    return false;
  }
  last_ = rank;
  answer_.ranks.push_back(std::move(rank));
  return true;
}

// "Rank 2 has launched up to operation 32 -- GPU 0 managed by ..."; without a statement of its own
// the line is one of those that the count above it is about.
void RasTextParser::AddRank(std::string_view line, int64_t number) {
  RasRank rank = NewRank(number);
  if (!AddStatement(line, op_, rank)) {
    if (last_.state.empty()) return;
    rank.state = last_.state;
    rank.op = last_.op;
    rank.count = last_.count;
    rank.text = last_.text;
  }
  rank.comm_rank = CountOrNone(NumberOf(line.substr(5)));
  AddPlace(line.substr(std::min(line.find(" -- "), line.size())), rank);
  answer_.ranks.push_back(std::move(rank));
}

// "Process 456 on node 127.0.0.1 managing GPU 0".
void RasTextParser::AddProcess(std::string_view line, int64_t number) {
  if (last_.state.empty()) return;
  RasRank rank = NewRank(number);
  rank.state = last_.state;
  AddPlace(line, rank);
  answer_.ranks.push_back(std::move(rank));
}

}  // namespace debrief::inputs::nccl_ras
