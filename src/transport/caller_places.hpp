// CallerPlaces: a limited number of places for connections, shared out by the callers' addresses.

#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

#include "transport/caller.hpp"

namespace seaway::transport {

/// What callers are counted by: "user 1000" on a Unix socket; of a network the IPv4 address, or the
/// first 64 bits of the IPv6 address ("2001:db8::/64"), which one machine may have all addresses
/// of.
std::string caller_group(const Caller& caller);

/// As long as a place is free, any group gets it. When all are taken, a group that has fewer than
/// the largest group displaces the newest caller of that one. So no group keeps others out, and one
/// that is alone has all places. Not thread-safe; outlives its places.
class CallerPlaces {
 public:
  explicit CallerPlaces(std::size_t places_max) : places_max_(places_max) {}
  CallerPlaces(const CallerPlaces&) = delete;
  CallerPlaces& operator=(const CallerPlaces&) = delete;

  /// Given back when it ends, unless it was displaced before.
  class Place {
   public:
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    friend class CallerPlaces;
    Place(CallerPlaces& places, std::string group, std::function<void()> displaced)
        : places_(places), group_(std::move(group)), displaced_(std::move(displaced)) {}

    CallerPlaces& places_;
    const std::string group_;
    const std::function<void()> displaced_;
    bool is_taken_ = true;
  };

  /// Null: all places are taken, and `group` has its share. `displaced` is called at most once,
  /// from within a later enter().
  std::unique_ptr<Place> enter(const std::string& group, std::function<void()> displaced);

  std::size_t taken() const { return taken_; }
  std::size_t taken(const std::string& group) const;
  std::size_t places_max() const { return places_max_; }

 private:
  void leave(Place& place);

  const std::size_t places_max_;
  std::size_t taken_ = 0;
  std::map<std::string, std::list<Place*>> groups_;  // Oldest first; none is empty.
};

}  // namespace seaway::transport
