#include "inputs/job_text/lines/engine_lines.h"

#include <charconv>

#include "base/text/strings.h"
#include "inputs/job_text/fields.h"

namespace debrief::inputs::job_text {

namespace {

// A sign, and what a line with it says.
struct Sign {
  std::string_view text;
  EngineWhat what;
};

constexpr Sign kSigns[] = {{"WorkerProc hit an exception", EngineWhat::kFatal},
                           {"WorkerProc failed to start", EngineWhat::kFatal},
                           {"WorkerProc failed.", EngineWhat::kFatal},
                           {"EngineCore hit an exception", EngineWhat::kFatal},
                           {"EngineCore encountered a fatal error", EngineWhat::kFatal},
                           {"EngineCore failed to start", EngineWhat::kFatal},
                           {"Scheduler hit an exception", EngineWhat::kFatal},
                           {"TpModelWorkerClient hit an exception", EngineWhat::kFatal},
                           {"DetokenizerManager hit an exception", EngineWhat::kFatal},
                           {"TokenizerManager hit an exception", EngineWhat::kFatal},
                           {"DataParallelController hit an exception", EngineWhat::kDead},
                           {"Exception in worker VllmWorkerProcess", EngineWhat::kFatal},
                           {"This might cause deadlock in distributed", EngineWhat::kFatal},
                           {"Engine core proc ", EngineWhat::kDead},
                           {"EngineDeadError", EngineWhat::kDead},
                           {"Engine core initialization failed", EngineWhat::kDead},
                           {"WorkerProc initialization failed", EngineWhat::kDead},
                           {"Engine process failed to start", EngineWhat::kDead},
                           {"Got fatal signal from worker processes", EngineWhat::kDead},
                           {"Received sigquit from a child process", EngineWhat::kDead},
                           {"SIGQUIT received. signum=", EngineWhat::kDead},
                           {"Hang detected on rank ", EngineWhat::kStuck},
                           {"SIGTERM received. ", EngineWhat::kTold},
                           {"Gracefully exiting... ", EngineWhat::kTold},
                           {"Application startup complete.", EngineWhat::kReady},
                           {"The server is fired up and ready to roll", EngineWhat::kReady}};

// How the start is told: a phase, the words in front of its seconds.
struct PhaseSign {
  std::string_view text;
  std::string_view phase;
  EngineWhat what = EngineWhat::kPhaseEnd;
  std::string_view before_seconds = {};  // empty: they stand right behind `text`
};

constexpr EngineWhat kBegin = EngineWhat::kPhaseBegin;
constexpr EngineWhat kEnd = EngineWhat::kPhaseEnd;

constexpr PhaseSign kPhases[] = {
    {"vLLM API server version ", "start-up", kBegin},
    {"Initializing a V1 LLM engine", "start-up", kBegin},
    {"Initializing an LLM engine", "start-up", kBegin},
    {"server_args=ServerArgs(", "start-up", kBegin},
    {"Time spent downloading weights for ", "download", kEnd, ": "},
    {"Loading weights took ", "weights"},
    {"Model loading took ", "model load", kEnd, " and "},
    {"Load weight begin.", "weights", kBegin},
    {"Load weight end.", "weights", kEnd, "elapsed="},
    {"Dynamo bytecode transform time: ", "Dynamo"},
    {"torch.compile takes ", "compile"},
    {"torch.compile took ", "compile"},
    {"Memory profiling takes ", "profiling run"},
    {"Initial profiling/warmup run took ", "profiling run"},
    {"Graph capturing finished in ", "graph capture"},
    {"init engine (profile, create kv cache, warmup model) took ", "engine init"},
    {"Init torch distributed begin.", "distributed set-up", kBegin},
    {"Init torch distributed ends.", "distributed set-up", kEnd, "elapsed="},
    {"KV Cache is allocated.", "KV cache", kEnd, "elapsed="},
    {"GPU KV cache size: ", "KV cache", kEnd, "elapsed="}};

// "12.34 seconds", "31 secs", "20.3s"; not a number: no seconds.
double ReadSeconds(std::string_view text) {
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || !(seconds >= 0)) return kNoDouble;
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  return unit.starts_with('s') ? seconds : kNoDouble;
}

std::string_view Behind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  return at == std::string_view::npos ? std::string_view() : text.substr(at + key.size());
}

