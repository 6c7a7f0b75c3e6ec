// The store, written from a model and read back by SQL.
#include "outputs/store/store.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/paths.h"
#include "outputs/store/parquet_store.h"
#include "outputs/store/query.h"
#include "outputs/store/text_column.h"
#include "tables/analysis.h"
#include "tables/finding.h"
#include "tables/input.h"
#include "tables/job.h"

namespace debrief::outputs::store {
namespace store_test {

class StringSink final : public TextSink {
 public:
  void Write(std::string_view text) override {
    ++writes;
    this->text += text;
  }
  std::string text;
  int writes = 0;
};

class StoreTest : public ::testing::Test {
 protected:
  Status Write(bool parquet = false) {
    OutputContext context;
    context.folder = folder_;
    context.parquet = parquet;
    return Describe().write(model_, context);
  }

  // What a query prints; the Status where it fails.
  std::string Query(const std::string& sql, QueryOptions options = {QueryFormat::kCsv}) {
    auto database = OpenStore(folder_);
    if (!database.ok()) return database.status().ToString();
    StringSink sink;
    Status status = RunQuery(database.value(), sql, options, sink);
    return status.ok() ? sink.text : status.ToString();
  }

  void AddJob(int32_t job, std::string_view name, int32_t world_size = kNone32) {
    JobRow row;
    row.job = job;
    if (!name.empty()) row.name = model_.pools.Intern(name);
    row.world_size = world_size;
    model_.tables.Edit<JobTable>().Add(row);
  }

  // `rows` inputs with `kinds` kinds; every seventh has no kind, every fifth no bytes.
  void AddInputs(int32_t rows, int32_t kinds) {
    auto& table = model_.tables.Edit<InputTable>();
    for (int32_t i = 0; i < rows; ++i) {
      InputRow row;
      row.input = i;
      row.path = model_.pools.Intern("path/" + std::to_string(i));
      if (i % 7 != 0) row.kind = model_.pools.Intern("kind " + std::to_string(i % kinds));
      if (i % 5 != 0) row.bytes = int64_t{i} * 1'000'000'000;
      table.Add(row);
    }
  }

