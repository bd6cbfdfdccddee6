// Cap'n Proto of annexes' orders and answers.

#include "device/annex_codec.hpp"

#include <seaway.capnp.h>

#include <utility>

#include "wire/frame_builder.hpp"
#include "wire/frame_reader.hpp"
#include "wire/status_codec.hpp"

namespace seaway::device {
namespace {

using wire::Message;

/// Of orders and answers in one frame, beside the bytes of values.
constexpr std::size_t kWordsMax = 4096;

capnp::Data::Reader data_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const kj::byte*>(bytes.data()), bytes.size()};
}
std::vector<std::byte> bytes_of(capnp::Data::Reader data) {
  const auto bytes = std::as_bytes(std::span(data.begin(), data.size()));
  return {bytes.begin(), bytes.end()};
}

void write(wire::RoomRange::Builder to, const RoomRange& range) {
  to.setRoom(range.room);
  to.setFirst(range.first);
  to.setShards(range.shards);
  to.setOffset(range.offset);
  to.setBytes(range.bytes);
}
RoomRange read(wire::RoomRange::Reader from) {
  return {from.getRoom(), from.getFirst(), from.getShards(), from.getOffset(), from.getBytes()};
}

void write(wire::RoomPlace::Builder to, const RoomPlace& place) {
  to.setRoom(place.room);
  to.setOffset(place.offset);
}
RoomPlace read(wire::RoomPlace::Reader from) { return {from.getRoom(), from.getOffset()}; }

void write(wire::LentShards::Builder to, const LentShards& lent) {
  to.setOffset(lent.place.offset);
  to.setBytes(lent.place.bytes);
  to.setSlot(lent.place.slot);
  to.setTurn(lent.place.turn);
  to.setStride(lent.stride);
}
LentShards read(wire::LentShards::Reader from) {
  return {{from.getOffset(), from.getBytes(), from.getSlot(), from.getTurn()}, from.getStride()};
}

void write(wire::ReadRoom::Builder to, const ReadRoom& order) {
  to.setTicket(order.ticket);
  to.setMayBeLent(order.may_be_lent);
  write(to.initRange(), order.range);
}
ReadRoom read(wire::ReadRoom::Reader from) {
  return {from.getTicket(), read(from.getRange()), from.getMayBeLent()};
}

struct Writer {
  wire::AnnexOrder::Builder to;

  void operator()(const MakeRoom& make) {
    auto made = to.initMake();
    made.setRoom(make.room);
    made.setFirst(make.first);
    made.setShards(make.shards);
    made.setShardBytes(make.shard_bytes);
    made.setOwner(make.owner);
  }
  void operator()(const DropRoom& drop) { to.setDrop(drop.room); }
  void operator()(const WriteRoom& order) {
    auto written = to.initWrite();
    write(written.initRange(), order.range);
    order.lent.any() ? write(written.initLent(), order.lent) : written.setData(data_of(order.data));
  }
  void operator()(const ReadRoom& order) { write(to.initRead(), order); }
  void operator()(const RunGang& run) {
    auto gang = to.initRun();
    gang.setTicket(run.ticket);
    gang.setGang(run.gang);
    gang.setFunction(run.function);
    gang.setConflict(run.has_conflict);
    gang.setTenant(run.tenant);
    gang.setBehind(run.behind);
    auto hosts = gang.initHosts(static_cast<unsigned>(run.hosts.size()));
    for (unsigned i = 0; i < run.hosts.size(); ++i) {
      hosts[i].setHost(run.hosts[i].host);
      hosts[i].setBegin(run.hosts[i].begin);
      hosts[i].setEnd(run.hosts[i].end);
    }
    const auto copy = [](const std::vector<RoomPlace>& places, auto list) {
      for (unsigned i = 0; i < places.size(); ++i) write(list[i], places[i]);
    };
    copy(run.operands, gang.initOperands(static_cast<unsigned>(run.operands.size())));
    copy(run.outputs, gang.initOutputs(static_cast<unsigned>(run.outputs.size())));
    write(gang.initScratch(), run.scratch);
    auto reads = gang.initReads(static_cast<unsigned>(run.reads.size()));
    for (unsigned i = 0; i < run.reads.size(); ++i) write(reads[i], run.reads[i]);
  }
  void operator()(const ForgetFunction& forget) { to.setForget(forget.function); }
  void operator()(const TakenLoans& taken) { to.setTaken(taken.count); }
};

AnnexOrder read(wire::RunGang::Reader from) {
  RunGang run{.ticket = from.getTicket(),
              .gang = from.getGang(),
              .function = from.getFunction(),
              .has_conflict = from.getConflict(),
              .hosts = {},
              .operands = {},
              .outputs = {},
              .scratch = read(from.getScratch()),
              .tenant = from.getTenant()};
  for (const auto host : from.getHosts()) {
    run.hosts.push_back({host.getHost(), host.getBegin(), host.getEnd()});
  }
  for (const auto place : from.getOperands()) run.operands.push_back(read(place));
  for (const auto place : from.getOutputs()) run.outputs.push_back(read(place));
  for (const auto wanted : from.getReads()) run.reads.push_back(read(wanted));
  run.behind = from.getBehind();
  return run;
}

