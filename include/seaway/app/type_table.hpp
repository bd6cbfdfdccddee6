// TypeTable: the classes and combining functions that this process knows by their names. For the
// library: users fill in a Registry (seaway/host_main.hpp).

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "seaway/app/actor.hpp"
#include "seaway/app/arguments.hpp"

namespace seaway::internal {

/// "0123456789abcdef".
std::string fingerprint_text(std::uint64_t fingerprint);

/// Reads arguments of one constructor; null as its caller while nobody is being made.
using Construct =
    std::function<Result<ObjectFactory>(const std::shared_ptr<const Construction>& from)>;

/// Filled in before it is used; then immutable, and read from any thread.
class TypeTable {
 public:
  void add_actor(const std::shared_ptr<const ActorTypeInfo>& type, const std::string& signature,
                 Construct construct);
  void add_combine(Combine combine);
  /// The first thing that was wrong with what was added: a name that two classes have.
  const Status& mistake() const { return mistake_; }

  /// Null: it is not known.
  std::shared_ptr<const ActorTypeInfo> find(std::string_view full_name) const;
  /// Whether make_factory() would know what it is.
  bool has(const ActorTypeInfo& type, const std::string& signature) const;
  bool has(const Combine& combine) const;

  /// What makes objects of the class that another process calls so, and that looks so there.
  /// Errors: kNotFound when there is no such class, kInvalidArgument when it is another one, with
  /// both fingerprints, or has no such constructor, or when the arguments are wrong.
  Result<ObjectFactory> make_factory(std::string_view full_name, std::uint64_t fingerprint,
                                     const std::shared_ptr<const Construction>& from) const;
  /// Errors: as above.
  Result<Combine> find_combine(const std::string& name, std::uint64_t fingerprint) const;

 private:
  struct Entry {
    std::shared_ptr<const ActorTypeInfo> type;
    std::map<std::string, Construct> constructors;  // By their signatures.
  };
  std::map<std::string, Entry, std::less<>> actors_;
  std::map<std::string, Combine> combines_;
  Status mistake_;
};

/// Makes objects of class `A` from bytes; they are read anew for each of them, so that what it is
/// given calls others in its own name.
template <class A, class... Arguments>
class DecodedMaker final : public ObjectFactory::Maker {
 public:
  explicit DecodedMaker(std::shared_ptr<const Construction> from) : from_(std::move(from)) {}

  /// Errors: kInvalidArgument for bytes that are no such arguments.
  Status check() const {
    ArgumentReader reader(*from_, nullptr);
    static_cast<void>(std::tuple<Arguments...>{ArgumentCodec<Arguments>::read(reader)...});
    return reader.end();
  }
  Object make(const Self& self) const override {
    ArgumentReader reader(*from_, self.caller());
    // Braces: from left to right.
    const std::tuple<Arguments...> arguments{ArgumentCodec<Arguments>::read(reader)...};
    return ActorMaker<A, Arguments...>::make_from(self, arguments);
  }
  Result<Construction> construction() const override { return *from_; }

 private:
  const std::shared_ptr<const Construction> from_;
};

template <class A, class... Arguments>
void add_actor_to(TypeTable& table) {
  table.add_actor(actor_type<A>(), signature_of<Arguments...>(),
                  [](const std::shared_ptr<const Construction>& from) -> Result<ObjectFactory> {
                    const auto maker = std::make_shared<const DecodedMaker<A, Arguments...>>(from);
                    if (Status status = maker->check(); !status.ok()) return status;
                    return ObjectFactory(maker);
                  });
}

}  // namespace seaway::internal