  const ScratchFolder scratch_{"/tmp/debrief_store_"};
  const std::string& folder_ = scratch_.path();
  Model model_;
};

TEST_F(StoreTest, SaysWhatItIs) {
  EXPECT_EQ(Describe().info.name, "store");
  EXPECT_EQ(Describe().info.file, "run.duckdb");
}

TEST_F(StoreTest, EmptyModelHasEveryTable) {
  ASSERT_TRUE(Write().ok());
  std::string counts;
  for (const TableInfo* table : AllTables()) {
    counts += std::string(counts.empty() ? "" : " + ") + "(SELECT count(*) FROM \"" +
              std::string(table->name) + "\")";
  }
  EXPECT_EQ(Query("SELECT " + counts + " AS n"), "n\n0\n");
  EXPECT_EQ(Query("SELECT value FROM debrief_meta WHERE key = 'schema'"), "value\n1\n");
  EXPECT_EQ(Query("SELECT count(*) AS n FROM debrief_meta WHERE key = 'version'"), "n\n1\n");
}

TEST_F(StoreTest, TypesAreThoseOfTheDocumentation) {
  AddInputs(5000, 3);
  ASSERT_TRUE(Write().ok());
  std::string expected = "table_name,column_name,data_type\n";
  for (const TableInfo* table : AllTables()) {
    for (const ColumnInfo& column : table->columns) {
      expected += std::string(table->name) + "," + std::string(column.name) + "," +
                  std::string(SqlTypeName(column.type)) + "\n";
    }
  }
  EXPECT_EQ(Query("SELECT table_name, column_name, data_type FROM information_schema.columns WHERE "
                  "table_schema = 'main' AND table_name NOT LIKE 'debrief_%' "
                  "ORDER BY table_name, ordinal_position"),
            expected);
}

TEST_F(StoreTest, ThreeFormats) {
  AddJob(0, "a,\"b\"\n<c>", 8);
  AddJob(1, "");
  AddJob(2, "\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80", -1);
  ASSERT_TRUE(Write().ok());
  std::string sql = "SELECT job, name, world_size FROM job ORDER BY job";
  EXPECT_EQ(Query(sql),
            "job,name,world_size\n"
            "0,\"a,\"\"b\"\"\n<c>\",8\n"
            "1,,\n"
            "2,\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80,-1\n");
  EXPECT_EQ(Query(sql, {QueryFormat::kTable}),
            "job  name        world_size\n"
            "---  ----------  ----------\n"
            "  0  a,\"b\"\\n<c>           8\n"
            "  1  NULL              NULL\n"
            "  2  \xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80                 -1\n");
  std::string json = Query(sql, {QueryFormat::kJson});
  EXPECT_NE(json.find("{\"job\": 1, \"name\": null, \"world_size\": null}"), std::string::npos)
      << json;
  EXPECT_NE(json.find("a,\\\"b\\\"\\n"), std::string::npos) << json;
  EXPECT_EQ(json.front(), '[');
  EXPECT_EQ(json.substr(json.size() - 4), "}\n]\n");
}

TEST_F(StoreTest, EmptyTextIsNotNull) {
  JobRow row;
  row.name = model_.pools.Intern("");
  model_.tables.Edit<JobTable>().Add(row);
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Query("SELECT name FROM job"), "name\n\"\"\n");
  EXPECT_EQ(Query("SELECT name FROM job", {QueryFormat::kJson}), "[\n{\"name\": \"\"}\n]\n");
}

TEST_F(StoreTest, ListsAndDoubles) {
  auto& table = model_.tables.Edit<FindingTable>();
  FindingRow row;
  int64_t ranks[] = {5, -7, std::numeric_limits<int64_t>::max()};
  row.ranks = model_.pools.lists.Intern(ranks);
  row.confidence = 0.1;
  table.Add(row);
  FindingRow none;
  none.ranks = model_.pools.lists.Intern(std::span<const int64_t>());
  table.Add(none);
  table.Add(FindingRow());
  ASSERT_TRUE(Write().ok());
  std::string sql = "SELECT ranks, len(ranks) AS n, confidence FROM finding";
  EXPECT_EQ(Query(sql, {QueryFormat::kJson}),
            "[\n{\"ranks\": [5, -7, 9223372036854775807], \"n\": 3, \"confidence\": 0.1},\n"
            "{\"ranks\": [], \"n\": 0, \"confidence\": null},\n"
            "{\"ranks\": null, \"n\": null, \"confidence\": null}\n]\n");
  EXPECT_EQ(Query("SELECT ranks FROM finding"), "ranks\n\"[5, -7, 9223372036854775807]\"\n[]\n\n");
}

// Row counts around DuckDB's vectors (2048) and row groups (122,880); `kind` is coded in one byte
// and in two where rows repeat enough, `path` never is.
TEST_F(StoreTest, ChunkBordersAndBothFormsOfText) {
  for (int32_t rows : {1, 2048, 2049, 122'881}) {
    for (int32_t kinds : {255, 256}) {
      if (rows > 100'000 && kinds == 255)
        continue;  // a border of DuckDB's, whatever the form of text
      model_ = Model();
      AddInputs(rows, kinds);
      ASSERT_TRUE(Write().ok());
      std::string wrong =
          "SELECT count(*) AS n FROM input WHERE path <> 'path/' || input "
          "OR (kind IS NULL) <> (input % 7 = 0) OR kind <> 'kind ' || (input % " +
          std::to_string(kinds) +
          ") OR (bytes IS NULL) <> (input % 5 = 0) OR bytes <> input::BIGINT * 1000000000 "
          "OR job IS NOT NULL OR state IS NOT NULL";
      EXPECT_EQ(Query(wrong), "n\n0\n") << rows << " rows, " << kinds << " kinds";
      EXPECT_EQ(Query("SELECT count(*) AS n, max(input) AS last FROM input"),
                "n,last\n" + std::to_string(rows) + "," + std::to_string(rows - 1) + "\n");
    }
  }
}

TEST_F(StoreTest, RowsKeepTheirOrder) {
  AddInputs(130'000, 5);
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Query("SELECT count(*) AS n FROM stored.input WHERE input <> rowid"), "n\n0\n");
}

TEST_F(StoreTest, RepeatedTextIsCodedAndSortsAsText) {
  AddInputs(5000, 3);
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Query("SELECT typeof(kind) AS t FROM stored.input LIMIT 1"),
            "t\n\"ENUM('kind 1', 'kind 2', 'kind 0')\"\n");
  EXPECT_EQ(Query("SELECT kind FROM input WHERE kind NOT NULL GROUP BY kind ORDER BY kind"),
            "kind\nkind 0\nkind 1\nkind 2\n");
  EXPECT_EQ(Query("SELECT count(*) AS n FROM input WHERE kind = 'no such kind'"), "n\n0\n");
}

TEST_F(StoreTest, BrokenTextBecomesValid) {
  auto& table = model_.tables.Edit<JobTable>();
  for (int i = 0; i < 6000; ++i) {
    JobRow row;
    row.job = i;
    row.name =
        model_.pools.Intern(i % 2 == 0 ? std::string_view("a\xFF") : std::string_view("a\xFE"));
    table.Add(row);
  }
  JobRow nul;
  nul.job = -1;
  nul.name = model_.pools.Intern(std::string_view("x\0y", 3));
  table.Add(nul);
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Query("SELECT name, count(*) AS n FROM job GROUP BY name ORDER BY n"),
            "name,n\nx\xEF\xBF\xBDy,1\na\xEF\xBF\xBD,6000\n");
}

TEST_F(StoreTest, TextThatLooksLikeSql) {
  auto& table = model_.tables.Edit<JobTable>();
  for (int i = 0; i < 4096; ++i) {
    JobRow row;
    row.name = model_.pools.Intern(i % 2 == 0 ? "'); DROP SCHEMA stored CASCADE; --" : "\"'';\\");
    table.Add(row);
  }
  ASSERT_TRUE(Write(true).ok());
  EXPECT_EQ(Query("SELECT name FROM job GROUP BY name ORDER BY name"),
            "name\n\"\"\"'';\\\"\n'); DROP SCHEMA stored CASCADE; --\n");
}

TEST_F(StoreTest, StacksThatReadTheSameAreOneMember) {
  Pools pools;
  std::vector<uint32_t> ids;
  for (const char* line : {"x = 1", "x = 2"}) {
    FrameId frame =
        pools.AddFrame({pools.Intern("a.py"), pools.Intern("f"), 3, pools.Intern(line)});
    ids.push_back(static_cast<uint32_t>(pools.AddStack(std::span(&frame, 1))));
  }
  ASSERT_NE(ids[0], ids[1]);
  std::vector<uint32_t> rows;
  for (int i = 0; i < 4096; ++i) rows.push_back(ids[static_cast<size_t>(i % 2)]);
  TextColumn column(pools, ColumnType::kStack, rows);
  ASSERT_TRUE(column.coded());
  EXPECT_EQ(column.members(), (std::vector<std::string>{"a.py:3 f"}));
  EXPECT_EQ(column.CodeOf(ids[0]), column.CodeOf(ids[1]));
}

TEST_F(StoreTest, StacksAreListsOfLines) {
  Pools pools;
  Frame inner{pools.Intern("a b.py"), pools.Intern("f\ng<int>"), 3};
  Frame outer{pools.Intern("c.py"), pools.Intern("main"), 70};
  FrameId frames[] = {pools.AddFrame(inner), pools.AddFrame(outer)};
  uint32_t ids[] = {static_cast<uint32_t>(pools.AddStack(frames)),
                    static_cast<uint32_t>(pools.AddStack({}))};
  TextColumn column(pools, ColumnType::kStack, ids);
  auto database = Database::Open("", {OpenMode::kMemory});
  ASSERT_TRUE(database.ok());
  std::string printed;
  for (uint32_t id : ids) {
    std::string text;
    EXPECT_TRUE(column.AppendText(id, text));
    StringSink sink;
    ASSERT_TRUE(RunQuery(database.value(),
                         "SELECT " + DecodeExpression(ColumnType::kStack, "s") + " FROM (SELECT " +
                             QuoteText(text) + " AS s)",
                         {QueryFormat::kTable}, sink)
                    .ok());
    printed += sink.text.substr(sink.text.rfind('\n', sink.text.size() - 2) + 1);
  }
  EXPECT_EQ(printed, "[a b.py:3 f g<int>, c.py:70 main]\n[]\n");
}

TEST_F(StoreTest, ReplacesAnOldStoreWithItsLog) {
  AddJob(0, "old");
  ASSERT_TRUE(Write().ok());
  std::ofstream(folder_ + "/run.duckdb.wal") << "rubbish";
  std::ofstream(folder_ + "/run.duckdb.partial") << "left by a killed run";
  model_ = Model();
  AddJob(0, "new");
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Query("SELECT name FROM job"), "name\nnew\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/run.duckdb.wal"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/run.duckdb.partial"));
}

TEST_F(StoreTest, FolderThatCannotBeWritten) {
  OutputContext context;
  context.folder = folder_ + "/missing";
  EXPECT_EQ(Describe().write(model_, context).code(), Code::kNotFound);
  context.folder = "/proc";
  Status status = Describe().write(model_, context);
  EXPECT_TRUE(status.code() == Code::kDenied || status.code() == Code::kNotFound)
      << status.ToString();
  std::ofstream(folder_ + "/file") << "x";
  context.folder = folder_ + "/file";
  EXPECT_EQ(Describe().write(model_, context).code(), Code::kNotFound);
}

TEST_F(StoreTest, FailedParquetLeavesTheOldStore) {
  AddJob(0, "old");
  ASSERT_TRUE(Write().ok());
  std::ofstream(folder_ + "/parquet") << "a file where the folder should be";
  model_ = Model();
  AddJob(0, "new");
  EXPECT_FALSE(Write(true).ok());
  EXPECT_EQ(Query("SELECT name FROM job"), "name\nold\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/run.duckdb.partial"));
}

