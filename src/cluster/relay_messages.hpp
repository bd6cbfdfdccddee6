// What delegates and their client's process say to each other: schemas/relay.capnp.

#pragma once

#include <cstdint>
#include <vector>

#include "base/frame.hpp"
#include "client/array_keeper.hpp"
#include "client/imported_array.hpp"
#include "seaway/status.hpp"

namespace seaway::cluster {

struct ArrayImport {
  ArrayId array = 0;
  client::Holder from;
  std::uint64_t number = 0;
  client::ArrayMaker maker;
};

struct ArrayGrant {
  ArrayId array = 0;
  client::Holder to;
  std::uint64_t number = 0;
};

/// From a delegate to its client.
struct DelegateWords {
  std::uint64_t number = 0;
  std::vector<client::Made> made;
  Frame frame;  // Empty: none.
  std::vector<ArrayImport> imports;
  std::vector<ArrayGrant> grants;
  std::vector<ArrayId> drops;
  std::vector<client::Asked> asks;
  bool wants_ids = false;
  std::vector<client::Holder> gone;

  bool empty() const {
    return made.empty() && frame.empty() && imports.empty() && grants.empty() && drops.empty() &&
           asks.empty() && !wants_ids && gone.empty();
  }
};

struct ArrayOutcome {
  std::uint64_t request = 0;
  Status status;
};

/// From a client to a host's process.
struct ClientWords {
  std::uint64_t lease = 0;  // 0: none.
  std::vector<ArrayOutcome> outcomes;
  std::vector<client::Holder> are_gone;
  Status end;  // Not OK: this is the delegate's end.

  bool empty() const { return lease == 0 && outcomes.empty() && are_gone.empty() && end.ok(); }
};

/// An array as it travels, and who has granted it under which number.
struct GivenArray {
  client::TravellingArray array;
  client::Holder from;
  std::uint64_t number = 0;
};

Frame to_frame(const DelegateWords& words);
Frame to_frame(const ClientWords& words);
Frame to_frame(const GivenArray& given);

// Any bytes; what they name is not looked at. Errors: kProtocolError.
Result<DelegateWords> read_delegate_words(const Frame& frame);
Result<ClientWords> read_client_words(const Frame& frame);
Result<GivenArray> read_given_array(const Frame& frame);

}  // namespace seaway::cluster
