// Arrays of a host, logical arrays of the controller, and the table under both.

#include "store/array_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.hpp"
#include "store/array_directory.hpp"

namespace seaway::store {
namespace {

struct Item {
  std::uint64_t id = 0;
  std::uint64_t value = 0;
};

TEST(IdTable, AgreesWithAnOrderedMapAndKeepsTheOrderOfInsertion) {
  IdTable<Item> table;
  std::map<std::uint64_t, std::uint64_t> reference;
  std::vector<std::uint64_t> order;
  RandomStream random(3, 1);

  for (std::uint64_t step = 0; step < 50'000; ++step) {
    const std::uint64_t id = random.below(700);
    const Item* found = table.find(id);
    ASSERT_EQ(found != nullptr, reference.contains(id)) << step;
    if (found) {
      ASSERT_EQ(found->value, reference[id]);
      table.erase(id);
      reference.erase(id);
      order.erase(std::find(order.begin(), order.end(), id));
    } else {
      table.insert({id, step});
      reference[id] = step;
      order.push_back(id);
    }
  }

  std::vector<std::uint64_t> seen;
  table.for_each([&](const Item& item) { seen.push_back(item.id); });
  EXPECT_EQ(seen, order);
  EXPECT_EQ(table.size(), order.size());
  EXPECT_DEATH(table.erase(1000), "entry != kNobody");
}

class ArrayTableTest : public testing::Test {
 protected:
  Slab slab() { return cache_.make(2, 64).value(); }

