// CallerPrediction: whether the thread that speaks now will wait for an answer at once.

#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

namespace seaway::actor {

/// A client that calls and waits in turns runs the actors itself while it waits, so waking the
/// control thread for what it says is in vain, and costs more than the call. This class learns from
/// one client's last calls whether the next word will be followed by a wait. A wrong guess delays
/// that word by one nap of the control thread, and makes the next guesses rarer.
///
/// A value; whoever owns it guards it. No call costs more than a few nanoseconds.
class CallerPrediction {
 public:
  /// `thread` says something while nothing runs: true when it will probably wait before
  /// kPatienceNs are over. Only its first word since its last wait is trusted.
  bool spoke(std::thread::id thread, std::uint64_t now_ns) {
    if (thread != caller_) {
      caller_ = thread;
      calls_ = 0;
      spoke_ns_ = 0;
    }
    const bool is_first = spoke_ns_ == 0;
    if (is_first) spoke_ns_ = now_ns;
    return is_first && is_likely();
  }

  /// `thread` waits now.
  void waits(std::thread::id thread, std::uint64_t now_ns) {
    if (thread != caller_) return;
    const bool is_prompt = spoke_ns_ > 0 && now_ns - spoke_ns_ < kPatienceNs;
    calls_ = is_prompt ? calls_ + 1 : 0;
    spoke_ns_ = 0;
    last_ns_ = now_ns;
    // After a long run of good guesses an old wrong one is forgotten.
    if (calls_ >= 64 * needed_) needed_ = std::max(kCallsMin, needed_ / 2);
  }

  /// What was said has been left lying for kPatienceNs.
  void missed() {
    calls_ = 0;
    spoke_ns_ = 0;
    needed_ = std::min(needed_ * 2, kCallsMax);
  }

  /// Whether the control thread has to look by itself whether something was left lying.
  bool is_likely() const { return calls_ >= needed_; }
  /// Nobody has called for a while: the next call is announced to the control thread again.
  void forget_if_quiet(std::uint64_t now_ns) {
    if (now_ns - last_ns_ > kQuietNs) calls_ = 0;
  }

  static constexpr std::uint64_t kPatienceNs = 20'000;
  static constexpr std::uint64_t kQuietNs = 2'000'000;
  static constexpr std::uint32_t kCallsMin = 16, kCallsMax = 1 << 20;

 private:
  std::thread::id caller_;
  std::uint64_t spoke_ns_ = 0;  // When its first word since its last wait was; 0: none yet.
  std::uint64_t last_ns_ = 0;   // Its last wait.
  std::uint32_t calls_ = 0;     // Prompt ones in a row.
  std::uint32_t needed_ = kCallsMin;
};

}  // namespace seaway::actor
