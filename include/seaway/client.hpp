// Client: one user's session with a cluster: slices, arrays, functions, programs.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "seaway/array.hpp"
#include "seaway/function.hpp"
#include "seaway/program.hpp"
#include "seaway/sharding.hpp"
#include "seaway/status.hpp"
#include "seaway/tensor.hpp"
#include "seaway/types.hpp"

namespace seaway {

namespace transport {
class SourceFile;
}

/// A file that is open to be read, such as the weights of a model or a data set. Cheap to copy; the
/// file stays open as long as a copy, or an array that was put from it, is there. Thread-safe.
class MappedFile {
 public:
  MappedFile() = default;
  /// Errors, with the system's words: kNotFound; kPermissionDenied; kInvalidArgument for what is no
  /// file; kResourceExhausted without a descriptor.
  static Result<MappedFile> open(const std::string& path);

  /// When it was opened; 0 for a default-constructed one.
  std::uint64_t bytes() const;
  const std::shared_ptr<const transport::SourceFile>& source() const { return source_; }

 private:
  explicit MappedFile(std::shared_ptr<const transport::SourceFile> source)
      : source_(std::move(source)) {}
  std::shared_ptr<const transport::SourceFile> source_;
};

namespace client {
struct SliceRecord;
}  // namespace client
namespace internal {
class Caller;
}  // namespace internal
struct Placement;
class SpawnOptions;
template <class A>
class ActorMesh;

/// What becomes of a run or an upload when there is no room for it.
///
/// At a limit of ClientOptions the call itself is refused, or blocks. The quota of arrays that a
/// tenant keeps (seven eighths of the hosts' memory that others leave) is the cluster's: over it
/// with kRefuse an upload is refused at once, and with kWait its array stays open until other
/// arrays are freed, for at most `request_timeout`. A run over it waits in either case, for as long
/// as something of its client is unfinished. What cannot get room even when all that its client
/// keeps is freed is refused at once. Each refusal is kResourceExhausted and says how much is kept.
enum class WhenFull : std::uint8_t {
  kRefuse,  // Returns kResourceExhausted.
  kWait,    // Blocks until there is room; not in handlers, nor on the control thread: refuses.
};
/// "refuse", "wait".
std::string_view to_string(WhenFull when_full);

/// Who a client is, and how far it may run ahead.
struct ClientOptions {
  /// Clients of one tenant share its part of the devices' time and its quotas.
  std::string tenant = "default";
  /// The tenant's share of devices' time beside others'; the last client to say so wins. 0: leave
  /// it as it is (1 at first).
  std::uint32_t weight = 0;
  /// Most runs without an outcome.
  std::uint32_t runs_in_flight_max = 16384;
  /// Most bytes that `put` holds on the host until the cluster has taken them.
  std::uint64_t upload_bytes_max = std::uint64_t{1} << 30;
  WhenFull when_full = WhenFull::kRefuse;
  /// How long slices, `why` and other questions to the cluster may take, and with kWait an upload
  /// that finds no room.
  std::chrono::nanoseconds request_timeout = std::chrono::seconds(30);

  /// `client options: tenant "default", weight unchanged, at most 16384 runs and 1073741824 bytes
  /// of uploads in flight, when full refuse, requests within 30 s`.
  std::string to_string() const;
};

/// What a slice must be, not which devices it is.
struct SliceRequest {
  std::uint32_t devices = 1;
  /// Named axes; their sizes multiply to `devices`. Empty: no axes (one device), or one axis
  /// "devices".
  std::vector<MeshAxis> mesh = {};
  /// Kind of device, such as "cpu"; empty: any.
  std::string kind = {};
  /// Index of the island; -1: the least loaded that has room.
  std::int32_t island = -1;
  /// Neighbouring devices / devices with least load, which is the default; not both.
  bool contiguous = false;
  bool spread = false;

  /// `slice request: 8 devices of kind "cpu" as mesh(data=8), island 1, contiguous`.
  std::string to_string() const;
};

/// Virtual devices that a client has acquired. A shared handle; thread-safe. Released by release()
/// or with the client, never by dropping the handle: meshes may still name it.
class Slice {
 public:
  Slice() = default;

  const Mesh& mesh() const;
  std::uint64_t id() const { return mesh().slice(); }
  bool is_released() const;

  /// Gives the devices back once runs already enqueued are done; new runs that name it are refused
  /// with kInvalidArgument. Blocks until the cluster has agreed.
  Status release();
  /// Administrative: binds it to other physical devices, between runs; values stay bit-equal. When
  /// a device is lost this happens by itself; values that lay there are then kInputLost, and runs
  /// that were there are run again if all their functions are idempotent and their arguments are
  /// elsewhere. Where there are no other devices, runs end with kDeviceLost, and so does this.
  Status rebind();

  // Where actors go; include seaway/app.hpp. As it is bound at the time of the call.
  /// The hosts that have its devices, one place each, on axis "host".
  Placement hosts() const;
  /// One place for each device, at its host, on the axes of the slice's mesh.
  Placement devices() const;