// Files that may not grow past a limit fail as on a full disk, wherever in the writing that is.
TEST_F(StoreTest, DiskThatFillsUp) {
  AddInputs(30'000, 5);
  ASSERT_TRUE(Write().ok());
  auto size = static_cast<rlim_t>(std::filesystem::file_size(folder_ + "/run.duckdb"));
  auto old_handler = signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit;
  getrlimit(RLIMIT_FSIZE, &old_limit);
  for (rlim_t eighths : std::initializer_list<rlim_t>{0, 1, 4, 7}) {
    rlimit limit{size * eighths / 8, old_limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    Status status = Write(true);
    setrlimit(RLIMIT_FSIZE, &old_limit);
    EXPECT_FALSE(status.ok()) << eighths;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/run.duckdb.partial")) << eighths;
    EXPECT_FALSE(std::filesystem::exists(folder_ + "/run.duckdb.partial.wal")) << eighths;
  }
  signal(SIGXFSZ, old_handler);
  EXPECT_EQ(Query("SELECT count(*) AS n FROM input"), "n\n30000\n") << "the old store is whole";
}

TEST_F(StoreTest, ParquetHoldsWhatTheViewsShow) {
  AddInputs(5000, 3);
  FindingRow row;
  int64_t ranks[] = {1, 2};
  row.ranks = model_.pools.lists.Intern(ranks);
  model_.tables.Edit<FindingTable>().Add(row);
  ASSERT_TRUE(Write(true).ok());
  for (const TableInfo* table : AllTables()) {
    EXPECT_TRUE(
        std::filesystem::exists(folder_ + "/parquet/" + std::string(table->name) + ".parquet"));
  }
  EXPECT_EQ(Query("SELECT count(*) AS n FROM (SELECT * FROM input EXCEPT ALL SELECT * FROM '" +
                  folder_ + "/parquet/input.parquet')"),
            "n\n0\n");
  EXPECT_EQ(Query("SELECT ranks[2] AS r FROM '" + folder_ + "/parquet/finding.parquet'"), "r\n2\n");
}

TEST_F(StoreTest, ParquetAloneIsReadAsTheStoreIs) {
  AddInputs(5000, 3);
  FindingRow row;
  int64_t ranks[] = {1, 2};
  row.ranks = model_.pools.lists.Intern(ranks);
  model_.tables.Edit<FindingTable>().Add(row);
  OutputContext context;
  context.folder = folder_;
  ASSERT_TRUE(ParquetStore().write(model_, context).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/run.duckdb"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/parquet/comm_op.parquet")) << "has no rows";
  EXPECT_TRUE(HasParquetAlone(folder_));
  const std::vector<std::string> statements = {
      "FROM input ORDER BY input",
      "SELECT ranks[2] AS r FROM finding",
      "FROM comm_op",
      "SELECT rowid, path FROM stored.input WHERE rowid IN (3, 4999) ORDER BY rowid",
      "SELECT ranks FROM stored.finding",
      "SELECT value FROM debrief_meta WHERE key = 'schema'"};
  std::vector<std::string> of_parquet;
  for (const std::string& sql : statements) of_parquet.push_back(Query(sql));
  ASSERT_TRUE(Write().ok());
  EXPECT_FALSE(HasParquetAlone(folder_));
  for (size_t i = 0; i < statements.size(); ++i)
    EXPECT_EQ(of_parquet[i], Query(statements[i])) << statements[i];
}

TEST_F(StoreTest, ReadersOfParquetSeeNoOtherFiles) {
  AddInputs(10, 3);
  OutputContext context;
  context.folder = folder_;
  ASSERT_TRUE(ParquetStore().write(model_, context).ok());
  OpenOptions options;
  options.external_access = false;
  options.locked = true;
  auto database = OpenStore(folder_, options);
  ASSERT_TRUE(database.ok()) << database.status().ToString();
  StringSink sink;
  EXPECT_TRUE(RunQuery(database.value(), "SELECT count(*) AS n FROM input", {}, sink).ok());
  EXPECT_NE(sink.text.find("10"), std::string::npos) << sink.text;
  for (const char* sql : {"SELECT * FROM read_csv('/etc/passwd')",
                          "SET enable_external_access = true", "SET threads = 1"})
    EXPECT_FALSE(RunQuery(database.value(), sql, {}, sink).ok()) << sql;
}

TEST_F(StoreTest, WrongSqlIsUsageWithAHint) {
  ASSERT_TRUE(Write().ok());
  auto database = OpenStore(folder_);
  ASSERT_TRUE(database.ok());
  auto run = [&](const std::string& sql) {
    StringSink sink;
    Status status = RunQuery(database.value(), sql, {}, sink);
    EXPECT_EQ(status.code(), Code::kUsage) << sql << ": " << status.ToString();
    return status.message();
  };
  EXPECT_NE(run("SELECT * FROM inputt").find("input"), std::string::npos);
  EXPECT_NE(run("SELECT pathh FROM input").find("path"), std::string::npos);
  run("SELEC 1");
  run("");
  run("-- nothing");
  run(";;");
  run("SELECT 'No space left on device' FROM nowhere");
  run("SELECT CAST('x' || range AS INTEGER) FROM range(10000)");
  run("SELECT $1");
  run("INSERT INTO debrief_meta VALUES ('a', 'b')");
  run("DROP VIEW input");
}

TEST_F(StoreTest, ErrorAfterTheFirstChunkIsReported) {
  ASSERT_TRUE(Write().ok());
  auto database = OpenStore(folder_);
  ASSERT_TRUE(database.ok());
  StringSink sink;
  Status status = RunQuery(database.value(),
                           "SELECT CAST(CASE WHEN range < 500000 THEN '1' ELSE 'x' END AS INTEGER) "
                           "AS v FROM range(600000)",
                           {QueryFormat::kCsv}, sink);
  EXPECT_EQ(status.code(), Code::kUsage) << status.ToString();
}

TEST_F(StoreTest, SeveralStatementsPrintTheirRows) {
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Query("CREATE TEMP TABLE t AS SELECT 42 AS a; SELECT 1; SELECT a FROM t;"),
            "1\n1\n\na\n42\n");
  EXPECT_EQ(Query("CREATE TEMP TABLE t (a INTEGER)"), "");
  EXPECT_EQ(Query("CREATE TEMP TABLE t (a INTEGER)", {QueryFormat::kJson}), "[]\n");
  EXPECT_EQ(Query("SELECT 1 AS a WHERE false", {QueryFormat::kJson}), "[]\n");
  EXPECT_EQ(Query("SELECT 1 AS a WHERE false", {QueryFormat::kTable}), "a\n-\n");
}

