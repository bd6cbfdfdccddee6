// What all calls of the plugin's table have in common: handles, sizes, errors as values.

#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "front/errors.hpp"
#include "front/front_client.hpp"
#include "pjrt/abi_front.hpp"
#include "seaway/future.hpp"

namespace seaway::front {

namespace abi = pjrt::abi;

struct FrontError {
  abi::ErrorCode code;
  std::string text;
};

/// Something that will have happened, well or not.
struct FrontEvent {
  Future<void> future;
  std::shared_ptr<Recording> recording = nullptr;  // Whoever awaits it has that end first.
  bool is_awaited = false;  // Frameworks ask for it when they are about to wait.
};

/// One handle of an executable. Several name the same one.
struct LoadedHandle {
  std::shared_ptr<FrontExecutable> executable;
  std::vector<abi::Device*> devices;
  std::atomic<bool> is_deleted = false;
};
struct ExecutableHandle {
  std::shared_ptr<const FrontExecutable> executable;
  std::vector<abi::ElementType> types;  // Of each output; the same for what follows.
  std::vector<std::int64_t> sizes;      // One output's behind the other's.
  std::vector<std::size_t> ranks;
  std::vector<const char*> memory_kinds;
  std::vector<std::size_t> memory_kind_sizes;
};

// Handles are the addresses of what they name.
inline FrontError* of(abi::Error* error) { return reinterpret_cast<FrontError*>(error); }
inline FrontEvent* of(abi::Event* event) { return reinterpret_cast<FrontEvent*>(event); }
inline FrontClient* of(abi::Client* client) { return reinterpret_cast<FrontClient*>(client); }
inline FrontDevice* of(abi::Device* device) { return reinterpret_cast<FrontDevice*>(device); }
inline FrontDevice* of(abi::DeviceDescription* one) { return reinterpret_cast<FrontDevice*>(one); }
inline FrontMemory* of(abi::Memory* memory) { return reinterpret_cast<FrontMemory*>(memory); }
inline FrontBuffer* of(abi::Buffer* buffer) { return reinterpret_cast<FrontBuffer*>(buffer); }
inline LoadedHandle* of(abi::LoadedExecutable* one) { return reinterpret_cast<LoadedHandle*>(one); }
inline ExecutableHandle* of(abi::Executable* one) {
  return reinterpret_cast<ExecutableHandle*>(one);
}

inline abi::Error* new_error(const Status& status) {
  auto* const error = new FrontError{error_code(status.code()), error_text(status)};
  return reinterpret_cast<abi::Error*>(error);
}
inline abi::Event* new_event(Future<void> future, std::shared_ptr<Recording> recording = nullptr) {
  auto* const event = new FrontEvent{std::move(future), std::move(recording)};
  return reinterpret_cast<abi::Event*>(event);
}
inline abi::Event* new_awaited_event(Future<void> future) {
  return reinterpret_cast<abi::Event*>(new FrontEvent{std::move(future), nullptr, true});
}
inline abi::Event* new_event(Status status) {
  return new_event(Future<void>::of(std::move(status)));
}
inline abi::Buffer* new_buffer(std::unique_ptr<FrontBuffer> buffer) {
  return reinterpret_cast<abi::Buffer*>(buffer.release());
}

/// The plugin's table, as frameworks are given it.
struct Table {
  abi::Head head;
  abi::Version version;
  void (*calls[abi::kCallsOffered])() = {};

  /// Puts `kBody` in the place of its arguments. What a caller hands over is at least what is known
  /// here; what is thrown becomes an error.
  template <auto kBody>
  void offer() {
    offer(kBody, &entry<kBody>);
  }

 private:
  template <class Args>
  void offer(Status (*)(Args&), abi::Error* (*entry)(Args*)) {
    calls[static_cast<std::size_t>(Args::kCall)] = reinterpret_cast<void (*)()>(entry);
  }
  template <auto kBody, class Args>
  static abi::Error* entry(Args* args) {
    if (args->head.struct_size < abi::size_of<Args>()) {
      return new_error(invalid_argument(
          "call " + std::to_string(static_cast<std::size_t>(Args::kCall)) +
          " of the plugin's table comes with " + std::to_string(args->head.struct_size) +
          " bytes of arguments, where interface 0." + std::to_string(abi::kMinorOffered) + " has " +
          std::to_string(abi::size_of<Args>())));
    }
    try {
      const Status status = kBody(*args);
      return status.ok() ? nullptr : new_error(status);
    } catch (const std::bad_alloc&) {
      return new_error(resource_exhausted("this process has no memory for a call of the plugin"));
    }
  }
};

// Each fills its part of the table.
void offer_events(Table& table);
void offer_client(Table& table);
void offer_devices(Table& table);
void offer_executables(Table& table);
void offer_buffers(Table& table);

}  // namespace seaway::front