  /// "slice 1 of client 1 mesh(data=2)".
  std::string to_string() const;
  explicit operator bool() const { return record_ != nullptr; }

  /// For the library.
  explicit Slice(std::shared_ptr<client::SliceRecord> record) : record_(std::move(record)) {}
  const std::shared_ptr<client::SliceRecord>& record() const { return record_; }

 private:
  std::shared_ptr<client::SliceRecord> record_;
};

/// A session with a cluster. A shared handle; thread-safe. When the last handle goes, the session
/// ends: what it acquired is given back, and what is still waited for completes with kCancelled.
/// Arrays, programs and futures may be dropped before or after.
class Client {
 public:
  Client() = default;

  /// Acquires devices that fulfil `request`. Blocks until the cluster has answered.
  /// Errors: kInvalidArgument when no island could ever hold it, with what there is;
  /// kResourceExhausted when none can now; kDeviceLost when only lost devices keep it from fitting;
  /// kDeadlineExceeded.
  Result<Slice> acquire_slice(const SliceRequest& request) const;

  /// Uploads a global, row-major value and splits it by `sharding`. Returns an array at once; a
  /// refusal is the array's status(). `data` may be read as `semantics` say.
  ///
  /// Errors: kInvalidArgument for a count that does not match `shape` (both are printed), null data
  /// with a size, a sharding that does not fit or whose slice is released or not this client's;
  /// kResourceExhausted beyond `upload_bytes_max` (with WhenFull::kWait the call blocks instead),
  /// or beyond the tenant's quota of kept arrays (with kWait the array waits; see WhenFull).
  template <class T>
  Array put(std::span<const T> data, Shape shape, const NamedSharding& sharding,
            HostBufferSemantics semantics = HostBufferSemantics::kImmutableOnlyDuringCall) const {
    return put_bytes({dtype_of<T>(), std::move(shape)},
                     reinterpret_cast<const std::byte*>(data.data()), data.size(), sharding,
                     semantics);
  }
  /// A vector (rank 1), or with `shape` anything else.
  template <class T>
  Array put(std::initializer_list<T> data, const NamedSharding& sharding) const {
    return put(data, {static_cast<std::int64_t>(data.size())}, sharding);
  }
  template <class T>
  Array put(std::initializer_list<T> data, Shape shape, const NamedSharding& sharding) const {
    return put<T>(std::span<const T>(data.begin(), data.size()), std::move(shape), sharding);
  }
  template <class T>
  Array put(const std::vector<T>& data, Shape shape, const NamedSharding& sharding,
            HostBufferSemantics semantics = HostBufferSemantics::kImmutableOnlyDuringCall) const {
    return put<T>(std::span<const T>(data), std::move(shape), sharding, semantics);
  }
  /// The same for a type known at run time; `elements` says how many there are at `data`.
  Array put_bytes(TensorType type, const std::byte* data, std::size_t elements,
                  const NamedSharding& sharding, HostBufferSemantics semantics) const;

  /// Uploads what lies in `file` from byte `offset` on, row-major and as this machine orders bytes.
  ///
  /// On one machine nothing is copied, nor sent, where the shards lie one behind the other in the
  /// file (no axis but the first is split, and nothing is replicated), each a multiple of 64 bytes,
  /// as is `offset`: programs read the pages of the file, which come as they are read. Else it is a
  /// put() of its bytes. The file is not to change until the array is gone. Of one that becomes
  /// shorter nothing breaks but the runs that read what is missing: kInputLost. Errors: as put();
  /// kInvalidArgument when the file has fewer bytes; kResourceExhausted with 1,024 such arrays at
  /// once.
  Array put_file(const MappedFile& file, TensorType type, const NamedSharding& sharding,
                 std::uint64_t offset = 0) const;

  /// Captures `body`, which takes one Tensor for each of `parameters` (types of one shard), or a
  /// span of them, and returns a Tensor, or a vector, tuple, pair or array of them.
  /// Errors: kInvalidArgument with shapes and line for the first mistake in the body.
  template <class F>
  Result<Function> function(std::string name, F body, std::vector<TensorType> parameters,
                            FunctionOptions options = {}) const {
    bool takes = true;
    const TensorBody call = [&body, &takes](std::span<const Tensor> in) {
      std::vector<Tensor> out;
      takes = internal::call_with<Tensor>(body, in, out);
      return out;
    };
    return capture_function(std::move(name), call, std::move(parameters), std::move(options),
                            takes);
  }

  /// Registers C++ code of the user's own under `name`.
  Result<Function> native(std::string name, NativeFunction function) const;

