// ArrayTraffic: what the actors of a process ask of whoever knows its clients' arrays.

#pragma once

#include <cstdint>

#include "app/array_travel.hpp"
#include "seaway/status.hpp"

namespace seaway::cluster {

/// Control thread only.
class ArrayTraffic : public app::ArrayTravel {
 public:
  /// What is asked next is for `to`, which is in its life `life` (0: not heard of yet).
  virtual void begin(app::SiloId to, std::uint32_t life) = 0;
  /// What was given since leaves now.
  virtual void commit() = 0;
  /// It does not, and was not given.
  virtual void discard() = 0;
  /// An array that was taken is named before the cluster knows it: whoever has it waits until this
  /// says false.
  virtual bool is_early() const = 0;
  /// Too much waits: is_early() is false when this returns, and what was early has an error.
  virtual void give_up_early(const Status& why) = 0;
  /// All that came from it has been taken.
  virtual void on_silo_lost(app::SiloId silo, std::uint32_t life) = 0;
};

}  // namespace seaway::cluster
