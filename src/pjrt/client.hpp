// Client: the devices of one plugin, what was compiled for them, and buffers there.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pjrt/hlo_program.hpp"
#include "pjrt/plugin.hpp"
#include "pjrt/residents.hpp"
#include "seaway/types.hpp"

namespace seaway::pjrt {

/// A device of a plugin. Valid as long as its client.
struct PluginDevice {
  abi::Device* device = nullptr;
  abi::Memory* memory = nullptr;  // Its default.
  int id = 0;                     // By which device assignments name it.
  std::string kind;
};

/// A program that is compiled and loaded. Thread-safe.
struct Code {
  LoadedExecutable loaded;
  ExecutableInfo info;
  std::vector<TensorType> outputs;    // As the plugin says.
  std::uint64_t temporary_bytes = 0;  // Of one device while it runs; 0 if the plugin does not say.
};

/// What a compiled program says of itself.
struct Description {
  std::string format, bytes;
  HloProgram program;
};

/// A buffer made of memory of ours, which the plugin may read until `released` has come; that comes
/// after the buffer's end.
struct LentBuffer {
  Event released;
  Buffer buffer;
};

/// Buffers that exist before their bytes do. Programs that are given them begin when all of theirs
/// are fulfilled, or are poison when one of them is.
struct Promises {
  Transfers transfers;
  std::vector<Buffer> buffers;
};

/// Thread-safe. What it hands out ends before it does.
class Client : public std::enable_shared_from_this<Client> {
 public:
  /// Makes a client with `devices` devices, by the plugin's option cpu_device_count, or without
  /// options if it knows none of that name. Errors: those of the plugin; kInvalidArgument when it
  /// has less devices.
  static Result<std::shared_ptr<Client>> make(Plugin plugin, std::uint32_t devices);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Plugin& plugin() const { return plugin_; }
  const abi::Api& api() const { return plugin_.api(); }
  std::span<const PluginDevice> devices() const { return devices_; }
  /// Whether the devices compute in the host's memory, so that nothing has to go to them.
  bool shares_host_memory() const { return shares_host_memory_; }
  /// What a compiled program depends on beside its text: the plugin, its version and platform.
  const std::string& identity() const { return identity_; }

  /// A number for one gang; not 0, and no other gang's that is under way.
  int next_launch() { return static_cast<int>(launches_.fetch_add(1) % 0x7fffffff) + 1; }

  /// `text` is StableHLO, as text or as bytecode, if the format is "mlir"; `options` come from
  /// compile_options(). Errors: the plugin's.
  Result<Code> compile(const std::string& text, const std::string& options,
                       std::string_view format = "mlir") const;
  /// Errors: the plugin's, kUnimplemented where it does not say; kUnimplemented, too, for
  /// parameters that no array of Seaway's can be.
  Result<Description> describe(const Code& code) const;
  Result<Code> load(std::string_view serialized) const;
  Result<std::string> serialize(const Code& code) const;

  /// A buffer of `type` on `device` that is the memory at `data`, if the device can use that, or a
  /// copy. `data` is not null.
  Result<LentBuffer> lend(const PluginDevice& device, const TensorType& type,
                          const std::byte* data) const;
  Result<Promises> promise(const PluginDevice& device, std::span<const TensorType> types) const;
  /// Starts to write `bytes` from `data` on into promise `index`, all that there are; the event
  /// comes when `data` is read and the promise kept.
  Result<Event> fulfil(const Promises& promises, std::size_t index, const std::byte* data,
                       std::size_t bytes) const;
  /// Makes promise `index` poison, and whatever depends on it.
  Status poison(const Promises& promises, std::size_t index, const Status& cause) const;
  /// Where the `bytes` bytes of `buffer`, which is computed, lie: dense, row-major, for as long as
  /// it lives. Null: read() them. Only for devices that share the host's memory.
  Result<std::byte*> address_of(const Buffer& buffer, const TensorType& type) const;
  /// Leaves `buffer`, which is computed on device `device` and lies at `address` (address_of()),
  /// where it is, until the owner that is returned is gone; this client stays as long. Null:
  /// another one lies there, and `buffer` is as it was.
  std::shared_ptr<void> keep(Buffer& buffer, std::uint32_t device,
                             std::shared_ptr<const TensorType> type,
                             const std::byte* address) const;
  /// The same of what is lent from `address` on, which ends when the owner does. Null: something is
  /// there already, and `lent` is as it was.
  std::shared_ptr<void> hold(LentBuffer& lent, std::uint32_t device,
                             std::shared_ptr<const TensorType> type,
                             const std::byte* address) const;
  /// A program hangs on a device: who ends what is lent does not wait for it any more.
  void has_hung() { hangs_ = true; }
  const Residents& residents() const { return *residents_; }
  /// Starts to copy `buffer`, which has `bytes` bytes, to `target`, dense and row-major.
  Result<Event> read(const Buffer& buffer, std::byte* target, std::size_t bytes) const;

 private:
  struct Owner;
  explicit Client(Plugin plugin) : plugin_(std::move(plugin)) {}
  Status look_at_devices(std::uint32_t wanted);
  Status look_at_memory();
  Result<Code> look_at(LoadedExecutable loaded) const;

  Plugin plugin_;
  abi::Client* client_ = nullptr;
  std::vector<PluginDevice> devices_;
  std::string identity_;
  bool shares_host_memory_ = false;
  const std::unique_ptr<Residents> residents_ = std::make_unique<Residents>();
  std::atomic<std::uint32_t> launches_ = 0;
  std::atomic<bool> hangs_ = false;
};

}  // namespace seaway::pjrt
