// AnnexActor: messages between an annex and the host of its island.

#pragma once

#include "actor/actor.hpp"
#include "actor/offload.hpp"
#include "actor/router.hpp"
#include "device/annex_core.hpp"
#include "function/native_registry.hpp"

namespace seaway::device {

/// What an annex is given at its start; everything outlives it.
struct AnnexWiring {
  actor::Router& router;
  const function::NativeRegistry& natives;
  transport::NearMemory* near = nullptr;  // See Exchanges;
  transport::DataPlane* data = nullptr;   // the same.
  ExchangeOptions exchange = {};
  actor::OffloadOptions offload = {};  // For large functions.
};

/// One of an island's other hosts: decode, one call into the core, encode. When its host is lost or
/// begins a new life it forgets all that it did for it, and serves the next.
class AnnexActor final : public actor::Actor {
 public:
  /// Host `host` of `island`, from 1. The others outlive it.
  AnnexActor(IslandId island, std::uint32_t host, AnnexWiring wiring, Backend& backend);

  void receive(const Frame& frame) override;
  /// Says what is ready. Also to be called when work of the backend has finished.
  void idle() override;

  AnnexCore& core() { return core_; }

 private:
  Status handle(const Frame& frame);
  Status follow_orders(const Frame& frame);
  Status hear_words(const Frame& frame);
  void define(FunctionId function,
              const Result<std::shared_ptr<const function::Executable>>& executable);

  const IslandId island_;
  const std::uint32_t host_;
  const AnnexWiring wiring_;
  Backend& backend_;
  AnnexCore core_;
  std::uint64_t generation_ =
      0;  // Of the host that it serves: what was compiled for others is over.
};

}  // namespace seaway::device