TEST_F(StoreTest, OtherTypesOfSql) {
  ASSERT_TRUE(Write().ok());
  EXPECT_EQ(Query("SELECT sum(9223372036854775807) AS h, -1.05::DECIMAL(5,2) AS d, "
                  "0.05::DECIMAL(5,2) AS e, "
                  "1e300 AS f, 'nan'::DOUBLE AS g, true AS b FROM range(3)"),
            "h,d,e,f,g,b\n27670116110564327421,-1.05,0.05,1e+300,nan,true\n");
  EXPECT_EQ(Query("SELECT 'inf'::DOUBLE AS f, 'nan'::FLOAT AS g, {'a<': [1, NULL], 'b': 'x'} AS s, "
                  "MAP {1: 'y'} AS m, [1, 2]::INTEGER[2] AS r, 1 AS s",
                  {QueryFormat::kJson}),
            "[\n{\"f\": null, \"g\": null, \"s\": {\"a\\u003c\": [1, null], \"b\": \"x\"}, \"m\": "
            "[{\"key\": 1, \"value\": \"y\"}], \"r\": [1, 2], \"s_1\": 1}\n]\n");
  EXPECT_EQ(Query("SELECT DATE '2024-02-29' AS d, TIMESTAMP '1969-12-31 23:59:59.5' AS t, "
                  "make_timestamp_ns(1700000000123456789) AS n, TIME '01:02:03' AS c, "
                  "'infinity'::DATE AS i, DATE '-0044-03-15' AS b"),
            "d,t,n,c,i,b\n2024-02-29,1969-12-31 23:59:59.5,2023-11-14 22:13:20.123456789,01:02:03,"
            "infinity,-044-03-15\n");
  EXPECT_EQ(Query("SELECT '12345678-9abc-def0-8123-456789abcdef'::UUID AS u, 'a'::BLOB AS x, "
                  "INTERVAL '1 month 2 days 3 seconds' AS v"),
            "u,x,v\n12345678-9abc-def0-8123-456789abcdef,\\x61,1 months 2 days 00:00:03\n");
  EXPECT_NE(Query("SELECT '101'::BIT").find("CAST"), std::string::npos);
}

