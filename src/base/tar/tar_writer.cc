#include "base/tar/tar_writer.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/bytes/growing_file.h"

namespace debrief {

struct TarWriter::State {
  explicit State(GrowingFile opened) : file(std::move(opened)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (archive != nullptr) archive_write_free(archive);
  }

  // What the file said comes before what libarchive makes of it.
  Status Failed() const {
    if (!trouble.ok()) return trouble;
    const char* text = archive_error_string(archive);
    return {Code::kIo, fmt::format("cannot write the archive: {}", text == nullptr ? "" : text)};
  }

  GrowingFile file;
  struct archive* archive = nullptr;
  Status trouble;
};

namespace {

bool HasEnding(const std::string& path, std::string_view ending) { return path.ends_with(ending); }

int AddFilter(struct archive* archive, const std::string& path) {
  if (HasEnding(path, ".gz") || HasEnding(path, ".tgz"))
    return archive_write_add_filter_gzip(archive);
  if (HasEnding(path, ".tar")) return archive_write_add_filter_none(archive);
  return archive_write_add_filter_zstd(archive);
}

}  // namespace

TarWriter::TarWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
TarWriter::TarWriter(TarWriter&& other) noexcept = default;
TarWriter::~TarWriter() = default;

Result<TarWriter> TarWriter::Create(const std::string& path) {
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
  auto state = std::make_unique<State>(std::move(file));
  state->archive = archive_write_new();
  if (state->archive == nullptr) return Status(Code::kLimit, "no memory for an archive");
  struct archive* archive = state->archive;
  // Names are bytes in this format; others would translate them from a locale.
  bool is_set = archive_write_set_format_gnutar(archive) == ARCHIVE_OK;
  is_set = is_set && AddFilter(archive, path) == ARCHIVE_OK;
  // gzip would write when it was made.
  if (HasEnding(path, "gz"))
    (void)archive_write_set_filter_option(archive, "gzip", "timestamp", nullptr);
  archive_write_set_bytes_in_last_block(archive, 1);
  const auto write = [](struct archive*, void* to, const void* bytes, size_t length) -> la_ssize_t {
    auto* state = static_cast<State*>(to);
    state->trouble = state->file.Append({static_cast<const char*>(bytes), length});
    return state->trouble.ok() ? static_cast<la_ssize_t>(length) : -1;
  };
  is_set = is_set && archive_write_open2(archive, state.get(), nullptr, write, nullptr, nullptr) ==
                         ARCHIVE_OK;
  if (!is_set) return state->Failed();
  return TarWriter(std::move(state));
}

Status TarWriter::BeginFile(const std::string& name, uint64_t size) {
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  if (entry == nullptr) return {Code::kLimit, "no memory for an archive"};
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0600);
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
  archive_entry_set_mtime(entry.get(), 0, 0);
  return archive_write_header(state_->archive, entry.get()) == ARCHIVE_OK ? Status()
                                                                          : state_->Failed();
}

Status TarWriter::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const la_ssize_t written = archive_write_data(state_->archive, bytes.data(), bytes.size());
    if (written <= 0) return state_->Failed();
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status TarWriter::Finish() {
  if (archive_write_close(state_->archive) != ARCHIVE_OK) return state_->Failed();
  return state_->file.Finish();
}

}  // namespace debrief
