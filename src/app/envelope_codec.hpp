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

#include "app/array_travel.hpp"
#include "app/envelope.hpp"
#include "base/frame.hpp"
#include "seaway/app/type_table.hpp"
#include "seaway/status.hpp"

namespace seaway::app {

/// What travels beside one frame, by number, for it has no bytes: functions and arrays within one
/// process. It goes with its frame, and ends with it when that is lost. Not thread-safe.
class Parcels {
 public:
  using Thing = std::variant<internal::ObjectFactory, internal::Combine, Attachment,
                             std::shared_ptr<const internal::ActorTypeInfo>>;

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

/// What the hub tells clients of each other.
struct SiloNews {
  SiloId silo = 0;
  std::uint32_t epoch = 0;  // 0: it is lost.
};

/// Who said what.
struct Batch {
  SiloId from = 0;
  std::vector<Envelope> envelopes;
  std::vector<SiloNews> news;
};

/// What one end knows beside the frames.
struct CodecOptions {
  /// What is known here by its name; null: nothing.
  const internal::TypeTable* types = nullptr;
  /// Null: the other end is another process, and all has to have bytes. Else what has a name at
  /// this end goes by that, for the other end knows the same names, and everything else goes
  /// beside.
  Parcels* beside = nullptr;
  /// How arrays get to another process; null: they do not.
  ArrayTravel* arrays = nullptr;
};

/// Whether `envelope` has bytes for another process. Errors: kInvalidArgument, and what has none;
/// those of ArrayTravel::check().
Status check_travels(const Envelope& envelope, ArrayTravel* arrays = nullptr);

/// `batch` of silo `from` as one frame. The clock is that of the sender. Without a table beside it
/// each envelope of it has to travel: check_travels().
Frame encode_batch(SiloId from, std::span<const Envelope> batch, std::uint64_t now_ns,
                   const CodecOptions& options);

/// The same back, by the clock of the receiver, who knows `silos` silos. Every number is checked;
/// an envelope has what its kind is about, or says why it is refused (Parcel::refusal). Errors:
/// kProtocolError.
Result<Batch> decode_batch(const Frame& frame, std::uint64_t now_ns, std::uint32_t silos,
                           const CodecOptions& options);

/// A batch of the hub's with news and no envelopes.
Frame encode_news(SiloNews news);
/// Who has sent the batch in `frame`, as it says, and nothing more. Errors: kProtocolError.
Result<SiloId> read_sender(const Frame& frame);

}  // namespace seaway::app
