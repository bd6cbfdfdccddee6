// MeshRequest: a question about a mesh, or an order to stop one, as a call of the silo's table.

#pragma once

#include <memory>
#include <utility>

#include "seaway/app/runtime.hpp"

namespace seaway::app {

/// The state of one such request: `Value` is a mesh, or void.
template <class Value>
class RequestState final : public internal::CallBase {
 public:
  explicit RequestState(std::shared_ptr<internal::FutureState<Value>> state)
      : state_(std::move(state)) {
    is_proxy = true;
  }

  bool answer(Result<internal::RawMessage> reply) override {
    if (!reply.ok()) return state_->complete(reply.status());
    if constexpr (std::is_void_v<Value>) {
      return state_->complete({});
    } else {
      return true;  // found() did it.
    }
  }
  Result<internal::RawMessage> outcome() override { return internal::RawMessage(); }
  internal::FutureCore& core() override { return *state_; }
  template <class Found>
  void found(Found value) {
    state_->complete(std::move(value));
  }

 private:
  std::shared_ptr<internal::FutureState<Value>> state_;
};

using MeshRequest = RequestState<std::shared_ptr<const internal::MeshInfo>>;

}  // namespace seaway::app
