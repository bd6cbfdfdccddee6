// FrontExecutable: a framework's program on the devices that it was compiled for.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "front/devices.hpp"
#include "pjrt/compile_options.hpp"
#include "seaway/client.hpp"

namespace seaway::front {

class FrontBuffer;
class FrontClient;
class Recording;

/// What one execution has made.
struct Execution {
  Run run;
  std::shared_ptr<Recording> recording;  // That the run will be of; else null.
  std::vector<std::vector<std::unique_ptr<FrontBuffer>>> outputs;  // Of each device.
};

/// Thread-safe.
class FrontExecutable : public std::enable_shared_from_this<FrontExecutable> {
 public:
  FrontExecutable(FrontClient& client, Function function, pjrt::Placing placing,
                  std::vector<FrontDevice*> devices, bool is_portable);

  const std::string& name() const { return name_; }
  const pjrt::Placing& placing() const { return placing_; }
  /// One for each shard: partition s % partitions of replica s / partitions.
  const std::vector<FrontDevice*>& devices() const { return devices_; }
  /// It was compiled for no device of its own: whoever executes it says which.
  bool is_portable() const { return is_portable_; }
  /// Of one shard.
  std::span<const TensorType> parameters() const;
  std::span<const TensorType> outputs() const;
  /// The compiled program, as its compiler describes it.
  const std::string& description_format() const;
  const std::string& description() const;
  /// Tells executables apart: equal ones do the same.
  const std::string& fingerprint() const { return fingerprint_; }
  std::uint64_t function_id() const { return function_.id(); }

  /// Calls it inside the capture of a program, with the operands of one shard behind the other's.
  Traced call(const std::vector<FrontDevice*>& devices, std::span<const Traced> operands) const;

  /// Enqueues one execution, or adds it to what this thread records, and returns at once.
  /// `operands[s]` are those of shard s. Those in `not_donated` stay the caller's even if the
  /// program gives them up; of all others that it gives up the arrays are gone. `device`: where a
  /// portable one runs; null: its first one. Errors: kInvalidArgument for a number, type or device
  /// that is not the program's, and for what is deleted; those of Program::execute().
  Result<Execution> execute(std::span<FrontBuffer* const* const> operands,
                            std::size_t operands_count, std::span<const std::int64_t> not_donated,
                            FrontDevice* device);

 private:
  using Key = std::pair<int, std::vector<std::uint32_t>>;  // First device; what is given up.
  std::vector<std::uint32_t> donated(std::span<const std::int64_t> not_donated) const;
  Result<Program> program_for(const std::vector<FrontDevice*>& devices,
                              std::vector<std::uint32_t> donated);
  Execution record(std::shared_ptr<Recording> recording,
                   std::span<FrontBuffer* const* const> operands, std::size_t operands_count,
                   const std::vector<FrontDevice*>& devices,
                   std::span<const std::uint32_t> donated);
  Result<Program> capture(const std::vector<FrontDevice*>& devices,
                          std::vector<std::uint32_t> donated) const;
  Status check(std::span<FrontBuffer* const* const> operands, std::size_t operands_count,
               const std::vector<FrontDevice*>& devices) const;

  FrontClient& client_;
  const Function function_;
  const std::string name_;
  const pjrt::Placing placing_;
  const std::vector<FrontDevice*> devices_;
  const bool is_portable_;
  const std::string fingerprint_;
  std::mutex mutex_;
  std::map<Key, Program> programs_;  // Guarded by mutex_.
};

}  // namespace seaway::front
