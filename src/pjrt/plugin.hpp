// Plugin: a shared library with a PJRT device, and calls of it whose errors are values.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "pjrt/abi.hpp"
#include "seaway/status.hpp"
#include "seaway/types.hpp"

namespace seaway::pjrt {

/// What a plugin's error means to whoever asked for the call. A device that is not there any more
/// is kDeviceLost; what the plugin calls its own fault is the function's, kUserFunctionError, for
/// it would be the same on another device.
Status status_of(abi::ErrorCode code, std::string_view message);

/// Types of elements, there and here. Errors: kUnimplemented for one that no array has.
abi::ElementType element_type(DType dtype);
Result<DType> dtype_of(abi::ElementType type);

/// Takes the error of a call, which may be null, and leaves nothing of it in the plugin.
Status take_error(const abi::Api& api, abi::Error* error);

/// The status of a call that the plugin's table has no function for.
Status not_there(abi::Call call);

/// Calls the plugin's function for `args`, whose inputs are set.
template <class Args>
Status call(const abi::Api& api, Args& args) {
  args.head.struct_size = abi::size_of<Args>();
  const auto function =
      reinterpret_cast<abi::Error* (*)(Args*)>(api.calls[static_cast<std::size_t>(Args::kCall)]);
  if (function == nullptr) return not_there(Args::kCall);
  return take_error(api, function(&args));
}

/// Owns one thing of a plugin, of which `Destroy` are the arguments that end it and `kField` is
/// where it goes there. Empty after a move.
template <class T, class Destroy, T* Destroy::*kField>
class Owned {
 public:
  Owned() = default;
  Owned(const abi::Api& api, T* object) : api_(&api), object_(object) {}
  Owned(Owned&& other) noexcept
      : api_(other.api_), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    if (this == &other) return *this;
    reset();
    api_ = other.api_;
    object_ = std::exchange(other.object_, nullptr);
    return *this;
  }
  ~Owned() { reset(); }

  /// Null: nothing.
  T* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  const abi::Api& api() const { return *api_; }

  void reset() {
    if (object_ == nullptr) return;
    Destroy args;
    args.*kField = std::exchange(object_, nullptr);
    // Nobody could do anything about an error: the object is gone from here in any case.
    (void)call(*api_, args);
  }

 private:
  const abi::Api* api_ = nullptr;
  T* object_ = nullptr;
};

using Buffer = Owned<abi::Buffer, abi::BufferDestroy, &abi::BufferDestroy::buffer>;
using Event = Owned<abi::Event, abi::EventDestroy, &abi::EventDestroy::event>;
using Transfers = Owned<abi::Transfers, abi::TransfersDestroy, &abi::TransfersDestroy::transfers>;
using LoadedExecutable = Owned<abi::LoadedExecutable, abi::LoadedExecutableDestroy,
                               &abi::LoadedExecutableDestroy::executable>;
using ExecutableInfo =
    Owned<abi::Executable, abi::ExecutableDestroy, &abi::ExecutableDestroy::executable>;

/// Blocks until `event`, which is not empty, has come. Errors: the one that it came with.
Status await(const Event& event);

/// A loaded library. Loaded libraries stay until the process ends, for their threads do. A value.
class Plugin {
 public:
  /// Loads the library at `path`, which begins with '/', and looks at what it offers. Errors:
  /// kNotFound when there is no such file; kInvalidArgument when it is no library, or one without a
  /// PJRT plugin in it, or its interface is too old or lacks a function.
  static Result<Plugin> load(const std::string& path);

  const abi::Api& api() const { return *api_; }
  const std::string& path() const { return path_; }
  /// The interface that it speaks, as in "0.115".
  std::string version() const;

 private:
  Plugin(const abi::Api& api, std::string path) : api_(&api), path_(std::move(path)) {}

  const abi::Api* api_;
  std::string path_;
};

/// Checks what GetPjrtApi of the library at `path` has returned. Errors: as load().
Status check_api(const abi::Api* api, const std::string& path);

}  // namespace seaway::pjrt
