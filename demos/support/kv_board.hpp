// The board of the kv demo: where the store is now, and what all who use it did and saw.

#pragma once

#include <utility>
#include <vector>

#include "demos/kv.capnp.h"
#include "demos/support/linearizability.hpp"
#include "seaway/app.hpp"

namespace seaway::demos::kv {

/// An actor, so that users and whoever looks on may be in different processes. What one user wrote
/// before another one asked comes first in its history, for writing is waited for.
class Board {
 public:
  static void describe(ActorType<Board>& type) {
    type.on(&Board::where).on(&Board::move).on(&Board::begin).on(&Board::end).on(&Board::read);
  }
  explicit Board(const Self&) {}

  Reply<Stores> where(Request<Where>) { return stores_; }
  void move(Request<Stores> stores) { stores_ = std::move(stores); }
  Reply<Noted> begin(Request<Deed> deed);
  void end(Request<Done> done) { history_.end(done->getNumber(), done->getResult()); }
  Task<Status> read(Request<Read>, Writer<Page> out);

 private:
  Message<Stores> stores_;
  History history_;
};

Message<Deed> to_message(const Operation& operation);
Operation from_message(Deed::Reader deed);

}  // namespace seaway::demos::kv
