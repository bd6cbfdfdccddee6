// What the fake plugin knows: things that callers have, programs under way, faults to come.

#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "unit/pjrt/fake_plugin.hpp"

namespace seaway::pjrt {

/// Something that happens once, well or not.
struct FakeSignal {
  bool is_ready = false;
  abi::ErrorCode code = abi::ErrorCode::kOk;
  std::string message;
  std::vector<std::function<void()>> waiting;  // Called without the mutex.
};
using FakeSignalPtr = std::shared_ptr<FakeSignal>;

struct FakeType {
  abi::ElementType type = abi::ElementType::kInvalid;
  std::vector<std::int64_t> sizes;

  std::size_t bytes() const {
    const bool is_byte = type == abi::ElementType::kPred || type == abi::ElementType::kU8;
    std::size_t count = is_byte ? 1 : type == abi::ElementType::kF64 ? 8 : 4;
    for (const std::int64_t size : sizes) count *= static_cast<std::size_t>(size);
    return count;
  }
  friend bool operator==(const FakeType&, const FakeType&) = default;
};

/// The bytes of a buffer; programs under way keep them beside the caller.
struct FakeData {
  FakeType type;
  int device = 0;
  std::vector<std::byte> bytes;
  const std::byte* lent = nullptr;  // Where they are the caller's own; `bytes` is how they were.
  FakeSignalPtr ready = std::make_shared<FakeSignal>();
  FakeSignalPtr released;  // Comes when nobody has it any more.
  std::function<void(FakeData&)> on_end;

  ~FakeData() {
    if (on_end) on_end(*this);
  }
  const std::byte* data() const { return lent ? lent : bytes.data(); }
};

enum class FakeKind {
  kClient,
  kDevice,
  kBuffer,
  kEvent,
  kError,
  kLoaded,
  kExecutable,
  kTransfers,
  kSerialized
};

struct FakeObject {
  explicit FakeObject(FakeKind what) : kind(what) {}
  virtual ~FakeObject() = default;
  const FakeKind kind;
};
struct FakeDevice : FakeObject {
  explicit FakeDevice(int number) : FakeObject(FakeKind::kDevice), id(number) {}
  const int id;
};
struct FakeClient : FakeObject {
  FakeClient() : FakeObject(FakeKind::kClient) {}
  std::vector<FakeDevice*> devices;
};
struct FakeError : FakeObject {
  FakeError(abi::ErrorCode what, std::string text)
      : FakeObject(FakeKind::kError), code(what), message(std::move(text)) {}
  const abi::ErrorCode code;
  const std::string message;
};
struct FakeEvent : FakeObject {
  explicit FakeEvent(FakeSignalPtr what) : FakeObject(FakeKind::kEvent), signal(std::move(what)) {}
  const FakeSignalPtr signal;
  bool is_of_lent_memory = false, is_awaited = false;
};
struct FakeBuffer : FakeObject {
  FakeBuffer(std::shared_ptr<FakeData> what, const abi::Client* whose)
      : FakeObject(FakeKind::kBuffer), data(std::move(what)), client(whose) {}
  std::shared_ptr<FakeData> data;   // Null: deleted, or donated.
  const abi::Client* const client;  // Whose programs alone may read it; null: any.
};
struct FakeTransfers : FakeObject {
  FakeTransfers() : FakeObject(FakeKind::kTransfers) {}
  std::vector<std::shared_ptr<FakeData>> promised;
};
/// A compiled program, as the text and options say.
struct FakeProgram {
  std::string text, options;
  std::vector<FakeType> parameters, outputs;
  std::vector<bool> is_donated;
  std::vector<int> devices;  // Of a gang; none: portable.
  bool is_readable = false;
};
struct FakeExecutable : FakeObject {
  FakeExecutable(FakeKind what, FakeProgram code, const abi::Client* whose = nullptr)
      : FakeObject(what), program(std::move(code)), client(whose) {}
  FakeProgram program;
  const abi::Client* const client;  // Of one that is loaded.
  std::string description;
  // What outputs are said to be.
  std::vector<abi::ElementType> types;
  std::vector<std::int64_t> sizes;
  std::vector<std::size_t> ranks;
};
struct FakeSerialized : FakeObject {
  FakeSerialized() : FakeObject(FakeKind::kSerialized) {}
  std::string bytes;
};

/// A program that is enqueued.
struct FakeRun {
  FakeProgram program;
  std::vector<std::vector<std::shared_ptr<FakeData>>> operands, outputs;  // Of each replica.
  std::vector<FakeSignalPtr> complete;
  std::size_t missing = 0;  // Operands that are not there.
};

FakeProgram read_program(const std::string& text, const std::string& options);

/// All of it. Calls of one world exclude one another, but for those that wait.
class FakeWorld final : public FakePlugin {
 public:
  void reset() override;
  void compute_by(FakeCompute compute) override;
  void share_memory(bool shares) override;
  void fail(abi::Call call, std::size_t nth, abi::ErrorCode code, std::string message) override;
  void hang(abi::Call call, std::size_t nth) override;
  void wait_for_hang() override;
  void release() override;
  void hold() override;
  void wait_for_held(std::size_t count) override;
  void complete(std::size_t index, abi::ErrorCode code) override;
  void lie_about_types() override;
  void lie_about_sizes() override;
  void describe_as(std::size_t kernels, double operations) override;
  std::size_t calls(abi::Call call) const override;
  std::size_t unfinished_max() const override;
  std::vector<int> launches() const override;
  std::vector<std::string> violations() const override;
  std::size_t alive() const override;
  void wait_for_alive(std::size_t count) override;

