// To and from Cap'n Proto.

#include "cluster/relay_messages.hpp"

#include <relay.capnp.h>

#include <string>
#include <utility>

#include "program/codec.hpp"
#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::cluster {
namespace {

using client::Holder;

unsigned count(std::size_t size) { return static_cast<unsigned>(size); }

void write(const Holder& holder, schema::ProcessLife::Builder out) {
  out.setSilo(holder.silo);
  out.setLife(holder.life);
}
Holder read(schema::ProcessLife::Reader in) { return {in.getSilo(), in.getLife()}; }

template <class List>
void write(const std::vector<Holder>& holders, List out) {
  for (unsigned i = 0; i < out.size(); ++i) write(holders[i], out[i]);
}

/// Of words inside another message: whole ones.
Status read_words(capnp::Data::Reader data, Frame& out) {
  if (data.size() % sizeof(std::uint64_t) != 0) {
    return protocol_error("a message of " + std::to_string(data.size()) + " bytes is no words");
  }
  if (data.size() > 0) out = wire::data_frame(data);
  return {};
}

}  // namespace

Frame to_frame(const DelegateWords& words) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<schema::DelegateWords>();
  root.setNumber(words.number);
  auto made = root.initMade(count(words.made.size()));
  for (unsigned i = 0; i < made.size(); ++i) {
    made[i].setRun(words.made[i].run);
    made[i].setFirst(words.made[i].first);
    made[i].setCount(words.made[i].count);
  }
  if (!words.frame.empty()) root.setFrame(wire::frame_data(words.frame));
  auto imports = root.initImports(count(words.imports.size()));
  for (unsigned i = 0; i < imports.size(); ++i) {
    const ArrayImport& one = words.imports[i];
    imports[i].setArray(one.array);
    write(one.from, imports[i].initFrom());
    imports[i].setNumber(one.number);
    write(one.maker.holder, imports[i].initMaker());
    imports[i].setSaid(one.maker.said);
  }
  auto grants = root.initGrants(count(words.grants.size()));
  for (unsigned i = 0; i < grants.size(); ++i) {
    grants[i].setArray(words.grants[i].array);
    write(words.grants[i].to, grants[i].initTo());
    grants[i].setNumber(words.grants[i].number);
  }
  auto drops = root.initDrops(count(words.drops.size()));
  for (unsigned i = 0; i < drops.size(); ++i) drops.set(i, words.drops[i]);
  auto asks = root.initAsks(count(words.asks.size()));
  for (unsigned i = 0; i < asks.size(); ++i) {
    asks[i].setRequest(words.asks[i].request);
    asks[i].setRun(words.asks[i].run);
    asks[i].setArray(words.asks[i].array);
  }
  root.setWantsIds(words.wants_ids);
  write(words.gone, root.initGone(count(words.gone.size())));
  return builder.finish();
}

Frame to_frame(const ClientWords& words) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<schema::ClientWords>();
  root.setLease(words.lease);
  auto outcomes = root.initOutcomes(count(words.outcomes.size()));
  for (unsigned i = 0; i < outcomes.size(); ++i) {
    outcomes[i].setRequest(words.outcomes[i].request);
    outcomes[i].setCode(static_cast<std::uint8_t>(words.outcomes[i].status.code()));
    outcomes[i].setMessage(words.outcomes[i].status.message());
  }
  write(words.are_gone, root.initAreGone(count(words.are_gone.size())));
  root.setEndCode(static_cast<std::uint8_t>(words.end.code()));
  root.setEndMessage(words.end.message());
  return builder.finish();
}

Frame to_frame(const GivenArray& given) {
  wire::FrameBuilder builder;
  auto root = builder.init_root<schema::TravellingArray>();
  const client::TravellingArray& array = given.array;
  root.setClient(array.client);
  root.setId(array.id);
  root.setRun(array.run);
  if (array.client != 0) root.setSpec(wire::frame_data(program::encode_frame(array.spec)));
  root.setIsKnown(array.is_known);
  root.setCode(static_cast<std::uint8_t>(array.outcome.code()));
  root.setMessage(array.outcome.message());
  write(given.from, root.initFrom());
  root.setNumber(given.number);
  write(array.maker.holder, root.initMaker());
  root.setSaid(array.maker.said);
  return builder.finish();
}

Result<DelegateWords> read_delegate_words(const Frame& frame) {
  DelegateWords words;
  Status status =
      wire::read_frame<schema::DelegateWords>(frame, [&words](schema::DelegateWords::Reader in) {
        words.number = in.getNumber();
        for (const auto made : in.getMade()) {
          words.made.push_back({made.getRun(), made.getFirst(), made.getCount()});
        }
        for (const auto one : in.getImports()) {
          words.imports.push_back({one.getArray(),
                                   read(one.getFrom()),
                                   one.getNumber(),
                                   {read(one.getMaker()), one.getSaid()}});
        }
        for (const auto one : in.getGrants()) {
          words.grants.push_back({one.getArray(), read(one.getTo()), one.getNumber()});
        }
        for (const std::uint64_t array : in.getDrops()) words.drops.push_back(array);
        for (const auto ask : in.getAsks()) {
          words.asks.push_back({ask.getRequest(), ask.getRun(), ask.getArray()});
        }
        words.wants_ids = in.getWantsIds();
        for (const auto gone : in.getGone()) words.gone.push_back(read(gone));
        return read_words(in.getFrame(), words.frame);
      });
  if (!status.ok()) return status;
  return words;
}

Result<ClientWords> read_client_words(const Frame& frame) {
  ClientWords words;
  Status status =
      wire::read_frame<schema::ClientWords>(frame, [&words](schema::ClientWords::Reader in) {
        words.lease = in.getLease();
        for (const auto outcome : in.getOutcomes()) {
          words.outcomes.push_back(
              {outcome.getRequest(), wire::read_status(outcome.getCode(), outcome.getMessage())});
        }
        for (const auto gone : in.getAreGone()) words.are_gone.push_back(read(gone));
        words.end = wire::read_status(in.getEndCode(), in.getEndMessage());
      });
  if (!status.ok()) return status;
  return words;
}

Result<GivenArray> read_given_array(const Frame& frame) {
  GivenArray given;
  Frame spec;
  Status status =
      wire::read_frame<schema::TravellingArray>(frame, [&](schema::TravellingArray::Reader in) {
        given.array.client = in.getClient();
        given.array.id = in.getId();
        given.array.run = in.getRun();
        given.array.is_known = in.getIsKnown();
        given.array.outcome = wire::read_status(in.getCode(), in.getMessage());
        given.from = read(in.getFrom());
        given.number = in.getNumber();
        given.array.maker = {read(in.getMaker()), in.getSaid()};
        return read_words(in.getSpec(), spec);
      });
  if (!status.ok()) return status;
  if (given.array.client == 0) return given;
  auto decoded = program::decode_array_spec(spec);
  if (!decoded.ok()) return decoded.status();
  given.array.spec = std::move(decoded).value();
  if (given.array.id == 0 && given.array.outcome.ok()) {
    return protocol_error("an array without a number says nothing of what is wrong with it");
  }
  return given;
}

}  // namespace seaway::cluster
