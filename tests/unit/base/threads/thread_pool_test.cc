#include "base/threads/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/threads/guard.h"

namespace debrief {
namespace thread_pool_test {

class ThreadPoolTest : public ::testing::TestWithParam<int> {};

TEST_P(ThreadPoolTest, ConsumesInOrderInTheCallingThread) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), std::max(1, GetParam()));
  std::vector<size_t> order;
  pool.MapInOrder<size_t>(
      1000, [](size_t i) { return i * i; },
      [&, caller = std::this_thread::get_id()](size_t i, size_t&& square) {
        EXPECT_EQ(std::this_thread::get_id(), caller);
        EXPECT_EQ(square, i * i);
        order.push_back(i);
      });
  std::vector<size_t> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST_P(ThreadPoolTest, NothingToDo) {
  ThreadPool pool(GetParam());
  pool.MapInOrder<int>(
      0,
      [](size_t) -> int {
        ADD_FAILURE();
        return 0;
      },
      [](size_t, int&&) { ADD_FAILURE(); });
}

TEST_P(ThreadPoolTest, EachItemRunsOnce) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int>> runs(500);
  for (int round = 1; round <= 20; ++round) {
    pool.MapInOrder<bool>(
        runs.size(), [&](size_t i) { return ++runs[i] > 0; }, [](size_t, bool&&) {});
    for (auto& count : runs) ASSERT_EQ(count, round);
  }
}

TEST_P(ThreadPoolTest, FewResultsWait) {
  ThreadPool pool(GetParam());
  std::atomic<int> alive = 0;
  int most = 0;
  struct Counted {
    std::atomic<int>* alive;
    explicit Counted(std::atomic<int>* counter) : alive(counter) { ++*alive; }
    ~Counted() { --*alive; }
  };
  using Held = std::unique_ptr<Counted>;
  pool.MapInOrder<Held>(
      2000, [&](size_t) { return std::make_unique<Counted>(&alive); },
      [&](size_t, Held&&) { most = std::max(most, alive.load()); });
  EXPECT_LE(most, 2 * pool.threads());
  EXPECT_EQ(alive, 0);
}

// Maps inside of maps inside of maps: every level waits, none may wait for ever.
TEST_P(ThreadPoolTest, MapsNest) {
  ThreadPool pool(GetParam());
  auto leaf = [&](size_t a, size_t b) {
    std::string text;
    pool.MapInOrder<size_t>(
        5, [&](size_t c) { return a * 100 + b * 10 + c; },
        [&](size_t, size_t&& value) { text += std::to_string(value) + " "; });
    return text;
  };
  auto middle = [&](size_t a) {
    std::string text;
    pool.MapInOrder<std::string>(
        6, [&](size_t b) { return leaf(a, b); }, [&](size_t, std::string&& part) { text += part; });
    return text;
  };
  std::string text;
  pool.MapInOrder<std::string>(
      7, [&](size_t a) { return middle(a); }, [&](size_t, std::string&& part) { text += part; });
  std::string expected;
  for (size_t a = 0; a < 7; ++a) {
    for (size_t b = 0; b < 6; ++b) {
      for (size_t c = 0; c < 5; ++c) expected += std::to_string(a * 100 + b * 10 + c) + " ";
    }
  }
  EXPECT_EQ(text, expected);
}

TEST_P(ThreadPoolTest, ConsumersMayMap) {
  ThreadPool pool(GetParam());
  size_t sum = 0;
  pool.MapInOrder<size_t>(
      20, [](size_t i) { return i; },
      [&](size_t, size_t&& i) {
        pool.MapInOrder<size_t>(
            10, [i](size_t j) { return i + j; }, [&](size_t, size_t&& value) { sum += value; });
      });
  EXPECT_EQ(sum, 20u * 45 + 10 * 190);
}

TEST_P(ThreadPoolTest, SeveralCallersShareThePool) {
  ThreadPool pool(GetParam());
  std::vector<size_t> sums(4);
  {
    std::vector<std::jthread> callers;
    for (size_t& sum : sums) {
      callers.emplace_back([&pool, &sum] {
        pool.MapInOrder<size_t>(
            300, [](size_t i) { return i; }, [&](size_t, size_t&& value) { sum += value; });
      });
    }
  }
  for (size_t sum : sums) EXPECT_EQ(sum, 300u * 299 / 2);
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, ::testing::Values(0, 1, 2, 3, 16));

TEST(ThreadPool, OneThreadIsTheCallers) {
  ThreadPool pool(1);
  std::set<std::thread::id> ids;
  pool.MapInOrder<int>(
      50,
      [&](size_t) {
        ids.insert(std::this_thread::get_id());
        return 0;
      },
      [](size_t, int&&) {});
  EXPECT_EQ(ids, std::set<std::thread::id>{std::this_thread::get_id()});
}

// Two items that each wait for the other to have begun: they can only end on two threads.
TEST(ThreadPool, ReallyRunsAtTheSameTime) {
  ThreadPool pool(2);
  std::atomic<int> begun = 0;
  pool.MapInOrder<int>(
      2,
      [&](size_t) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
        return 0;
      },
      [](size_t, int&&) {});
  EXPECT_EQ(begun, 2);
}

// What an item or its consumer throws reaches the caller when nothing of the map runs any more.
TEST(ThreadPool, AnExceptionEndsItsMap) {
  for (int threads : {1, 4}) {
    ThreadPool pool(threads);
    std::atomic<int> running = 0;
    auto map = [&](size_t i) {
      ++running;
      std::this_thread::yield();
      --running;
      if (i == 5) throw std::bad_alloc();
      return i;
    };
    EXPECT_THROW(pool.MapInOrder<size_t>(1000, map, [](size_t, size_t&&) {}), std::bad_alloc);
    EXPECT_EQ(running, 0);
    auto consume = [](size_t i, int&&) {
      if (i == 3) throw std::bad_alloc();
    };
    EXPECT_THROW(pool.MapInOrder<int>(1000, [](size_t) { return 0; }, consume), std::bad_alloc);
    size_t sum = 0;  // and the pool goes on
    pool.MapInOrder<size_t>(10, [](size_t i) { return i; }, [&](size_t, size_t&& i) { sum += i; });
    EXPECT_EQ(sum, 45u);
  }
}

TEST(Guarded, TurnsExceptionsIntoAStatus) {
  EXPECT_TRUE(Guarded([] {}).ok());
  Status memory = Guarded([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code(), Code::kLimit);
  EXPECT_EQ(memory.message(), "memory ran out");
  EXPECT_FALSE(memory.remedy().empty());
  EXPECT_EQ(Guarded([] { throw std::runtime_error("odd"); }).message(), "odd");
  EXPECT_FALSE(Guarded([] { throw 1; }).ok());
  int context = 0;
  alignas(ScopedWorkContext) char place[sizeof(ScopedWorkContext)];
  EXPECT_FALSE(Guarded([&] {
                 new (place) ScopedWorkContext(&context);  // nobody takes it back
                 throw std::bad_alloc();
               }).ok());
  EXPECT_EQ(WorkContext(), nullptr);
}

TEST(ThreadPool, ComesAndGoes) {
  for (int i = 0; i < 200; ++i) ThreadPool pool(1 + i % 5);
}

}  // namespace thread_pool_test
}  // namespace debrief