Result<AnnexOrder> read(wire::AnnexOrder::Reader from) {
  switch (from.which()) {
    case wire::AnnexOrder::MAKE: {
      const auto make = from.getMake();
      return AnnexOrder(MakeRoom{make.getRoom(), make.getFirst(), make.getShards(),
                                 make.getShardBytes(), make.getOwner()});
    }
    case wire::AnnexOrder::DROP:
      return AnnexOrder(DropRoom{from.getDrop()});
    case wire::AnnexOrder::WRITE: {
      const auto write = from.getWrite();
      if (write.isLent()) {
        return AnnexOrder(WriteRoom{read(write.getRange()), {}, read(write.getLent())});
      }
      return AnnexOrder(WriteRoom{read(write.getRange()), bytes_of(write.getData())});
    }
    case wire::AnnexOrder::READ:
      return AnnexOrder(read(from.getRead()));
    case wire::AnnexOrder::RUN:
      return read(from.getRun());
    case wire::AnnexOrder::FORGET:
      return AnnexOrder(ForgetFunction{from.getForget()});
    case wire::AnnexOrder::TAKEN:
      return AnnexOrder(TakenLoans{from.getTaken()});
  }
  return protocol_error("an order of kind " + std::to_string(static_cast<int>(from.which())) +
                        " is none");
}

std::size_t bytes_of(const AnnexOrder& order) {
  const auto* const write = std::get_if<WriteRoom>(&order);
  return write ? write->data.size() : 0;
}
std::size_t bytes_of(const AnnexAnswer& answer) { return answer.data.size(); }

/// As many as go into one frame: at least one.
template <class T>
std::size_t count_for_frame(std::span<const T> all) {
  std::size_t count = 0, bytes = 0;
  while (count < all.size() && count < kWordsMax) {
    bytes += bytes_of(all[count]);
    if (count > 0 && bytes > kAnnexFrameBytes) break;
    ++count;
  }
  return count;
}

}  // namespace

std::vector<Frame> encode_orders(std::span<const AnnexOrder> orders) {
  std::vector<Frame> frames;
  while (!orders.empty()) {
    const std::size_t count = count_for_frame(orders);
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initAnnexOrders(static_cast<unsigned>(count));
    for (unsigned i = 0; i < count; ++i) std::visit(Writer{list[i]}, orders[i]);
    frames.push_back(builder.finish());
    orders = orders.subspan(count);
  }
  return frames;
}

Result<std::vector<AnnexOrder>> decode_orders(const Frame& frame) {
  std::vector<AnnexOrder> orders;
  Status status = wire::read_frame<Message>(frame, [&orders](Message::Reader message) -> Status {
    if (!message.isAnnexOrders()) return protocol_error("it has no orders for an annex");
    for (const auto one : message.getAnnexOrders()) {
      auto order = read(one);
      if (!order.ok()) return order.status();
      orders.push_back(std::move(order).value());
    }
    return {};
  });
  if (!status.ok()) return status;
  return orders;
}

std::vector<Frame> encode_answers(std::span<const AnnexAnswer> answers) {
  std::vector<Frame> frames;
  while (!answers.empty()) {
    const std::size_t count = count_for_frame(answers);
    wire::FrameBuilder builder;
    auto list = builder.init_root<Message>().initAnnexAnswers(static_cast<unsigned>(count));
    for (unsigned i = 0; i < count; ++i) {
      list[i].setTicket(answers[i].ticket);
      list[i].setCode(static_cast<std::uint8_t>(answers[i].status.code()));
      if (!answers[i].status.ok()) list[i].setMessage(answers[i].status.message());
      if (answers[i].ticket == 0) {
        auto news = list[i].initNews();
        news.setHost(answers[i].news.host);
        news.setTaken(answers[i].news.taken);
        news.setReads(answers[i].news.reads);
      } else if (answers[i].lent.any()) {
        write(list[i].initLent(), answers[i].lent);
      } else {
        list[i].setData(data_of(answers[i].data));
      }
    }
    frames.push_back(builder.finish());
    answers = answers.subspan(count);
  }
  return frames;
}

Result<std::vector<AnnexAnswer>> decode_answers(const Frame& frame) {
  std::vector<AnnexAnswer> answers;
  Status status = wire::read_frame<Message>(frame, [&answers](Message::Reader message) -> Status {
    if (!message.isAnnexAnswers()) return protocol_error("it has no answers of an annex");
    for (const auto one : message.getAnnexAnswers()) {
      AnnexAnswer answer{one.getTicket(), wire::read_status(one.getCode(), one.getMessage())};
      if (one.isData()) answer.data = bytes_of(one.getData());
      if (one.isLent()) answer.lent = read(one.getLent());
      if (one.isNews()) {
        const auto news = one.getNews();
        answer.news = {news.getHost(), news.getTaken(), news.getReads()};
      }
      answers.push_back(std::move(answer));
    }
    return {};
  });
  if (!status.ok()) return status;
  return answers;
}

}  // namespace seaway::device
