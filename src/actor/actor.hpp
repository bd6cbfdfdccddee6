// Actor, Address: the actor layer that every role is written on. CAF stays behind it.

#pragma once

#include <memory>
#include <string>

#include "base/frame.hpp"

namespace seaway::actor {

/// One actor: state that only its own handlers touch. Handlers run one at a time on the engine's
/// control thread; they are short, never wait and never throw.
class Actor {
 public:
  virtual ~Actor() = default;

  /// Handles one message. Frames from one sender arrive in the order in which they were sent.
  virtual void receive(const Frame& frame) = 0;

  /// Called when the mailbox has run empty after at least one message: the moment to send what was
  /// gathered for others, so that records that are ready together share a frame.
  virtual void idle() {}
};

/// Where an actor is reached. A value; thread-safe. Sending to an actor that has ended is no error:
/// the frame is dropped, and whoever waits for an answer has a deadline.
class Address {
 public:
  class Cell;  // The engine's side.

  Address() = default;
  explicit Address(std::shared_ptr<const Cell> cell) : cell_(std::move(cell)) {}

  /// Appends `frame` to the actor's mailbox. Any thread; never blocks.
  void send(Frame frame) const;

  explicit operator bool() const { return cell_ != nullptr; }

 private:
  std::shared_ptr<const Cell> cell_;
};

}  // namespace seaway::actor
