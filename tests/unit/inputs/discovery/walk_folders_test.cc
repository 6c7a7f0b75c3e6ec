#include "inputs/discovery/walk_folders.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inputs/input_diagnostics.h"
#include "unit/inputs/input_helpers.h"

namespace debrief {
namespace walk_folders_test {

namespace fs = std::filesystem;
using testing::NotesOf;
using testing::TempFolder;
using testing::WriteBytes;

// "path state notes" of all that is found, paths relative to the folder.
std::vector<std::string> Walk(const TempFolder& folder, const std::vector<std::string>& paths,
                              const std::string& output = "") {
  std::vector<std::string> all;
  for (const FoundInput& input : WalkFolders(paths, output)) {
    std::string path = input.path;
    if (path.starts_with(folder.path() + "/")) path.erase(0, folder.path().size() + 1);
    if (path == folder.path()) path = ".";
    std::string notes = NotesOf(input);
    all.push_back(
        notes.empty() ? path : fmt::format("{} {} {}", path, InputStateName(input.state), notes));
  }
  return all;
}

using Lines = std::vector<std::string>;

TEST(WalkFolders, InOrderOfName) {
  TempFolder folder;
  for (const char* name : {"b/2", "b/10", "a", "b/c/x", ".hidden", ".git/config", "B"}) {
    WriteBytes(folder.File(name), "x");
  }
  EXPECT_EQ(Walk(folder, {folder.path()}), (Lines{".hidden", "B", "a", "b/10", "b/2", "b/c/x"}));
}

TEST(WalkFolders, TellsFolderNameAndSize) {
  TempFolder folder;
  WriteBytes(folder.File("d/x.log"), "12345");
  for (const std::string& given : {folder.path(), folder.path() + "///", folder.File("d/x.log")}) {
    auto found = WalkFolders({given}, "");
    ASSERT_EQ(found.size(), 1u) << given;
    EXPECT_EQ(found[0].path, folder.File("d/x.log"));
    EXPECT_EQ(found[0].folder, folder.File("d"));
    EXPECT_EQ(found[0].name, "x.log");
    EXPECT_EQ(found[0].bytes, 5u);
  }
}

TEST(WalkFolders, RootDot) {
  TempFolder folder;
  WriteBytes(folder.File("x"), "1");
  WriteBytes(folder.File("d/y"), "1");
  fs::path before = fs::current_path();
  fs::current_path(folder.path());
  auto dot = WalkFolders({"."}, "");
  auto slash = WalkFolders({"./"}, "");
  auto plain = WalkFolders({"d"}, "");
  auto file = WalkFolders({"x"}, "");
  fs::current_path(before);
  ASSERT_EQ(dot.size(), 2u);
  EXPECT_EQ(dot[0].path, "d/y");
  EXPECT_EQ(dot[0].folder, "d");
  EXPECT_EQ(dot[1].path, "x");
  EXPECT_EQ(dot[1].folder, ".");
  ASSERT_EQ(slash.size(), 2u);
  EXPECT_EQ(slash[1].path, "x");
  ASSERT_EQ(plain.size(), 1u);
  EXPECT_EQ(plain[0].folder, "d");
  ASSERT_EQ(file.size(), 1u);
  EXPECT_EQ(file[0].folder, ".");
}

TEST(WalkFolders, WhatIsNoFile) {
  TempFolder folder;
  ASSERT_EQ(mkfifo(folder.File("fifo").c_str(), 0600), 0);
  ASSERT_EQ(symlink("nowhere", folder.File("dangling").c_str()), 0);
  ASSERT_EQ(symlink("self", folder.File("self").c_str()), 0);
  EXPECT_EQ(Walk(folder, {folder.path()}),
            (Lines{"dangling failed input.unreadable", "fifo skipped input.not_a_file",
                   "self failed input.symlink_loop"}));
  EXPECT_EQ(Walk(folder, {folder.File("missing")}), (Lines{"missing failed input.unreadable"}));
  EXPECT_EQ(WalkFolders({""}, "").size(), 1u);
}

TEST(WalkFolders, LoopsAndSecondLinks) {
  TempFolder folder;
  WriteBytes(folder.File("d/x"), "1");
  ASSERT_EQ(symlink("..", folder.File("d/up").c_str()), 0);
  ASSERT_EQ(symlink("d", folder.File("e").c_str()), 0);
  EXPECT_EQ(Walk(folder, {folder.path()}),
            (Lines{"d/up skipped input.symlink_loop", "d/x", "e skipped input.seen_already"}));
  // Given twice is a slip of the shell, nothing to tell.
  EXPECT_EQ(Walk(folder, {folder.File("d"), folder.File("d/")}),
            (Lines{"d/up skipped input.link_leaves", "d/x"}))
      << "the link leads up out of d";
}

TEST(WalkFolders, LinksThatLeave) {
  TempFolder folder;
  WriteBytes(folder.File("job/x"), "1");
  WriteBytes(folder.File("job2/y"), "2");
  ASSERT_EQ(symlink("/", folder.File("job/root").c_str()), 0);
  ASSERT_EQ(symlink("../job2", folder.File("job/other").c_str()), 0);
  ASSERT_EQ(symlink("../job2/y", folder.File("job/z").c_str()), 0);
  EXPECT_EQ(Walk(folder, {folder.File("job")}),
            (Lines{"job/other skipped input.link_leaves", "job/root skipped input.link_leaves",
                   "job/x", "job/z"}))
      << "files are read wherever they lie";
  // A link that is named, or whose folder is, is followed.
  EXPECT_EQ(Walk(folder, {folder.File("job/other")}), (Lines{"job/other/y"}));
  EXPECT_EQ(
      Walk(folder, {folder.File("job2"), folder.File("job")}),
      (Lines{"job2/y", "job/other skipped input.seen_already", "job/root skipped input.link_leaves",
             "job/x", "job/z skipped input.seen_already"}));
}

TEST(WalkFolders, UnreadableFolder) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  TempFolder folder;
  WriteBytes(folder.File("d/x"), "1");
  chmod(folder.File("d").c_str(), 0);
  EXPECT_EQ(Walk(folder, {folder.path()}), (Lines{"d failed input.unreadable"}));
  chmod(folder.File("d").c_str(), 0700);
}

TEST(WalkFolders, OwnOutput) {
  TempFolder folder;
  WriteBytes(folder.File("old/findings.json"), "{}");
  WriteBytes(folder.File("old/index.html"), "x");
  WriteBytes(folder.File("half/findings.json"), "{}");
  EXPECT_EQ(Walk(folder, {folder.path()}),
            (Lines{"half/findings.json", "old skipped input.own_output"}));
}

TEST(WalkFolders, OutputFolderIsLeftOut) {
  TempFolder folder;
  WriteBytes(folder.File("x"), "1");
  WriteBytes(folder.File("out/findings.json"), "{}");
  EXPECT_EQ(Walk(folder, {folder.path()}, folder.File("out")), (Lines{"x"}));
  EXPECT_EQ(Walk(folder, {folder.path()}, folder.File("missing")),
            (Lines{"out/findings.json", "x"}));
  ASSERT_EQ(symlink("out", folder.File("link").c_str()), 0);
  EXPECT_EQ(Walk(folder, {folder.path()}, folder.File("out")), (Lines{"x"}));
}

TEST(WalkFolders, NamesOfAnyBytes) {
  TempFolder folder;
  WriteBytes(folder.File("\x1b[31m\xff\n"), "1");
  EXPECT_EQ(Walk(folder, {folder.path()}), (Lines{"\x1b[31m\xff\n"}));
}

}  // namespace walk_folders_test
}  // namespace debrief
