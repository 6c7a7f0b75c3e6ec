// A tiny inference loop that records itself: two threads as two devices, a token at a time.
//
//   tiny_inference run.dbr [--tokens N] [--die-in OP --after N]
//
// Prints the tokens. --tokens 0 goes on until it is killed, from outside or with --die-in, which
// sends this process SIGKILL in the N-th OP. What it was doing is in run.dbr either way.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <array>
#include <string>
#include <thread>

#include "model.h"
#include "recorded_op.h"

namespace {

struct Options {
  const char* path = nullptr;
  long tokens = 32;
};

int Usage() {
  fprintf(stderr, "usage: tiny_inference RECORDING [--tokens N] [--die-in OP --after N]\nops:");
  for (const char* name : kOpNames) fprintf(stderr, " %s", name);
  fprintf(stderr, "\n");
  return 2;
}

int KindNamed(const char* name) {
  int kind = 0;
  while (kind < kOpKinds && strcmp(kOpNames[kind], name) != 0) ++kind;
  return kind;
}

bool ReadOptions(int count, char** words, Options* options) {
  if (count < 2 || count % 2 != 0) return false;
  options->path = words[1];
  for (int i = 2; i < count; i += 2) {
    const std::string flag = words[i];
    if (flag == "--tokens") {
      options->tokens = atol(words[i + 1]);
    } else if (flag == "--after") {
      death.ops_before = atol(words[i + 1]);
    } else if (flag != "--die-in" || (death.kind = KindNamed(words[i + 1])) == kOpKinds) {
      return false;
    }
  }
  return true;
}

dbr_id Name(const std::string& text) { return dbr_name(text.data(), text.size()); }

// What the main thread hands to the devices, and what they hand back.
struct Round {
  std::barrier<> begin{kDevices + 1}, end{kDevices + 1};
  long number = 0;
  int token = 0;
  bool last = false;
  std::array<int, kDevices> answers{};
};

uint64_t FlowId(long round, int device) { return static_cast<uint64_t>(round * kDevices + device); }

void RunDevice(int number, Round& round, Exchange& exchange) {
  dbr_thread_name(Name("device " + std::to_string(number)));
  dbr_set_device(Name("tiny:" + std::to_string(number)));
  const dbr_id launch = Name("launch"), cache = Name("cached values");
  Device device(number, exchange);
  for (;;) {
    round.begin.arrive_and_wait();
    if (round.last) return;
    {
      DEBRIEF_SCOPE("forward");
      dbr_flow(launch, DBR_FLOW_END, FlowId(round.number, number));
      round.answers[static_cast<size_t>(number)] = device.Next(round.token);
      dbr_counter(cache, static_cast<double>(device.cached_values()));
    }
    round.end.arrive_and_wait();
  }
}

void Decode(Round& round) {
  DEBRIEF_SCOPE("decode token");
  static const dbr_id launch = Name("launch");
  for (int device = 0; device < kDevices; ++device) {
    dbr_flow(launch, DBR_FLOW_START, FlowId(round.number, device));
  }
  round.begin.arrive_and_wait();
  round.end.arrive_and_wait();
  if (round.answers[0] != round.answers[1]) abort();
  round.token = round.answers[0];
  ++round.number;
}

void Generate(long tokens) {
  Round round;
  Exchange exchange;
  std::thread devices[kDevices];
  for (int number = 0; number < kDevices; ++number) {
    devices[number] = std::thread([&, number] { RunDevice(number, round, exchange); });
  }
  const dbr_id done = Name("tokens");
  while (tokens == 0 || round.number < tokens) {
    Decode(round);
    dbr_counter(done, static_cast<double>(round.number));
    if (tokens != 0) printf("%d%c", round.token, round.number == tokens ? '\n' : ' ');
  }
  round.last = true;
  round.begin.arrive_and_wait();
  for (std::thread& device : devices) device.join();
}

}  // namespace

int main(int count, char** words) {
  Options options;
  if (!ReadOptions(count, words, &options)) return Usage();
  dbr_options recorded;
  dbr_options_init(&recorded);
  recorded.process_name = "tiny_inference";
  recorded.rank = 0;
  recorded.world_size = 1;
  dbr_recording* recording = nullptr;
  // A program should run whether or not it can record.
  if (dbr_open(options.path, &recorded, &recording) != DBR_OK) perror(options.path);
  dbr_meta("model", "tiny, 4 layers of 96");
  NameOps();
  Generate(options.tokens);
  dbr_close(recording);
  return 0;
}
