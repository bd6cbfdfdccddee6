// Batches of envelopes as frames: schemas/app.capnp.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "app/envelope.hpp"
#include "base/frame.hpp"
#include "seaway/status.hpp"

namespace seaway::app {

/// What travels beside one frame, by number, for it has no bytes: functions, attachments, types. It
/// goes with its frame, and ends with it when that is lost. Not thread-safe.
class Parcels {
 public:
  using Thing =
      std::variant<internal::ObjectFactory, internal::Combine, std::shared_ptr<const Attachments>,
                   std::shared_ptr<const internal::ActorTypeInfo>, std::string_view>;

  /// Its number, which is not 0.
  template <class T>
  std::uint64_t put(const T& thing) {
    things_.emplace_back(std::in_place, std::in_place_type<T>, thing);
    return things_.size();
  }
  /// Moves it to `out`. Errors: kProtocolError, naming `what`, for a number that does not exist or
  /// was taken before, and for another type.
  template <class T>
  Status take(std::uint64_t number, std::string_view what, T& out) {
    if (number == 0 || number > things_.size() || !things_[number - 1]) {
      return missing(number, what);
    }
    T* const found = std::get_if<T>(&*things_[number - 1]);
    if (!found) return missing(number, what);
    out = std::move(*found);
    things_[number - 1].reset();
    return {};
  }
  std::size_t size() const { return things_.size(); }

 private:
  Status missing(std::uint64_t number, std::string_view what) const;

  std::vector<std::optional<Thing>> things_;
};

/// Who said what.
struct Batch {
  SiloId from = 0;
  std::vector<Envelope> envelopes;
};

/// `batch` of silo `from` as one frame, and what has no bytes in `parcels`. The clock is that of
/// the sender.
Frame encode_batch(SiloId from, std::span<const Envelope> batch, std::uint64_t now_ns,
                   Parcels& parcels);

/// The same back, by the clock of the receiver, who knows `silos` silos. Every number is checked;
/// an envelope has what its kind is about. Errors: kProtocolError.
Result<Batch> decode_batch(const Frame& frame, std::uint64_t now_ns, std::uint32_t silos,
                           Parcels& parcels);

}  // namespace seaway::app
