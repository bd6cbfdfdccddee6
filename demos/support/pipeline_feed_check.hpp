// The file of the pipeline_feed demo, line by line, and what must hold of those who read it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "demos/pipeline_feed.capnp.h"
#include "seaway/app.hpp"

namespace seaway::demos {

/// The digits as the text they are in. A resource.
class DigitFile {
 public:
  /// Throws std::runtime_error when there is none.
  DigitFile();
  DigitFile(const DigitFile&) = delete;
  DigitFile& operator=(const DigitFile&) = delete;

  /// The lines of one of `parts` equal parts of those to learn from, in batches of `rows`; in
  /// another order in each epoch.
  std::vector<std::vector<std::uint32_t>> batches(std::uint32_t part, std::uint32_t parts,
                                                  std::int64_t rows, std::uint32_t epoch) const;
  std::string text(const std::vector<std::uint32_t>& lines) const;

 private:
  std::string text_;
  std::vector<std::string_view> lines_;  // Of text_.
};

/// Numbers as they travel beside a message, never copied through a mailbox of this process.
template <class T>
Bytes to_bytes(const std::vector<T>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return Bytes(std::vector<std::byte>(bytes.begin(), bytes.end()));
}
template <class T>
std::vector<T> from_bytes(const Bytes& bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.span().data(), numbers.size() * sizeof(T));
  return numbers;
}

/// Watches readers from where their batches are consumed. One thread.
class FeedCheck {
 public:
  /// `made` asks a reader how many batches it has made; its errors are those of all calls here.
  FeedCheck(std::uint32_t readers, std::uint32_t credit,
            std::function<Result<std::uint32_t>(std::uint32_t reader)> made);

  /// While nobody consumes, readers come as far as their credit, and then no further.
  Status all_are_full() const;
  /// A batch of a reader was consumed: it was the next one, and the reader is not too far ahead.
  Status consumed(std::uint32_t reader, pipeline_feed::Batch::Reader batch);
  /// Each line to learn from was seen once in each epoch, and no other one. Prints how far readers
  /// were ahead at most.
  Status all_were_seen(std::uint32_t epochs) const;

 private:
  const std::uint32_t ahead_max_;  // One more than there is credit for is in a reader's hands.
  const std::function<Result<std::uint32_t>(std::uint32_t reader)> made_;
  std::vector<std::uint32_t> consumed_;  // Of each reader.
  std::vector<std::uint32_t> seen_;      // Each line of the file.
  std::uint32_t ahead_ = 0;
};

}  // namespace seaway::demos
