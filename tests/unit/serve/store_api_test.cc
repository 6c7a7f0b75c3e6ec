// SQL of a reader over a store: pages, what is refused, what the tables are.
#include "serve/store_api.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "outputs/store/store.h"
#include "tables/job.h"

namespace debrief::serve {
namespace store_api_test {

class StoreApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + "store_api_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void WriteStore() {
    Model model;
    auto& jobs = model.tables.Edit<JobTable>();
    for (int32_t i = 0; i < 3; ++i) {
      jobs.Add({.job = i, .name = model.pools.Intern("it's <" + std::to_string(i) + ">")});
    }
    OutputContext context;
    context.folder = folder_;
    ASSERT_TRUE(outputs::store::Describe().write(model, context).ok());
  }

  Response Ask(const std::string& query) {
    StoreApi api(folder_, folder_, clock_);
    Request request;
    request.query = query;
    CancelToken cancel;
    return api.Query(request, cancel);
  }

  FixedClock clock_{0};
  std::string folder_;
};

TEST_F(StoreApiTest, PagesTellWhetherThereIsMore) {
  WriteStore();
  EXPECT_EQ(Ask("sql=SELECT+job,+name+FROM+job+ORDER+BY+job&limit=2").body,
            "{\"columns\": [{\"name\":\"job\",\"type\":\"INTEGER\"},"
            "{\"name\":\"name\",\"type\":\"VARCHAR\"}], "
            "\"rows\": [[0, \"it's \\u003c0>\"], [1, \"it's \\u003c1>\"]], "
            "\"more\": true, \"ms\": 0}\n");
  EXPECT_EQ(Ask("sql=SELECT+job+FROM+job+ORDER+BY+job&limit=2&offset=2").body,
            "{\"columns\": [{\"name\":\"job\",\"type\":\"INTEGER\"}], \"rows\": [[2]], "
            "\"more\": false, \"ms\": 0}\n");
}

TEST_F(StoreApiTest, OnlyOneStatementThatReads) {
  WriteStore();
  for (const char* sql : {"DROP+VIEW+job", "SELECT+1%3B+SELECT+2", "SET+threads=1", "", "nonsense",
                          "SELECT+*+FROM+read_text('/etc/hostname')"})
    EXPECT_EQ(Ask(std::string("sql=") + sql).status, 400) << sql;
  EXPECT_EQ(Ask("sql=SELECT+count(*)+FROM+job%3B%0A").status, 200);
}

TEST_F(StoreApiTest, CsvIsAFile) {
  WriteStore();
  Response response = Ask("sql=SELECT+job+FROM+job+ORDER+BY+job&format=csv");
  ASSERT_TRUE(response.file.valid());
  std::string text(static_cast<size_t>(response.length), ' ');
  ASSERT_EQ(pread(response.file.get(), text.data(), text.size(), 0), response.length);
  EXPECT_EQ(text, "job\n0\n1\n2\n");
}

TEST_F(StoreApiTest, ACancelledQueryEnds) {
  WriteStore();
  StoreApi api(folder_, folder_, clock_);
  Request request;
  request.query = "sql=SELECT+count(*)+FROM+range(100000000000)+t(a)+WHERE+a%2511=3";
  CancelToken cancel;
  cancel.Cancel();
  Response response = api.Query(request, cancel);
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("took too long"), std::string_view::npos) << response.body;
}

TEST_F(StoreApiTest, TablesHaveRowsAndDocs) {
  WriteStore();
  StoreApi api(folder_, folder_, clock_);
  CancelToken cancel;
  std::string body = api.Tables(cancel).body;
  EXPECT_NE(body.find("\"name\":\"job\",\"doc\":\"one job found"), std::string_view::npos);
  EXPECT_NE(body.find("\"rows\":3,\"columns\":[{\"name\":\"job\",\"type\":\"INTEGER\""),
            std::string_view::npos);
}

TEST_F(StoreApiTest, AReportWithoutStoreSaysSo) {
  Response response = Ask("sql=SELECT+1");
  EXPECT_EQ(response.status, 400);
  EXPECT_NE(response.body.find("without --no-store"), std::string_view::npos);
}

}  // namespace store_api_test
}  // namespace debrief::serve
