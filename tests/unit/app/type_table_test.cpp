// What is known by its name: arguments there and back, and each way in which two programs differ.

#include "seaway/app/type_table.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "cast.hpp"

namespace seaway::internal {
namespace {

using app_test::Add;
using app_test::Answer;
using app_test::Counter;
using app_test::Total;

/// `value` as it arrives where a constructor takes a `To`.
template <class To, class From>
Result<To> sent(const From& value) {
  const Construction made = construction_of(std::tuple<From>(value));
  ArgumentReader reader(made, nullptr);
  To read = ArgumentCodec<To>::read(reader);
  if (Status status = reader.end(); !status.ok()) return status;
  return read;
}

TEST(ArgumentCodec, ArriveAsTheyWere) {
  EXPECT_EQ(sent<std::int64_t>(std::int64_t{-5}).value(), -5);
  EXPECT_EQ(sent<std::uint64_t>(std::numeric_limits<std::uint64_t>::max()).value(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(sent<bool>(true).value(), true);
  EXPECT_EQ(sent<float>(0.25f).value(), 0.25f);
  EXPECT_EQ(sent<double>(1.0 / 3).value(), 1.0 / 3);
  EXPECT_EQ(sent<std::string>(std::string("shelf\0s", 7)).value(), std::string("shelf\0s", 7));
  const std::vector<std::vector<std::string>> lists = {{"a", ""}, {}, {"b"}};
  EXPECT_EQ(sent<std::remove_const_t<decltype(lists)>>(lists).value(), lists);
  EXPECT_EQ(sent<std::vector<bool>>(std::vector<bool>{true, false}).value(),
            (std::vector<bool>{true, false}));
}

TEST(ArgumentCodec, AnIntegerFitsWhateverCanHoldItAndNothingElse) {
  EXPECT_EQ(sent<std::uint8_t>(255).value(), 255);
  EXPECT_EQ(sent<std::int64_t>(7u).value(), 7);

  EXPECT_EQ(sent<std::uint8_t>(256).status().message(),
            "the integer 256 does not fit 8 bits without a sign");
  EXPECT_EQ(sent<std::uint32_t>(-1).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(sent<std::int64_t>(std::numeric_limits<std::uint64_t>::max()).status().message(),
            "the integer 18446744073709551615 does not fit 64 bits with a sign");
}

TEST(ArgumentCodec, ALiteralIsATextAndAMessageBringsWhatIsBesideIt) {
  EXPECT_EQ(sent<std::string>(static_cast<const char*>("till")).value(), "till");
  const auto message = make<Answer>([](Answer::Builder m, Attached& beside) {
    m.setText("with bytes");
    m.setNumber(beside.add(Bytes(std::vector<std::byte>(3))));
  });

  const auto read = sent<Message<Answer>>(message);

  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_STREQ((*read)->getText().cStr(), "with bytes");
  EXPECT_EQ(read->bytes((*read)->getNumber()).value().size(), 3u);
}

TEST(ArgumentCodec, ThatAreCutOffOrTooManyAreRefused) {
  const Construction whole =
      construction_of(std::tuple<std::string, std::vector<std::int32_t>>("a text", {1, 2, 3}));
  const auto read = [](const Construction& from) {
    ArgumentReader reader(from, nullptr);
    static_cast<void>(ArgumentCodec<std::string>::read(reader));
    static_cast<void>(ArgumentCodec<std::vector<std::int32_t>>::read(reader));
    return reader.end();
  };
  EXPECT_EQ(read(whole), Status());

  for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
    Construction part = whole;
    part.bytes.resize(size);
    EXPECT_EQ(read(part).code(), StatusCode::kInvalidArgument) << size;
  }
  Construction more = whole;
  more.bytes.push_back(std::byte{0});
  EXPECT_EQ(read(more).message(),
            "arguments (text, list of integer) have 1 bytes and 0 references that nobody reads");
  Construction huge = whole;
  huge.bytes[7] = std::byte{0xff};  // Of the length of the text.
  EXPECT_EQ(read(huge).code(), StatusCode::kInvalidArgument);
}

class Shop {
 public:
  static void describe(ActorType<Shop>& type) { type.on(&Shop::add); }
  explicit Shop(const Self&) {}
  Shop(const Self&, const std::vector<std::string>&, double) {}
  Reply<Total> add(Request<Add>) { return {}; }
};

std::shared_ptr<const Construction> from(auto... arguments) {
  return std::make_shared<const Construction>(
      construction_of(std::tuple<decltype(arguments)...>(arguments...)));
}

TEST(TypeTable, KnowsClassesByNameAndConstructorsByWhatTheyTake) {
  TypeTable table;
  add_actor_to<Shop>(table);
  add_actor_to<Shop, std::vector<std::string>, double>(table);
  const ActorTypeInfo& shop = *actor_type<Shop>();

  EXPECT_EQ(table.find(shop.full_name), actor_type<Shop>());
  EXPECT_TRUE(table.make_factory(shop.full_name, shop.fingerprint, from()).ok());
  EXPECT_TRUE(
      table
          .make_factory(shop.full_name, shop.fingerprint, from(std::vector<std::string>{"a"}, 0.5f))
          .ok());
  const auto other = table.make_factory(shop.full_name, shop.fingerprint, from(5));

  EXPECT_EQ(other.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(
      other.status().message().find("from (), (list of text, number), and not from (integer)"),
      std::string::npos)
      << other.status().to_string();
}

TEST(TypeTable, RefusesAClassThatItDoesNotKnowAndSaysWhatToDo) {
  TypeTable table;
  add_actor_to<Shop>(table);

  const auto made = table.make_factory("demo::Till", 1, from());

  EXPECT_EQ(made.status().code(), StatusCode::kNotFound);
  EXPECT_EQ(made.status().message(),
            "the program of this host knows no actors of class demo::Till; it knows: " +
                actor_type<Shop>()->full_name +
                ". Register it in the host's main(): Registry::actor<demo::Till, ..>()");
}

TEST(TypeTable, RefusesAClassThatLooksOtherwiseWithBothFingerprints) {
  TypeTable table;
  add_actor_to<Shop>(table);
  const ActorTypeInfo& shop = *actor_type<Shop>();

  const auto made = table.make_factory(shop.full_name, 0xab, from());

  EXPECT_EQ(made.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(
      made.status().message(),
      "class " + shop.full_name +
          " is not the same in both programs: its fingerprint is 00000000000000ab there and " +
          fingerprint_text(shop.fingerprint) +
          " here; build both from one source, and start the host again");
}

TEST(TypeTable, AFingerprintIsOfAllThatAClassSays) {
  const ActorTypeInfo& shop = *actor_type<Shop>();
  EXPECT_EQ(fingerprint_of(shop), shop.fingerprint);
  const auto differs = [&shop](auto change) {
    ActorTypeInfo other = shop;
    change(other);
    return fingerprint_of(other) != shop.fingerprint;
  };

  EXPECT_TRUE(differs([](ActorTypeInfo& type) { type.full_name += "s"; }));
  EXPECT_TRUE(differs([](ActorTypeInfo& type) { type.mailbox_max = 7; }));
  EXPECT_TRUE(differs([](ActorTypeInfo& type) { type.methods[0].is_stream = true; }));
  EXPECT_TRUE(differs([](ActorTypeInfo& type) { type.methods[0].reply = 3; }));
  EXPECT_TRUE(differs(
      [](ActorTypeInfo& type) { type.methods[0].request_schema = &capnp::_::rawSchema<Total>(); }));
  EXPECT_TRUE(differs([](ActorTypeInfo& type) { type.methods.push_back(type.methods[0]); }));
  EXPECT_NE(schema_fingerprint<Add>(), schema_fingerprint<Total>());
}

TEST(TypeTable, KnowsReductionsByNameAndByWhatTheyCombine) {
  TypeTable table;
  const Combining sum{"sum", [](Total::Reader, Total::Reader, Total::Builder) {}};
  table.add_combine(combine_of<Total>(sum));
  const Combine known = combine_of<Total>(sum);

  EXPECT_TRUE(table.has(known));
  EXPECT_TRUE(table.find_combine("sum", known.fingerprint).ok());
  EXPECT_EQ(table.find_combine("product", known.fingerprint).status().code(),
            StatusCode::kNotFound);
  EXPECT_EQ(table.find_combine("sum", known.fingerprint + 1).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(TypeTable, SaysWhatWasWrongWithWhatItWasGiven) {
  TypeTable two_classes, two_reductions, no_name;
  add_actor_to<Shop>(two_classes);
  auto other = std::make_shared<ActorTypeInfo>(*actor_type<Shop>());
  two_classes.add_actor(other, "", {});
  const Combining sum{"sum", [](Total::Reader, Total::Reader, Total::Builder) {}};
  const Combining nameless{"", [](Total::Reader, Total::Reader, Total::Builder) {}};
  two_reductions.add_combine(combine_of<Total>(sum));
  two_reductions.add_combine(combine_of<Total>(sum));
  no_name.add_combine(combine_of<Total>(nameless));

  EXPECT_NE(two_classes.mistake().message().find("rename one"), std::string::npos);
  EXPECT_EQ(two_reductions.mistake().message(), "two reductions are called \"sum\"; rename one");
  EXPECT_EQ(no_name.mistake().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace seaway::internal
