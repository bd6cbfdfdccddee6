// Loading a plugin, and what its errors become.

#include "pjrt/plugin.hpp"

#include <dlfcn.h>
#include <sys/stat.h>

#include <array>

namespace seaway::pjrt {
namespace {

/// All functions that are called. Each plugin has them; one without could not be driven.
constexpr std::array kNeeded = {
    abi::Call::kErrorDestroy,
    abi::Call::kErrorMessage,
    abi::Call::kErrorGetCode,
    abi::Call::kPluginInitialize,
    abi::Call::kEventDestroy,
    abi::Call::kEventAwait,
    abi::Call::kClientCreate,
    abi::Call::kClientDestroy,
    abi::Call::kClientPlatformName,
    abi::Call::kClientPlatformVersion,
    abi::Call::kClientAddressableDevices,
    abi::Call::kClientCompile,
    abi::Call::kClientBufferFromHostBuffer,
    abi::Call::kDeviceDescriptionId,
    abi::Call::kDeviceDescriptionKind,
    abi::Call::kDeviceGetDescription,
    abi::Call::kDeviceDefaultMemory,
    abi::Call::kExecutableDestroy,
    abi::Call::kExecutableNumOutputs,
    abi::Call::kExecutableSerialize,
    abi::Call::kLoadedExecutableDestroy,
    abi::Call::kLoadedExecutableGetExecutable,
    abi::Call::kLoadedExecutableExecute,
    abi::Call::kExecutableDeserializeAndLoad,
    abi::Call::kBufferDestroy,
    abi::Call::kBufferToHostBuffer,
    abi::Call::kBufferIsOnCpu,
    abi::Call::kExecutableOutputElementTypes,
    abi::Call::kExecutableOutputDimensions,
    abi::Call::kExecutableGetCompiledMemoryStats,
    abi::Call::kTransfersDestroy,
    abi::Call::kTransfersTransferData,
    abi::Call::kClientCreateBuffersForAsyncHostToDevice,
    abi::Call::kTransfersRetrieveBuffer,
    abi::Call::kTransfersSetBufferError,
};

std::string version_text(int major, int minor) {
  return std::to_string(major) + "." + std::to_string(minor);
}

std::string_view name_of(abi::ErrorCode code) {
  switch (code) {
    case abi::ErrorCode::kUnknown:
      return "UNKNOWN";
    case abi::ErrorCode::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case abi::ErrorCode::kOutOfRange:
      return "OUT_OF_RANGE";
    case abi::ErrorCode::kAlreadyExists:
      return "ALREADY_EXISTS";
    default:
      return "INTERNAL";
  }
}

/// A call as the plugin answers it.
template <class Answer, class Args>
Answer raw(const abi::Api& api, Args& args) {
  args.head.struct_size = abi::size_of<Args>();
  return reinterpret_cast<Answer (*)(Args*)>(api.calls[static_cast<std::size_t>(Args::kCall)])(
      &args);
}

void destroy(const abi::Api& api, abi::Error* error) {
  abi::ErrorDestroy args;
  args.error = error;
  raw<void>(api, args);
}

}  // namespace

Status status_of(abi::ErrorCode code, std::string_view message) {
  const std::string text(message);
  switch (code) {
    case abi::ErrorCode::kOk:
      return {};
    case abi::ErrorCode::kCancelled:
      return cancelled(text);
    case abi::ErrorCode::kInvalidArgument:
      return invalid_argument(text);
    case abi::ErrorCode::kDeadlineExceeded:
      return deadline_exceeded(text);
    case abi::ErrorCode::kNotFound:
      return not_found(text);
    case abi::ErrorCode::kPermissionDenied:
      return {StatusCode::kPermissionDenied, text};
    case abi::ErrorCode::kUnauthenticated:
      return {StatusCode::kUnauthenticated, text};
    case abi::ErrorCode::kResourceExhausted:
      return resource_exhausted(text);
    case abi::ErrorCode::kUnimplemented:
      return unimplemented(text);
    case abi::ErrorCode::kAborted:
    case abi::ErrorCode::kUnavailable:
      return {StatusCode::kDeviceLost, text};
    case abi::ErrorCode::kDataLoss:
      return {StatusCode::kDataCorruption, text};
    default:
      return user_function_error(std::string(name_of(code)) + ": " + text);
  }
}

Status not_there(abi::Call call) {
  return unimplemented("the plugin has no function number " +
                       std::to_string(static_cast<std::size_t>(call)) + " of its interface");
}

Status take_error(const abi::Api& api, abi::Error* error) {
  if (error == nullptr) return {};
  abi::ErrorGetCode code;
  code.error = error;
  // An error of an error is nothing that anybody could be told.
  if (abi::Error* const another = raw<abi::Error*>(api, code); another != nullptr) {
    destroy(api, another);
    code.code = abi::ErrorCode::kUnknown;
  }
  abi::ErrorMessage message;
  message.error = error;
  raw<void>(api, message);
  const std::string_view text(message.message, message.message ? message.message_size : 0);
  const bool is_none = code.code == abi::ErrorCode::kOk;
  Status status = status_of(is_none ? abi::ErrorCode::kUnknown : code.code, text);
  destroy(api, error);
  return status;
}

Status await(const Event& event) {
  abi::EventAwait args;
  args.event = event.get();
  return call(event.api(), args);
}

Status check_api(const abi::Api* api, const std::string& path) {
  if (api == nullptr) return invalid_argument("plugin " + path + " offers no interface at all");
  const std::string wanted = version_text(abi::kMajor, abi::kMinorMin);
  if (api->head.struct_size < offsetof(abi::Api, calls) || api->version.major != abi::kMajor ||
      api->version.minor < abi::kMinorMin) {
    const bool has_version = api->head.struct_size >= offsetof(abi::Api, calls);
    return invalid_argument(
        "plugin " + path + " speaks PJRT " +
        (has_version ? version_text(api->version.major, api->version.minor) : "of unknown age") +
        "; Seaway needs " + wanted + " or a later 0.x: take a newer plugin");
  }
  for (const abi::Call needed : kNeeded) {
    const auto place = static_cast<std::size_t>(needed);
    const bool is_there =
        api->head.struct_size >= offsetof(abi::Api, calls) + (place + 1) * sizeof(api->calls[0]);
    if (!is_there || api->calls[place] == nullptr) {
      return invalid_argument("plugin " + path + " has no function at place " +
                              std::to_string(place) + " of its table, which Seaway calls");
    }
  }
  return {};
}

Result<Plugin> Plugin::load(const std::string& path) {
  if (path.empty() || path.front() != '/') {
    return invalid_argument("plugin \"" + path + "\" is not the whole path of a file, from / on");
  }
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) return not_found("plugin " + path + " does not exist");
  // Threads of the plugin outlive whatever asked for it, so that it is never unloaded.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* const why = dlerror();
    return invalid_argument("plugin " + path + " cannot be loaded: " + (why ? why : "unknown"));
  }
  const auto get = reinterpret_cast<const abi::Api* (*)()>(dlsym(library, "GetPjrtApi"));
  if (get == nullptr) {
    return invalid_argument("library " + path +
                            " is no PJRT plugin: it has no function GetPjrtApi");
  }
  const abi::Api* const api = get();
  if (Status status = check_api(api, path); !status.ok()) return status;
  abi::PluginInitialize initialize;
  if (Status status = call(*api, initialize); !status.ok()) {
    return Status(status.code(), "plugin " + path + " does not begin: " + status.message());
  }
  return Plugin(*api, path);
}

std::string Plugin::version() const {
  return version_text(api_->version.major, api_->version.minor);
}

}  // namespace seaway::pjrt
