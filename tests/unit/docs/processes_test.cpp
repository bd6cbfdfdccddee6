// What a host of the shop knows, and what it says of the rest: the client's side of
// docs/build-an-app.md, "On real processes".

#include <gtest/gtest.h>

#include "seaway/host_main.hpp"
#include "shelf.hpp"

namespace shelves {
namespace {

using namespace seaway;

TEST(OnRealProcesses, ASpawnAndAReductionAreTheSameAsElsewhere) {
  const char* cluster = "embedded:islands=2,devices=1";
  // [client]
  Client client = connect(cluster).value();  // "unix:/run/user/1000/seaway/ctl.sock"
  auto shelves = client.spawn<Shelf>(client.hosts(), 10).value();
  const auto sum = shelves.reduce(&Shelf::look, total).get();
  // [/client]

  ASSERT_TRUE(sum.ok()) << sum.status().to_string();
  EXPECT_EQ(sum.value()->getAmount(), 20u);
}

TEST(OnRealProcesses, AHostSaysWhatItKnowsAndWhatToDo) {
  internal::TypeTable types;
  internal::add_actor_to<Shelf, std::uint32_t>(types);
  const auto ten = std::make_shared<const internal::Construction>(
      internal::construction_of(std::tuple<int>(10)));
  const auto text = std::make_shared<const internal::Construction>(
      internal::construction_of(std::tuple<std::string>("ten")));
  const internal::ActorTypeInfo& shelf = *internal::actor_type<Shelf>();

  const auto made = types.make_factory(shelf.full_name, shelf.fingerprint, ten);
  const auto other = types.make_factory(shelf.full_name, shelf.fingerprint, text);
  const auto unknown = types.make_factory("shelves::Clerk", 1, ten);

  EXPECT_TRUE(made.ok()) << "an int is an integer, as is a std::uint32_t";
  EXPECT_EQ(other.status().to_string(),
            "INVALID_ARGUMENT: the program of this host makes shelves::Shelf from (integer), and "
            "not from (text); spawn it with these, or register that one");
  EXPECT_EQ(
      unknown.status().to_string(),
      "NOT_FOUND: the program of this host knows no actors of class shelves::Clerk; it knows: "
      "shelves::Shelf. Register it in the host's main(): Registry::actor<shelves::Clerk, "
      "..>()");
}

}  // namespace
}  // namespace shelves
