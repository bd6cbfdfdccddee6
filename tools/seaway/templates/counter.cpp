// What a Counter does with its messages.

#include "counter.hpp"

#include <utility>

namespace app_name_app {

void Counter::describe(seaway::ActorType<Counter>& type) {
  type.on(&Counter::add).on(&Counter::look).snapshot(&Counter::save, &Counter::restore);
}

Counter::Counter(seaway::Self self, std::int64_t start) : self_(std::move(self)), total_(start) {}

seaway::Reply<Total> Counter::add(seaway::Request<Add> request) {
  total_ += request->getAmount();
  return save();
}

seaway::Reply<Total> Counter::look(seaway::Request<Look>) { return save(); }

seaway::Message<Total> Counter::save() const {
  return seaway::make<Total>([this](Total::Builder m) {
    m.setTotal(total_);
    m.setCounter(self_.name());
  });
}

seaway::Status Counter::restore(seaway::Message<Total> saved) {
  total_ = saved->getTotal();
  return {};
}

}  // namespace app_name_app
