// Recording: what one thread enqueues between two calls, gathered into one program.

#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "front/front_buffer.hpp"
#include "seaway/client.hpp"

namespace seaway::front {

class FrontClient;
class FrontExecutable;

/// Programs that were recorded, by what was recorded. Thread-safe.
class RecordedPrograms {
 public:
  static constexpr std::size_t kProgramsMax = 256;

  /// None: it was not recorded before, or is forgotten.
  Program find(const std::string& key) const;
  void keep(std::string key, Program program);
  std::size_t size() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Program> programs_;  // Guarded by mutex_.
};

/// Executions and copies of one thread that have not left yet. They leave as one run of one program
/// when the thread says so, or when anybody asks for the array behind one of their results. Results
/// that nobody has by then are values inside the program. One that was recorded before is not
/// captured again. Thread-safe.
class Recording : public std::enable_shared_from_this<Recording> {
 public:
  /// More end it, and what follows is the next one.
  static constexpr std::size_t kNodesMax = 4096;

  /// From now on this thread records, until end() was called as often.
  static void begin();
  /// Requires begin(). The last one lets go what was recorded.
  static void end();
  /// The one that this thread adds to, on `client`; null when it does not record.
  static std::shared_ptr<Recording> current(FrontClient& client);

  explicit Recording(FrontClient& client);

  /// One execution of `executable`, whose operands were checked, on `devices`; those of them are
  /// given up that `donated` names, counted over all shards. Its results are of shard 0, then of
  /// shard 1 and so on.
  std::vector<std::unique_ptr<FrontBuffer>> add(std::shared_ptr<FrontExecutable> executable,
                                                const std::vector<FrontDevice*>& devices,
                                                std::span<FrontBuffer* const> operands,
                                                std::span<const std::uint32_t> donated);
  /// One copy to `target`.
  std::unique_ptr<FrontBuffer> add_copy(FrontBuffer& operand, FrontDevice& target);

  /// Lets go what was recorded, if it has not left. Afterwards all results have arrays.
  void settle();
  bool is_settled() const { return phase_ == Phase::kSettled; }
  /// The outcome of the run.
  Future<void> done() const { return Future<void>(done_); }

 private:
  friend class FrontBuffer;

  enum class Phase : std::uint8_t { kOpen, kLeaving, kSettled };
  struct Value {
    std::uint32_t node = 0, output = 0;  // node == kParameter: parameter `output`.
  };
  static constexpr std::uint32_t kParameter = 0xffffffff;
  struct Node {
    std::shared_ptr<FrontExecutable> executable;  // Null: a copy.
    std::vector<FrontDevice*> devices;
    std::vector<Value> operands;
    std::vector<FrontBuffer*> results;  // Null: nobody has it any more.
  };

  bool is_full();
  Value value_of(FrontBuffer& operand);
  std::unique_ptr<FrontBuffer> new_result(std::uint32_t output, const TensorType& type,
                                          FrontDevice* device);
  void forget(const FrontBuffer& result);
  std::vector<Value> kept() const;
  std::string key(std::span<const Value> kept) const;
  Run leave(std::span<const Value> kept) const;
  Result<Program> capture(std::span<const Value> kept) const;
  std::vector<Traced> trace(std::span<const Traced> parameters, std::span<const Value> kept) const;

  FrontClient& client_;
  const std::shared_ptr<internal::FutureState<void>> done_;
  std::atomic<Phase> phase_ = Phase::kOpen;
  std::mutex mutex_;
  // Guarded by mutex_; while it is leaving only results become null.
  std::vector<Node> nodes_;
  std::vector<Array> parameters_;
  std::vector<FrontDevice*> places_;              // Of each parameter.
  std::map<const void*, std::uint32_t> numbers_;  // Of parameters, by their arrays.
  std::vector<std::uint32_t> donated_;            // Parameters that are given up.
};

}  // namespace seaway::front
