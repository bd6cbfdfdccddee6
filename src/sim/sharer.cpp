// What actors do with arrays.

#include "sim/sharer.hpp"

#include <algorithm>
#include <utility>

namespace seaway::sim {

ArraySpec shared_spec(const Slice& slice) {
  return {{DType::kF32, {kSharedElements}}, NamedSharding(slice.mesh(), P("x"))};
}

Result<Function> make_twice(const Client& client, const Slice& slice) {
  const auto body = [](const Tensor& x) { return x + x; };
  auto made =
      client.function("twice", body, {f32({kSharedElements / slice.mesh().device_count()})});
  if (!made.ok()) return made.status();
  return made->on(slice);
}

bool is_usable(const SharedArray& one, const Slice& slice) {
  return one.value <= kSharedValueMax && one.array.spec().sharding.mesh() == slice.mesh();
}

Array put_shared(const Client& client, const Slice& slice, std::int64_t value) {
  const std::vector<float> values(kSharedElements, static_cast<float>(value));
  return client.put<float>(values, {kSharedElements}, shared_spec(slice).sharding);
}

std::int64_t seen_in(std::span<const float> values) {
  const auto is_first = [&](float one) { return one == values.front(); };
  if (!std::all_of(values.begin(), values.end(), is_first)) return -1;
  return static_cast<std::int64_t>(values.front());
}

Sharer::Sharer(Self self, const Slice& slice, const std::vector<Array>& given,
               const std::vector<std::int64_t>& values)
    : self_(std::move(self)), slice_(slice) {
  for (std::size_t i = 0; i < given.size(); ++i) keep({given[i], values.at(i)});
}

void Sharer::keep(SharedArray one) {
  if (kept_.size() == kKeptMax) kept_.erase(kept_.begin());
  kept_.push_back(std::move(one));
}

Reply<Shared> Sharer::given(const SharedArray& one) {
  return make<Shared>([&](Shared::Builder m, Attached& beside) {
    beside.add(one.array);
    m.setValue(one.value);
  });
}

Result<SharedArray> Sharer::twice(const SharedArray& of) {
  if (!is_usable(of, slice_)) return of;
  if (!twice_) {
    const auto client = self_.client();
    if (!client.ok()) return client.status();
    auto made = make_twice(*client, slice_);
    if (!made.ok()) return made.status();
    twice_ = *std::move(made);
  }
  return SharedArray{twice_->execute({of.array}).output(0), 2 * of.value};
}

Result<Reply<Shared>> Sharer::make_one(Request<MakeOne> request) {
  const auto client = self_.client();
  if (!client.ok()) return client.status();
  auto one = twice({put_shared(*client, slice_, request->getValue()), request->getValue()});
  if (!one.ok()) return one.status();
  keep(*one);
  return given(*one);
}

Result<Reply<Shared>> Sharer::take(Request<Share> request) {
  const auto array = request.array(0);
  if (!array.ok()) return array.status();
  const SharedArray one{*array, request->getValue()};
  keep(one);
  if (!request->getIsUsed()) return given(one);
  const auto used = twice(one);
  if (!used.ok()) return used.status();
  return given(*used);
}

Task<Reply<Shared>> Sharer::pass(Request<Pass> request) {
  const auto other = request.actor<Sharer>(0);
  if (!other.ok()) co_return other.status();
  if (kept_.empty()) co_return make<Shared>([](Shared::Builder) {});
  const SharedArray one = kept_.back();
  const auto answer = co_await other->call(&Sharer::take, [&](Share::Builder m, Attached& beside) {
    beside.add(one.array);
    m.setValue(one.value);
    m.setIsUsed(request->getIsUsed());
  });
  if (!answer.ok()) co_return answer.status();
  const auto back = answer->array(0);
  if (!back.ok()) co_return back.status();
  co_return given({*back, (*answer)->getValue()});
}

Task<Reply<Shared>> Sharer::look(Request<Look>) {
  if (kept_.empty()) co_return make<Shared>([](Shared::Builder) {});
  const SharedArray one = kept_.back();
  const auto values = co_await one.array.to_host<float>();
  if (!values.ok()) co_return values.status();
  co_return make<Shared>([&](Shared::Builder m) {
    m.setValue(one.value);
    m.setSeen(seen_in(*values));
  });
}

Status Sharer::forget(Request<Forget>) {
  kept_.clear();
  return {};
}

}  // namespace seaway::sim
