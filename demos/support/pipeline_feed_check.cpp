// Lines of a file, and counts of what was read of it.

#include "demos/support/pipeline_feed_check.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <stdexcept>
#include <utility>

#include "demos/support/digits.hpp"
#include "demos/support/perceptron.hpp"
#include "seaway/model.hpp"

namespace seaway::demos {
namespace {

constexpr std::size_t kFileBytesMax = 1 << 24;
/// A reader that is at its end is looked at so often, and one that never comes there.
constexpr int kLooks = 100, kLooksMax = 1'000'000;

Status wrong(std::string what) { return {StatusCode::kDataCorruption, std::move(what)}; }

}  // namespace

DigitFile::DigitFile() {
  const auto path = find_data("digits.csv.gz");
  auto text = path.ok() ? read_gzip(*path, kFileBytesMax) : path.status();
  if (!text.ok()) throw std::runtime_error(text.status().to_string());
  text_ = *std::move(text);
  for (std::size_t begin = 0, end = 0; begin < text_.size(); begin = end) {
    end = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
    lines_.push_back(std::string_view(text_).substr(begin, end - begin));
  }
}

std::vector<std::vector<std::uint32_t>> DigitFile::batches(std::uint32_t part, std::uint32_t parts,
                                                           std::int64_t rows,
                                                           std::uint32_t epoch) const {
  const auto all = Perceptron::order();
  const std::size_t size = Perceptron::kTrain / parts;
  const auto own = std::span(all).subspan(part * size, size);
  std::vector<std::vector<std::uint32_t>> batches;
  for (const std::int32_t i : model::permutation(static_cast<std::int64_t>(size), epoch, part)) {
    if (batches.empty() || batches.back().size() == static_cast<std::size_t>(rows)) {
      batches.emplace_back();
    }
    batches.back().push_back(static_cast<std::uint32_t>(own[static_cast<std::size_t>(i)]));
  }
  return batches;
}

std::string DigitFile::text(const std::vector<std::uint32_t>& lines) const {
  std::string text;
  for (const std::uint32_t line : lines) text += lines_.at(line);
  return text;
}

FeedCheck::FeedCheck(std::uint32_t readers, std::uint32_t credit,
                     std::function<Result<std::uint32_t>(std::uint32_t reader)> made)
    : ahead_max_(credit + 1),
      made_(std::move(made)),
      consumed_(readers),
      seen_(Perceptron::order().size()) {}

Status FeedCheck::all_are_full() const {
  for (std::uint32_t reader = 0; reader < consumed_.size(); ++reader) {
    for (int looks = 0, full = 0; full < kLooks; ++looks) {
      const auto batches = made_(reader);
      if (!batches.ok()) return batches.status();
      full += *batches == ahead_max_;
      const std::string name = "reader " + std::to_string(reader);
      if (*batches > ahead_max_) return wrong(name + " overdraws its credit");
      if (looks == kLooksMax) return wrong(name + " does not use its credit up");
    }
  }
  return {};
}

Status FeedCheck::consumed(std::uint32_t reader, pipeline_feed::Batch::Reader batch) {
  if (batch.getNumber() != consumed_[reader]++) return wrong("batches are out of order");
  for (const std::uint32_t line : batch.getLines()) ++seen_.at(line);
  const auto made = made_(reader);
  if (!made.ok()) return made.status();
  const std::uint32_t ahead = *made - consumed_[reader];
  if (ahead > ahead_max_) return wrong("a reader is " + std::to_string(ahead) + " batches ahead");
  ahead_ = std::max(ahead_, ahead);
  return {};
}

Status FeedCheck::all_were_seen(std::uint32_t epochs) const {
  const auto lines = Perceptron::order();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::uint32_t wanted = i < Perceptron::kTrain ? epochs : 0;
    if (seen_[static_cast<std::size_t>(lines[i])] == wanted) continue;
    return wrong("line " + std::to_string(lines[i]) + " was not seen once in each epoch");
  }
  std::printf("readers   at most %u batches ahead: credit for %u, and one in their hands\n", ahead_,
              ahead_max_ - 1);
  std::printf("lines     each of %d was seen %u times\n", static_cast<int>(Perceptron::kTrain),
              epochs);
  return {};
}

}  // namespace seaway::demos