  HeapAllocator allocator_;
  SlabCache cache_{allocator_, {}};
  ArrayTable table_{{.arrays_max = 2}};
};

TEST_F(ArrayTableTest, AnArrayIsMadeSpilledLoadedAndRemoved) {
  ASSERT_TRUE(table_.add(7, 3, 64).ok());
  EXPECT_EQ(table_.find(7)->state, ArrayState::kPending);
  const std::uint32_t generation = table_.find(7)->generation;

  table_.give_slab(7, slab());
  std::byte* const on_device = table_.find(7)->slab.base();
  table_.set_ready(7);
  const Slab old_device = table_.move_to(7, ArrayState::kOnHost, slab());
  EXPECT_EQ(old_device.base(), on_device);
  EXPECT_EQ(table_.find(7)->state, ArrayState::kOnHost);
  const Slab old_host = table_.move_to(7, ArrayState::kOnDevice, slab());
  EXPECT_EQ(table_.find(7)->generation, generation);
  const Slab last = table_.remove(7);

  EXPECT_TRUE(last.has_value());
  EXPECT_EQ(table_.find(7), nullptr);
  ASSERT_TRUE(table_.add(7, 3, 64).ok());
  EXPECT_NE(table_.find(7)->generation, generation);
}

TEST_F(ArrayTableTest, RefusesATakenIdAndMoreThanItsLimit) {
  ASSERT_TRUE(table_.add(1, 0, 0).ok());
  ASSERT_TRUE(table_.add(2, 0, 0).ok());

  EXPECT_EQ(table_.add(1, 0, 0), protocol_error("array 1 is already on this host"));
  EXPECT_EQ(table_.add(3, 0, 0),
            resource_exhausted("array 3 refused: 2 of 2 arrays are on this host; drop handles that "
                               "are not needed, or raise ArrayTable::Limits::arrays_max"));
}

TEST_F(ArrayTableTest, LetsOnlyArraysWithAValueBeRead) {
  ASSERT_TRUE(table_.add(1, 0, 64).ok());
  EXPECT_EQ(table_.require(1).status(),
            invalid_argument("array 1 has no value yet: wait for it before reading"));
  EXPECT_EQ(table_.require(9).status(),
            invalid_argument("array 9 is not on this host: it was freed, or never lay here"));

  table_.give_slab(1, slab());
  table_.set_ready(1, ArrayState::kOnHost);

  EXPECT_EQ(table_.require(1).value()->id, 1u);
}

TEST_F(ArrayTableTest, TheFirstPoisonStaysAndTheSlabIsHandedBack) {
  ASSERT_TRUE(table_.add(1, 0, 64).ok());
  table_.give_slab(1, slab());

  EXPECT_TRUE(table_.poison(1, cancelled("by its client")).has_value());
  EXPECT_FALSE(table_.poison(1, input_lost("later")).has_value());

  EXPECT_EQ(table_.require(1).status(), cancelled("by its client"));
  EXPECT_DEATH(table_.set_ready(1), "poisoned");
}

TEST_F(ArrayTableTest, APinnedArrayNeitherMovesNorLeaves) {
  ASSERT_TRUE(table_.add(1, 0, 64).ok());
  table_.give_slab(1, slab());
  table_.set_ready(1);
  table_.pin(1);

  EXPECT_DEATH(table_.move_to(1, ArrayState::kOnHost, Slab()), "pins == 0");
  EXPECT_DEATH(table_.remove(1), "pins == 0");
  table_.unpin(1);
  EXPECT_TRUE(table_.remove(1).has_value());
  EXPECT_DEATH(table_.unpin(1), "record != nullptr");
}

TEST(ArrayTable, CostsAtMost110BytesAnArray) {
  ArrayTable table({});
  std::size_t worst = 0;
  for (std::size_t count = 1; count <= 1'000'000; ++count) {
    ASSERT_TRUE(table.add(make_id(1, count), 0, 64).ok());
    if (count > 10'000) worst = std::max(worst, table.memory_bytes() / count);
  }

  EXPECT_LE(worst, 110u);
  EXPECT_NE(table.find(make_id(1, 500'000)), nullptr);
}

TEST(ArrayDirectory, CostsAtMost80BytesAnArray) {
  ArrayDirectory directory({});
  std::size_t worst = 0;
  for (std::size_t count = 1; count <= 300'000; ++count) {
    ASSERT_TRUE(directory.add(make_id(1, count), {.owner = 1, .bytes = 64}).ok());
    if (count > 10'000) worst = std::max(worst, directory.memory_bytes() / count);
  }

  EXPECT_LE(worst, 80u);
}

TEST(ArrayDirectory, AnArrayDiesWithItsLastHandleOrRun) {
  ArrayDirectory directory({});
  const ArrayId id = make_id(1, 1);
  ASSERT_TRUE(directory.add(id, {.owner = 1, .tenant = 2, .bytes = 10}).ok());
  ASSERT_TRUE(directory.retain(id, 1).ok());
  directory.begin_run(id);

  EXPECT_FALSE(directory.release(id, 1).value());
  EXPECT_FALSE(directory.release(id, 1).value());
  EXPECT_EQ(directory.tenant_bytes(2), 10u);
  EXPECT_TRUE(directory.end_run(id));

  EXPECT_EQ(directory.find(id), nullptr);
  EXPECT_EQ(directory.tenant_bytes(2), 0u);
}

TEST(ArrayDirectory, RefusesAHandleThatTheClientDoesNotHave) {
  ArrayDirectory directory({});
  const ArrayId id = make_id(1, 1);
  ASSERT_TRUE(directory.add(id, {.owner = 1}).ok());
  directory.begin_run(id);
  const std::string name = "array " + std::to_string(id);

  EXPECT_EQ(directory.release(id, 2).status(),
            Status(StatusCode::kPermissionDenied, name + " belongs to another client than 2"));
  EXPECT_FALSE(directory.release(id, 1).value());
  const Status unknown =
      invalid_argument(name + " is unknown: it was released, or never made in this cluster");
  EXPECT_EQ(directory.release(id, 1).status(), unknown);
  EXPECT_EQ(directory.retain(id, 1), unknown);
  EXPECT_TRUE(directory.end_run(id));
  EXPECT_DEATH(directory.begin_run(id), "record != nullptr");
}

TEST(ArrayDirectory, NeverCountsBelowZero) {
  ArrayDirectory directory({});
  ASSERT_TRUE(directory.add(5, {.owner = 1}).ok());

  EXPECT_DEATH((void)directory.end_run(5), "runs > 0");
}

TEST(ArrayDirectory, ListsByIdWhatDiesWithAClientAndSparesWhatRunsNeed) {
  ArrayDirectory directory({});
  for (const std::uint64_t sequence : {3, 1, 2}) {
    ASSERT_TRUE(directory.add(make_id(1, sequence), {.owner = 1}).ok());
  }
  ASSERT_TRUE(directory.add(make_id(2, 1), {.owner = 2}).ok());
  directory.begin_run(make_id(1, 2));

  EXPECT_EQ(directory.release_owner(1), (std::vector<ArrayId>{make_id(1, 1), make_id(1, 3)}));
  EXPECT_TRUE(directory.end_run(make_id(1, 2)));
  EXPECT_EQ(directory.size(), 1u);
  EXPECT_TRUE(directory.release_owner(1).empty());
}

TEST(ArrayDirectory, RefusesWhatATenantsQuotaDoesNotHold) {
  ArrayDirectory directory({.arrays_max = 2, .tenant_bytes_max = 100});
  ASSERT_TRUE(directory.add(1, {.owner = 1, .tenant = 4, .bytes = 80}).ok());

  EXPECT_EQ(directory.add(1, {}), invalid_argument("array 1 exists already: ids are used once"));
  EXPECT_EQ(directory.add(2, {.owner = 1, .tenant = 4, .bytes = 21}),
            resource_exhausted("array 2 refused: 21 bytes wanted, and tenant 4 keeps 80 of 100; "
                               "drop handles that are not needed, or raise "
                               "ArrayDirectory::Limits::tenant_bytes_max"));
  ASSERT_TRUE(directory.add(3, {.owner = 1, .tenant = 5, .bytes = 100}).ok());
  EXPECT_EQ(directory.add(4, {}),
            resource_exhausted("array 4 refused: 2 of 2 arrays exist; drop handles that are not "
                               "needed, or raise ArrayDirectory::Limits::arrays_max"));
}

TEST(ArrayDirectory, AFailedArrayStaysFailed) {
  ArrayDirectory directory({});
  ASSERT_TRUE(directory.add(1, {.owner = 1}).ok());

  directory.set_state(1, LogicalState::kFailed);
  directory.set_state(1, LogicalState::kReady);

  EXPECT_EQ(directory.find(1)->state, LogicalState::kFailed);
}

}  // namespace
}  // namespace seaway::store
