// Writing down, and reading out in pages.

#include "demos/support/kv_board.hpp"

#include <algorithm>
#include <span>

namespace seaway::demos::kv {
namespace {

constexpr std::size_t kPage = 1000;

void write(const Operation& operation, Deed::Builder out) {
  out.setKind(static_cast<Command::Kind>(operation.kind));
  out.setKey(operation.key);
  out.setValue(operation.value);
  out.setExpected(operation.expected);
  out.setClient(operation.client);
  out.setResult(operation.result);
  out.setBegin(operation.begin);
  out.setEnd(operation.end);
}

}  // namespace

Message<Deed> to_message(const Operation& operation) {
  return make<Deed>([&operation](Deed::Builder m) { write(operation, m); });
}

Operation from_message(Deed::Reader deed) {
  Operation operation;
  operation.kind = static_cast<Operation::Kind>(deed.getKind());
  operation.key = deed.getKey();
  operation.value = deed.getValue();
  operation.expected = deed.getExpected();
  operation.client = deed.getClient();
  operation.result = deed.getResult();
  operation.begin = deed.getBegin();
  operation.end = deed.getEnd();
  return operation;
}

Reply<Noted> Board::begin(Request<Deed> deed) {
  const std::size_t number = history_.begin(from_message(*deed));
  return make<Noted>([number](Noted::Builder m) { m.setNumber(number); });
}

Task<Status> Board::read(Request<Read>, Writer<Page> out) {
  const std::vector<Operation> all = history_.operations();
  for (std::size_t at = 0; at < all.size(); at += kPage) {
    const auto page = std::span(all).subspan(at, std::min(kPage, all.size() - at));
    const auto written = co_await out.write([page](Page::Builder m) {
      auto deeds = m.initDeeds(static_cast<unsigned>(page.size()));
      for (unsigned i = 0; i < deeds.size(); ++i) write(page[i], deeds[i]);
    });
    if (!written.ok()) co_return written.status();
  }
  co_return Status();
}

}  // namespace seaway::demos::kv
