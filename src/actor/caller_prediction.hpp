// CallerPrediction: whether the thread that speaks now will wait for an answer at once.

#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

namespace seaway::actor {

/// A client that calls and waits in turns runs the actors itself while it waits, so waking the
/// control thread for what it says is in vain, and costs more than the call. This class learns from
/// one client's last calls whether the next word will be followed by a wait. A wrong guess, which
/// may be no more than a client that lost its core for a moment, delays that word by one nap of the
/// control thread; it outweighs kMissCost good ones, so that at worst one nap is lost in so many
/// calls.
///
/// A value; whoever owns it guards it. No call costs more than a few nanoseconds.
class CallerPrediction {
 public:
  /// `thread` says something while nothing runs: true when it will probably wait before
  /// kPatienceNs are over. Only its first word since its last wait is trusted.
  bool spoke(std::thread::id thread, std::uint64_t now_ns) {
    if (thread != caller_) {
      caller_ = thread;
      score_ = 0;
      spoke_ns_ = 0;
    }
    const bool is_first = spoke_ns_ == 0;
    if (is_first) {
      spoke_ns_ = now_ns;
      patience_ns_ = is_likely() ? kPatienceNs : kAnnouncedNs;
    }
    return is_first && is_likely();
  }

  /// `thread` waits now.
  void waits(std::thread::id thread, std::uint64_t now_ns) {
    if (thread != caller_) return;
    last_ns_ = now_ns;
    // What was said while somebody was awake tells nothing.
    if (spoke_ns_ == 0) return;
    if (now_ns - spoke_ns_ < patience_ns_) {
      score_ = std::min(score_ + 1, kScoreMax);
    } else if (score_ > 0) {
      score_ = std::max(score_ - kLateCost, 0);
    }
    spoke_ns_ = 0;
  }

  /// What was said has been left lying for kPatienceNs.
  void missed() {
    score_ = std::max(score_ - kMissCost, -kMissCost);
    spoke_ns_ = 0;
  }

  /// Whether the control thread has to look by itself whether something was left lying.
  bool is_likely() const { return score_ >= kScoreLikely; }
  /// Nobody has called for a while: the next call is announced to the control thread again.
  void forget_if_quiet(std::uint64_t now_ns) {
    if (now_ns - last_ns_ > kQuietNs) score_ = 0;
  }

  static constexpr std::uint64_t kPatienceNs = 50'000;
  /// The same after a word that woke the control thread: that may have taken the caller's core.
  static constexpr std::uint64_t kAnnouncedNs = 100'000;
  static constexpr std::uint64_t kQuietNs = 2'000'000;
  static constexpr int kScoreLikely = 16, kScoreMax = 512, kLateCost = 4, kMissCost = 128;

 private:
  std::thread::id caller_;
  std::uint64_t spoke_ns_ = 0;     // When its first word since its last wait was; 0: none yet.
  std::uint64_t last_ns_ = 0;      // Its last wait.
  std::uint64_t patience_ns_ = 0;  // How soon behind that the wait is prompt.
  int score_ = 0;                  // Less than 0 after a miss.
};

}  // namespace seaway::actor