  /// Registers a program that Seaway does not read, and blocks until all hosts have compiled it:
  /// its types are known then. Calls of it are like those of any other function; with several
  /// shards each operand lies on the device of its shard (Mesh::device) of the mesh it is called
  /// on, and so does each result.
  /// Errors: those of the compilers, with the host; kUnimplemented where devices have none (start
  /// hosts with `--backend pjrt:/path/plugin.so`); kInvalidArgument without code, or for options
  /// that want another number of shards; kResourceExhausted above 12 MiB; kDeadlineExceeded.
  Result<Function> foreign(std::string name, ForeignFunction function) const;

  /// Captures a program: `body` is called once, with one Traced for each of `parameters`, or a
  /// span of them, and returns a Traced, or a vector, tuple, pair or array of them. Any C++ may
  /// stand around the calls; only calls of functions become nodes.
  /// Errors: kInvalidArgument with shapes and line for the first mistake; kResourceExhausted for
  /// more than a million nodes.
  template <class F>
  Result<Program> program(std::string name, F body, std::vector<ArraySpec> parameters,
                          ProgramOptions options = {}) const {
    bool takes = true;
    const ProgramBody call = [&body, &takes](std::span<const Traced> in) {
      std::vector<Traced> out;
      takes = internal::call_with<Traced>(body, in, out);
      return out;
    };
    return capture_program(std::move(name), call, std::move(parameters), std::move(options), takes);
  }

  // Actors; include seaway/app.hpp.
  /// All hosts of the cluster, one place each, on axis "host".
  Placement hosts() const;
  /// Makes one actor of class `A` at each place: `A(Self, arguments...)`, which are copied for each
  /// of them. Blocks until all live. They end with this client. Errors: what the first constructor
  /// threw or failed with, after which none is left; kInvalidArgument for a name that is taken, a
  /// host that is not there or a mistake in A::describe; kHostLost; kResourceExhausted.
  template <class A, class... Arguments>
  Result<ActorMesh<A>> spawn(const SpawnOptions& options, Arguments... arguments) const;
  /// The mesh of that name, whoever spawned it. Blocks. Errors: kNotFound; kInvalidArgument when it
  /// is of another class.
  template <class A>
  Result<ActorMesh<A>> find(const std::string& name) const;
  /// For the library: in whose name calls of actors are made.
  Result<std::shared_ptr<internal::Caller>> caller() const;

  /// What everything that waits is waiting for, as text. Asks the cluster; blocks.
  std::string why() const;
  /// The cluster's counters and gauges, as JSON. Asks the cluster; blocks.
  Result<std::string> stats() const;
  /// Blocks until nothing of this client is in flight.
  Status drain() const;

  /// With `on`, programs run node by node in the calling thread on the reference interpreter, so
  /// that a debugger and a print in a native function work. Arrays made in one mode cannot be used
  /// in the other: kInvalidArgument.
  void set_debug(bool on);
  bool debug() const;

  /// Its number in the cluster.
  std::uint32_t id() const;
  const ClientOptions& options() const;
  /// `client 1 of tenant "default"`.
  std::string to_string() const;
  explicit operator bool() const { return owner_ != nullptr; }

  /// For the library: `owner` closes the session when the last handle goes.
  struct Owner;
  explicit Client(std::shared_ptr<Owner> owner) : owner_(std::move(owner)) {}
  client::Session& session() const;

 private:
  using ProgramBody = std::function<std::vector<Traced>(std::span<const Traced>)>;
  Result<Function> capture_function(std::string name, const TensorBody& body,
                                    std::vector<TensorType> parameters, FunctionOptions options,
                                    const bool& takes) const;
  Result<Program> capture_program(std::string name, const ProgramBody& body,
                                  std::vector<ArraySpec> parameters, ProgramOptions options,
                                  const bool& takes) const;

  std::shared_ptr<Owner> owner_;
};

/// Connects to the cluster that `spec` names, such as "embedded:islands=2,devices=4"; empty: the
/// one that $SEAWAY_CLUSTER names. An embedded cluster starts in this process, and ends with its
/// last client.
/// Errors: kInvalidArgument naming the word of `spec` that is wrong; kIslandUnavailable when nobody
/// answers.
Result<Client> connect(std::string spec = "", ClientOptions options = {});

/// A cluster in this process that several clients connect to. A shared handle; it ends when it and
/// all its clients are gone.
class Cluster {
 public:
  Cluster() = default;
  /// Starts what `spec` says, as in connect().
  static Result<Cluster> start(std::string spec = "");
  /// Errors: kInvalidArgument for a default-made cluster.
  Result<Client> connect(ClientOptions options = {}) const;

  /// "embedded cluster of 2 islands with 4 devices each".
  std::string to_string() const;

  /// For the library.
  struct State;
  explicit Cluster(std::shared_ptr<State> state) : state_(std::move(state)) {}
  const std::shared_ptr<State>& state() const { return state_; }

 private:
  std::shared_ptr<State> state_;
};

/// A client without a cluster: debug mode is on and stays on, slices are imaginary, and every
/// program runs in the calling thread. For tests and for stepping through a program.
Client debug_client(ClientOptions options = {});

}  // namespace seaway
