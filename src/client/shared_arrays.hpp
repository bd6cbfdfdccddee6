// SharedArrays: which processes hold an array, and when none does any more.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/ids.hpp"

namespace seaway::client {

/// One life of a process.
struct Holder {
  std::uint32_t silo = 0, life = 0;
  friend auto operator<=>(const Holder&, const Holder&) = default;
};

/// Counts for one client's arrays that have been in more than one process, or were made in another
/// one than the client's. A pure core; what it hears of one holder comes in the order in which that
/// one has said it, what it hears of two in any.
///
/// A holder's count rises when it makes or imports the array and falls with each drop. On its way
/// from one holder to the next an array counts as granted: the sender says so before its own
/// count falls, the receiver says that it has imported it before it drops it, and either may be
/// heard first.
///
/// A holder that is lost keeps its counts, and all grants by and to it, until each of its heirs has
/// said that nothing more comes from it: what it had, or had got, it may have sent on. An heir that
/// is lost itself may have sent it on, too: then until nothing more comes from that one. Grants
/// that were lost between two that live end with the next import of a later one.
///
/// Memory: an entry for each array and holder, one for each grant under way.
class SharedArrays {
 public:
  void made(Holder by, ArrayId first, std::uint32_t count);
  /// `number` rises with each grant of `from`. `to.life` 0: whichever it is in.
  void grant(Holder from, Holder to, std::uint64_t number, ArrayId array);
  void import(Holder to, Holder from, std::uint64_t number, ArrayId array);
  /// False when it holds none: then nothing has changed.
  bool drop(Holder holder, ArrayId array);

  /// `heirs`: the silos that may still import what it has sent.
  void lose(Holder holder, std::set<std::uint32_t> heirs);
  void settled(Holder lost, std::uint32_t heir);

  bool knows(ArrayId array) const { return arrays_.contains(array); }
  std::size_t size() const { return arrays_.size(); }
  /// Arrays that nobody holds any more, each once.
  std::vector<ArrayId> take_released() { return std::exchange(released_, {}); }

 private:
  struct Entry {
    std::map<Holder, std::uint64_t> counts;  // None is 0.
    std::uint64_t grants = 0;
  };
  struct Grant {
    Holder to;
    ArrayId array = 0;
  };
  struct Sender {
    std::map<std::uint64_t, Grant> grants;         // Under way, by number.
    std::map<std::uint64_t, std::uint32_t> early;  // Imported by a silo, not yet granted.
  };

  struct Estate {
    std::set<std::uint32_t> heirs;  // That have not settled it,
    std::set<Holder> later;         // and those that were lost before they did.
  };

  void end_grant(std::map<std::uint64_t, Grant>& grants, std::uint64_t number);
  void bury(Holder holder);
  void bury_if_settled(Holder holder);
  void look(ArrayId array);

  std::unordered_map<ArrayId, Entry> arrays_;  // Never iterated.
  std::map<Holder, std::set<ArrayId>> held_;
  std::map<Holder, Sender> senders_;
  std::map<Holder, Estate> estates_;             // Of those that are lost.
  std::map<std::uint32_t, std::uint32_t> lost_;  // The last life of each silo that is over.
  std::vector<ArrayId> released_;
};

}  // namespace seaway::client