  // For the functions of the table; all with the mutex but the first.

  /// Counts a call; the error that it is to end with, or null. Hangs if it is to.
  abi::Error* enter(abi::Call call, std::size_t size, std::size_t wanted);
  abi::Error* error(abi::ErrorCode code, const std::string& message);
  void complain(const std::string& what) { violations_.push_back(what); }
  template <class T, class... Parts>
  T* make(Parts&&... parts) {
    auto object = std::make_unique<T>(std::forward<Parts>(parts)...);
    T* const pointer = object.get();
    alive_[pointer] = pointer->kind;
    all_.push_back(std::move(object));
    return pointer;
  }
  /// The thing behind a caller's pointer; null, and a complaint, when there is none.
  template <class T>
  T* find(const void* pointer, FakeKind kind, const char* what) {
    const auto found = alive_.find(static_cast<const FakeObject*>(pointer));
    if (found != alive_.end() && found->second == kind) {
      return static_cast<T*>(const_cast<FakeObject*>(found->first));
    }
    complain(std::string(what) + " is used that does not exist, or not any more");
    return nullptr;
  }
  void destroy(FakeObject* object) {
    alive_.erase(object);
    changed_.notify_all();
  }
  std::shared_ptr<FakeData> new_data(FakeType type, int device);
  void set(const FakeSignalPtr& signal, abi::ErrorCode code = abi::ErrorCode::kOk,
           const std::string& message = {});
  void enqueue(std::shared_ptr<FakeRun> run);
  void finish(const std::shared_ptr<FakeRun>& run, abi::ErrorCode code);
  /// Those that wait for what was set meanwhile; to be called without the mutex.
  std::vector<std::function<void()>> take_calls() { return std::exchange(calls_due_, {}); }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_, all of it.
  std::vector<std::unique_ptr<FakeObject>>
      all_;  // Those that ended as well: no address comes twice.
  std::map<const FakeObject*, FakeKind> alive_;
  std::vector<std::string> violations_;
  std::vector<int> launches_;
  FakeCompute compute_;
  std::size_t kernels_ = 0;  // Of each program,
  double operations_ = 0;    // and what it does.
  bool shares_memory_ = true, holds_ = false, lies_about_types_ = false, lies_about_sizes_ = false;
  std::size_t unfinished_ = 0, unfinished_max_ = 0;

 private:
  std::size_t count_alive() const;

  struct Fault {
    abi::Call call;
    std::size_t at = 0;  // The call of that number.
    bool hangs = false;
    abi::ErrorCode code = abi::ErrorCode::kOk;
    std::string message;
  };

  std::map<abi::Call, std::size_t> counts_;
  std::vector<Fault> faults_;
  std::size_t hanging_ = 0, releases_ = 0;
  std::deque<std::shared_ptr<FakeRun>> held_;
  std::vector<std::function<void()>> calls_due_;
};

FakeWorld& fake_world();

/// XLA's HloModuleProto, as far as it tells what a program takes and gives up.
/// In XLA's words. `kernels`, of which each does something, do `operations` in all.
std::string describe(const FakeProgram& program, std::size_t kernels, double operations);

}  // namespace seaway::pjrt
