// FrontClient: a session with a cluster as the client of a framework's plugin: devices, buffers,
// programs.

#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/devices.hpp"
#include "front/front_buffer.hpp"
#include "front/front_executable.hpp"
#include "front/recording.hpp"
#include "seaway/client.hpp"

namespace seaway::front {

struct FrontOptions {
  std::string cluster;  // As connect() has it.
  std::string tenant = "default";
  std::uint32_t weight = 0;  // 0: as it is.
  std::uint32_t ahead = 0;   // Most runs in flight; 0: what is usual with such a cluster.
};

/// Thread-safe. Buffers and executables that it made end before it does.
class FrontClient {
 public:
  /// Connects, and acquires all devices of each island. Errors: those of connect() and
  /// acquire_slice(), with the island.
  static Result<std::unique_ptr<FrontClient>> make(const FrontOptions& options);
  /// The same on a session that is there. `where`: for version_text(); may be empty.
  static Result<std::unique_ptr<FrontClient>> make(Client client, const std::string& where);

  const DeviceTable& devices() const { return devices_; }
  const Client& client() const { return client_; }
  RecordedPrograms& recorded() { return recorded_; }
  /// "Seaway 0.1.0, 2 islands of 4 devices at unix:...".
  const std::string& version_text() const { return version_text_; }

  /// Uploads the value at `data`, of elements `byte_strides` apart (none: dense, row-major), which
  /// is read before the call returns. May block when much is under way. Errors: those of put().
  Result<std::unique_ptr<FrontBuffer>> put(TensorType type, const std::byte* data,
                                           std::span<const std::int64_t> byte_strides,
                                           FrontDevice& device) const;
  /// The same value on `target`, wherever that is; a run like any other.
  static Result<std::unique_ptr<FrontBuffer>> copy(FrontBuffer& buffer, FrontDevice& target);

  /// Blocks until all hosts have compiled it. A program that is here already is not compiled again
  /// for other devices. Errors: those of Client::foreign(); kInvalidArgument for devices that are
  /// not there; kUnimplemented for devices of several islands.
  Result<std::shared_ptr<FrontExecutable>> compile(std::string_view code, std::string_view format,
                                                   const std::string& options);

 private:
  FrontClient(Client client, std::vector<Slice> slices, std::vector<Mesh> meshes);
  Result<std::vector<FrontDevice*>> place(const pjrt::Placing& placing) const;

  const Client client_;
  const std::vector<Slice> slices_;  // Of each island.
  const DeviceTable devices_;
  std::string version_text_;
  RecordedPrograms recorded_;
  std::mutex mutex_;
  /// By format, options without devices, and code, while somebody has them. Guarded by mutex_.
  std::map<std::string, std::weak_ptr<client::FunctionRecord>> functions_;
};

/// What a framework has called the program, as far as its bytes tell: "jit_step"; else "program".
std::string name_of_program(std::string_view code);

}  // namespace seaway::front
