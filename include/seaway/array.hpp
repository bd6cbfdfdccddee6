// Array: a handle to a sharded value that may not exist yet.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "seaway/future.hpp"
#include "seaway/sharding.hpp"
#include "seaway/tensor.hpp"

namespace seaway {

namespace client {
struct ArrayCell;
struct Record;
class Session;
}  // namespace client

/// What `put` may assume about the user's memory (IFRT's names).
enum class HostBufferSemantics : std::uint8_t {
  kImmutableOnlyDuringCall,          // Copied before the call returns.
  kImmutableUntilTransferCompletes,  // Unchanged until the array is ready().
  // Unchanged until the array is deleted or donated and the runs that read it have ended. May be
  // read where it lies, and is never written to.
  kZeroCopy,
};
/// "immutable until transfer completes".
std::string_view to_string(HostBufferSemantics semantics);

/// What becomes of an input (IFRT's names).
enum class ArrayCopySemantics : std::uint8_t {
  kAlwaysCopy,   // The result shares no memory with the input.
  kReuseInput,   // The result may be the input itself when nothing changes.
  kDonateInput,  // The input is used up; its memory may become the result's.
};
/// "always copy".
std::string_view to_string(ArrayCopySemantics semantics);

/// How elements of `T` lie in host memory: as themselves, bool as one byte each.
template <class T>
using HostElement = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

namespace internal {

/// Is told once that a fetched value has been written, or why not.
class FetchSink {
 public:
  virtual ~FetchSink() = default;
  virtual void fetched(Status status, Wake wake) = 0;
  std::weak_ptr<client::Session> session;
  std::uint64_t request = 0;
};
void cancel_fetch(FetchSink& sink);

/// A fetch into memory of the user's.
class SpanFetch final : public FutureState<void>, public FetchSink {
 public:
  using FutureState<void>::FutureState;
  void fetched(Status status, Wake wake) override {
    complete(Result<void>(std::move(status)), wake);
  }
  void cancel() override { cancel_fetch(*this); }
};

/// A fetch into a vector that the future hands out.
template <class T>
class VectorFetch final : public FutureState<std::vector<T>>, public FetchSink {
 public:
  /// Throws std::bad_alloc.
  VectorFetch(std::shared_ptr<Waiter> waiter, std::size_t size)
      : FutureState<std::vector<T>>(std::move(waiter)), values_(size) {}
  std::span<std::byte> bytes() { return std::as_writable_bytes(std::span(values_)); }
  void fetched(Status status, Wake wake) override {
    if (status.ok()) {
      this->complete(std::move(values_), wake);
    } else {
      this->complete(std::move(status), wake);
    }
  }
  void cancel() override { cancel_fetch(*this); }

 private:
  std::vector<T> values_;
};

}  // namespace internal

/// A logical array: type, sharding, and a value that is made by a run or uploaded by `put`.
///
/// A shared handle: copies name the same array, and when the last one is dropped the cluster may
/// free it. Thread-safe. An array may carry an error instead of a value: status() waits for the
/// outcome and says so, and whatever is made from it fails likewise. About 100 bytes each.
class Array {
 public:
  Array() = default;
  Array(const Array& other);
  Array(Array&& other) noexcept : cell_(std::exchange(other.cell_, nullptr)) {}
  Array& operator=(Array other) noexcept {
    std::swap(cell_, other.cell_);
    return *this;
  }
  ~Array();

  /// False for a default-made handle; every other call on one answers kInvalidArgument or empty.
  explicit operator bool() const { return cell_ != nullptr; }

  /// Its number in the cluster, for messages and `seaway why`; 0 when it was refused.
  std::uint64_t id() const;
  /// Global type and sharding; known before the value.
  const ArraySpec& spec() const;
  const TensorType& type() const { return spec().type; }
  const NamedSharding& sharding() const { return spec().sharding; }

  /// Completes when the value exists, or with the reason why it never will.
  Future<void> ready() const;
  /// Blocks until the outcome is known and returns it.
  Status status() const;
  /// The error known so far, without waiting: OK while the outcome is open.
  Status error() const;

  /// Copies the whole value to the host, row-major and unsharded. Waits for it to be computed; does
  /// not consume it. `T` is the array's element type (bool arrives as std::uint8_t), else
  /// kInvalidArgument. kResourceExhausted when a device has no room for a shard of it, or this
  /// process none for the value.
  template <class T>
  Future<std::vector<HostElement<T>>> to_host() const {
    using Element = HostElement<T>;
    if (Status status = check_fetch(dtype_of<T>()); !status.ok()) {
      return Future<std::vector<Element>>::of(std::move(status));
    }
    std::shared_ptr<internal::VectorFetch<Element>> fetch;
    try {
      fetch = std::make_shared<internal::VectorFetch<Element>>(
          waiter(), static_cast<std::size_t>(type().elements()));
    } catch (const std::bad_alloc&) {
      return Future<std::vector<Element>>::of(no_memory());
    }
    start_fetch(fetch, fetch->bytes());
    return Future<std::vector<Element>>(std::move(fetch));
  }
  /// The same, into memory of the caller's: `target` has type().bytes() bytes and stays valid until
  /// the future is complete; on error its content is undefined.
  Future<void> to_host(std::span<std::byte> target) const;

  /// The same value under another sharding, on this or another slice: a run of one identity node,
  /// enqueued like any other. kReuseInput returns this array when the sharding is the same.
  /// Errors: kInvalidArgument when the sharding does not fit; kResourceExhausted as for execute().
  Result<Array> reshard(const NamedSharding& target,
                        ArrayCopySemantics semantics = ArrayCopySemantics::kAlwaysCopy,
                        Site site = Site::current()) const;

  /// Lets go of the value now, for all handles. Runs already enqueued still read it.
  void delete_now();
  /// True after delete_now() or donation.
  bool is_deleted() const;

  /// What it waits for, down to the root, as text. Asks the cluster; blocks.
  std::string why() const;
  /// `array 3 of client 1 f32[2] as P("data") over mesh(data=2)`.
  std::string to_string() const;

  friend bool operator==(const Array& a, const Array& b) { return a.cell_ == b.cell_; }

  /// For the library: takes over one handle of `cell`.
  explicit Array(client::ArrayCell* cell) : cell_(cell) {}
  client::ArrayCell* cell() const { return cell_; }

 private:
  Status check_fetch(DType dtype) const;
  Status no_memory() const;
  std::shared_ptr<internal::Waiter> waiter() const;
  void start_fetch(std::shared_ptr<internal::FetchSink> sink, std::span<std::byte> target) const;

  client::ArrayCell* cell_ = nullptr;
};

}  // namespace seaway