TEST_F(StoreTest, TableIsCutToTheTerminal) {
  ASSERT_TRUE(Write().ok());
  QueryOptions options{QueryFormat::kTable, 2, 30};
  EXPECT_EQ(
      Query("SELECT 1234567890 AS number, repeat('\xC3\xA4', 50) AS text FROM range(3)", options),
      "    number  text\n"
      "----------  ------------------\n"
      "1234567890  \xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
      "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4...\n"
      "1234567890  \xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4"
      "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4...\n"
      "... there are more rows than these 2\n");
  EXPECT_EQ(Query("SELECT chr(27) || '[31m' || chr(155) AS t", {QueryFormat::kTable}),
            "t\n----------------\n\\x1b[31m\\xc2\\x9b\n");
}

TEST_F(StoreTest, MaxRowsIsExact) {
  ASSERT_TRUE(Write().ok());
  for (uint64_t rows : std::initializer_list<uint64_t>{1, 2047, 2048, 2049, 5000}) {
    QueryOptions options{QueryFormat::kCsv, rows};
    std::string text = Query("SELECT range AS r FROM range(5000)", options);
    EXPECT_EQ(static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n')), rows + 1);
  }
  QueryOptions all{QueryFormat::kTable, 3};
  EXPECT_EQ(Query("SELECT range AS r FROM range(3)", all).find("more rows"), std::string::npos);
}

TEST_F(StoreTest, ResultsAreStreamed) {
  ASSERT_TRUE(Write().ok());
  auto database = OpenStore(folder_);
  ASSERT_TRUE(database.ok());
  StringSink sink;
  ASSERT_TRUE(
      RunQuery(database.value(), "SELECT range AS r FROM range(300000)", {QueryFormat::kCsv}, sink)
          .ok());
  EXPECT_GT(sink.writes, 10);
  EXPECT_EQ(sink.text.substr(sink.text.size() - 7), "299999\n");
}

TEST_F(StoreTest, OpeningWhatIsNoStore) {
  EXPECT_EQ(OpenStore(folder_).status().code(), Code::kNotFound);
  std::ofstream(folder_ + "/run.duckdb") << std::string(100'000, 'x');
  EXPECT_EQ(OpenStore(folder_).status().code(), Code::kInvalid);
  EXPECT_EQ(OpenStore(folder_ + "/run.duckdb").status().code(), Code::kInvalid);
  std::filesystem::remove(folder_ + "/run.duckdb");
  {
    auto other = Database::Open(folder_ + "/run.duckdb", {OpenMode::kReadWrite});
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(other->Execute("CREATE TABLE t (a INTEGER)").ok());
  }
  EXPECT_EQ(OpenStore(folder_).status().code(), Code::kInvalid);
  {
    auto other = Database::Open(folder_ + "/run.duckdb", {OpenMode::kReadWrite});
    ASSERT_TRUE(other.ok());
    ASSERT_TRUE(
        other->Execute("CREATE TABLE debrief_meta AS SELECT 'schema' AS key, '2' AS value").ok());
  }
  EXPECT_EQ(OpenStore(folder_).status().code(), Code::kUnsupported);
}

TEST_F(StoreTest, ACutStoreIsAnError) {
  AddInputs(20'000, 3);
  ASSERT_TRUE(Write().ok());
  auto size = std::filesystem::file_size(folder_ + "/run.duckdb");
  std::filesystem::resize_file(folder_ + "/run.duckdb", size / 2);
  std::string result = Query("SELECT count(*), sum(bytes), max(path) FROM input");
  EXPECT_EQ(result.find("count"), std::string::npos) << result;
}

TEST_F(StoreTest, ExternalAccessCanBeTurnedOff) {
  ASSERT_TRUE(Write().ok());
  OpenOptions options;
  options.external_access = false;
  auto database = OpenStore(folder_, options);
  ASSERT_TRUE(database.ok());
  StringSink sink;
  EXPECT_FALSE(RunQuery(database.value(), "SELECT * FROM read_csv('/etc/passwd')", {}, sink).ok());
  EXPECT_EQ(sink.text, "");
}

TEST(DuckDbApiTest, ALibraryThatIsNotThereOrNotDuckDb) {
  DuckDbApi api;
  Status missing = LoadDuckDbFrom("/no/such/libduckdb.so", api);
  EXPECT_EQ(missing.code(), Code::kUnsupported);
  EXPECT_NE(missing.remedy().find("--no-store"), std::string::npos);
  Status other = LoadDuckDbFrom("libm.so.6", api);
  EXPECT_EQ(other.code(), Code::kUnsupported);
  EXPECT_NE(other.message().find("another version"), std::string::npos);
}

}  // namespace store_test
}  // namespace debrief::outputs::store