std::optional<EngineLine> ParsePhase(std::string_view text) {
  for (const PhaseSign& sign : kPhases) {
    const size_t at = text.find(sign.text);
    if (at == std::string_view::npos) continue;
    std::string_view rest = text.substr(at + sign.text.size());
    if (!sign.before_seconds.empty()) rest = Behind(rest, sign.before_seconds);
    return EngineLine{.what = sign.what, .phase = sign.phase, .seconds = ReadSeconds(rest)};
  }
  return std::nullopt;
}

// "Capture cuda graph end. Time elapsed: 54.61 s.", "Capture target decode CUDA graph begin.",
// "Capture piecewise CUDA graph end. elapsed=25.74 s"
std::optional<EngineLine> ParseCapture(std::string_view text) {
  const size_t capture = text.find("Capture ");
  if (capture == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(capture);
  const bool is_graph = Contains(rest, "cuda graph ") || Contains(rest, "CUDA graph ");
  const bool begins = Contains(rest, "graph begin"), ends = Contains(rest, "graph end.");
  if (!is_graph || !(begins || ends)) return std::nullopt;
  EngineLine line{.what = begins ? kBegin : kEnd, .phase = "graph capture"};
  for (std::string_view key : {"Time elapsed: ", "elapsed="}) {
    if (ends && Contains(rest, key)) line.seconds = ReadSeconds(Behind(rest, key));
  }
  return line;
}

// "Worker proc VllmWorker-3 died unexpectedly", "RayWorkerProc rank=[3] died unexpectedly"
std::optional<EngineLine> ParseLost(std::string_view text) {
  if (!Contains(text, " died unexpectedly, shutting down executor")) return std::nullopt;
  EngineLine line{.what = EngineWhat::kLost};
  line.worker = SmallNumberAfter(text, "VllmWorker-");
  if (line.worker == kNone32) line.worker = SmallNumberAfter(text, "rank=[");
  return line;
}

std::optional<EngineLine> ParseWaiting(std::string_view text) {
  constexpr std::string_view kKey = "No available shared memory broadcast block found in ";
  const std::string_view rest = Behind(text, kKey);
  if (rest.empty()) return std::nullopt;
  return EngineLine{.what = EngineWhat::kWaiting, .phase = {}, .seconds = ReadSeconds(rest)};
}

// A soft one only logs.
std::optional<EngineLine> ParseStuck(std::string_view text) {
  constexpr std::string_view kKey = "atchdog timeout (self.watchdog_timeout=";
  const std::string_view rest = Behind(text, kKey);
  if (rest.empty() || Contains(rest, "self.soft=True")) return std::nullopt;
  EngineLine line{.what = EngineWhat::kStuck};
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line.seconds);
  if (error != std::errc()) line.seconds = kNoDouble;
  return line;
}

// uvicorn's own, which has no more words.
bool IsShutdown(std::string_view text) {
  return (text.starts_with("INFO: ") && Trimmed(text).ends_with(" Shutting down")) ||
         text == "^C" || text.starts_with("KeyboardInterrupt");
}

}  // namespace

std::optional<EngineLine> ParseEngineLine(std::string_view text) {
  if (IsShutdown(text)) {
    const bool told = !text.starts_with("INFO: ");
    return EngineLine{.what = told ? EngineWhat::kTold : EngineWhat::kShutdown};
  }
  for (auto parse : {ParseLost, ParseWaiting, ParseStuck}) {
    if (auto line = parse(text)) return line;
  }
  for (const Sign& sign : kSigns) {
    if (!Contains(text, sign.text)) continue;
    if (sign.text == "Engine core proc " && !Contains(text, " died unexpectedly")) continue;
    return EngineLine{.what = sign.what};
  }
  if (auto line = ParsePhase(text)) return line;
  return ParseCapture(text);
}

std::string_view NameOf(EngineWhat what) {
  switch (what) {
    case EngineWhat::kFatal:
      return "fatal";
    case EngineWhat::kDead:
      return "dead";
    case EngineWhat::kLost:
      return "lost";
    case EngineWhat::kWaiting:
      return "waiting";
    case EngineWhat::kStuck:
      return "stuck";
    case EngineWhat::kShutdown:
    case EngineWhat::kTold:
      return "shutdown";
    case EngineWhat::kReady:
      return "ready";
    case EngineWhat::kPhaseBegin:
      return "begin";
    case EngineWhat::kPhaseEnd:
      return "end";
  }
  return "";
}

bool IsFatalHead(std::string_view text) {
  return Contains(text, " hit an exception: Traceback (most recent call last)");
}

}  // namespace debrief::inputs::job_text
