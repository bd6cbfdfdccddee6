// Record: what a client remembers of one run or one upload, and of the arrays that it makes.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <source_location>
#include <string_view>
#include <vector>

#include "base/ids.hpp"
#include "client/imported_array.hpp"
#include "seaway/array.hpp"
#include "seaway/future.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"

namespace seaway::client {

class Session;

/// Known to a session: whether a slice may still be named.
struct SliceRecord {
  std::shared_ptr<Session> session;
  Mesh mesh;
  std::atomic<bool> is_released = false;
  std::mutex mutex;
  std::vector<std::uint32_t> binding;  // Island, then its devices. Guarded by mutex.
};

/// One live definition of a session, counted against its limit: a function, a program or a spec
/// that the cluster was told of. Its end releases the definition at the cluster.
class Registration {
 public:
  Registration() = default;
  ~Registration() { end(); }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// Counts the definition `id`. `session` outlives this. Call once, before the cluster is told.
  /// Errors: kResourceExhausted at the limit, with `what` it was to be.
  Status begin(Session& session, std::uint64_t id, std::string_view what);
  /// The cluster was not told of it, or forgets it now.
  void end();

 private:
  Session* session_ = nullptr;
  std::uint64_t id_ = 0;
};

/// What makes arrays, and of which specs: a program, or the spec of an upload. Immutable once
/// shared.
struct Origin {
  virtual ~Origin() = default;

  std::shared_ptr<Session> session;
  std::vector<ArraySpec> outputs;
  /// The session's own number of each output's spec: equal numbers, equal specs.
  std::vector<std::uint64_t> output_specs;
  std::string name;
};

/// One distinct ArraySpec of a session, for as long as an array or a program has it; uploads name
/// it by id.
struct SpecRecord final : Origin {
  std::uint64_t id = 0;
  std::shared_ptr<SliceRecord> slice;  // Null for a mesh without a slice.
  std::atomic<bool> is_defined = false;
  Registration registration;  // Since it is defined.

  const ArraySpec& spec() const { return outputs[0]; }
};

/// Whether an array can still be used.
enum class Gone : std::uint8_t { kNo, kDeleted, kDonated };

/// One array of a record. Its handles are counted here; the record knows the rest.
struct ArrayCell {
  explicit ArrayCell(std::uint32_t at) : index(at) {}

  std::atomic<std::uint32_t> handles{1};
  const std::uint32_t index;
  std::atomic<Gone> gone{Gone::kNo};
  std::uint16_t parameter = 0;  // With kDonated: which parameter took it, where.
  std::source_location site;

  Record& record();
};

/// One run or upload, in one heap block with its cells behind it. Counted by hand: one reference
/// for the table of what is in flight, one for all Run handles together, one for each array that
/// has handles.
struct Record {
  enum class Phase : std::uint8_t { kPending, kCompleting, kDone, kFailed };

  /// What few records have.
  struct Details {
    Status failure;
    std::vector<std::vector<std::byte>> values;  // Debug mode: the outputs, global and row-major.
    /// Of one that another process has begun: set before anybody else sees the record.
    struct Imported {
      ArrayMaker maker;
      bool is_asked = false;  // For its outcome; guarded by the session.
    } imported;
  };

  /// One future that waits for the outcome.
  struct Waiting {
    Waiting* next;
    std::shared_ptr<internal::FutureState<void>> state;
  };

  /// A pending record with one handle for each array, one Run handle, and one reference that
  /// belongs to the caller for its table (call unreference() to drop it).
  static Record* make(std::shared_ptr<const Origin> origin, std::size_t size);
  /// A record that was refused: it is complete from the start and has no ids.
  static Record* make_failed(std::shared_ptr<const Origin> origin, std::size_t size, Status status);

  ArrayCell* cells() { return reinterpret_cast<ArrayCell*>(this + 1); }
  ArrayId array_id(std::uint32_t index) const { return first ? first + index : 0; }
  bool is_pending() const {
    const Phase now = phase.load(std::memory_order_acquire);
    return now == Phase::kPending || now == Phase::kCompleting;
  }
  /// OK while pending.
  Status error() const;

  /// Sets the outcome and completes what waits for it; false when there was one.
  bool complete(Status status, internal::Wake wake);
  /// Completes `state` with the outcome, now or when there is one.
  void add_waiting(std::shared_ptr<internal::FutureState<void>> state);
  Future<void> outcome();

  void unreference();
  /// Drops a handle of array `index`; the last one tells the cluster.
  void drop_array(std::uint32_t index);
  void drop_run();
  std::string to_string() const;

  std::atomic<std::uint32_t> references{0};
  const std::uint32_t size;
  const std::shared_ptr<const Origin> origin;
  std::uint64_t id = 0;  // Of the run; of the array for an upload.
  ArrayId first = 0;
  std::atomic<Waiting*> waiting{nullptr};
  std::unique_ptr<Details> details;  // Written before `phase` says kDone or kFailed.
  std::atomic<std::uint32_t> run_handles{1};
  std::atomic<Phase> phase{Phase::kPending};
  bool is_run = true;
  bool is_local = false;     // Debug mode: the cluster knows nothing of it.
  bool is_imported = false;  // Another process of the client has begun it.

 private:
  Record(std::shared_ptr<const Origin> made_by, std::size_t count)
      : size(static_cast<std::uint32_t>(count)), origin(std::move(made_by)) {}
  ~Record();
};

inline Record& ArrayCell::record() { return *(reinterpret_cast<Record*>(this - index) - 1); }

/// "array 3 of client 1".
std::string name_of(std::uint64_t id);

/// "train.cpp:12": a site as messages print it.
std::string to_text(const std::source_location& site);

/// Why an array cannot be used, or OK.
Status check_usable(ArrayCell& cell);

}  // namespace seaway::client
