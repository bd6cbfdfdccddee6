// Errors and events.

#include "front/calls.hpp"

namespace seaway::front {
namespace {

void error_destroy(abi::ErrorDestroy* args) { delete of(args->error); }

void error_message(abi::ErrorMessage* args) {
  const FrontError& error = *of(const_cast<abi::Error*>(args->error));
  args->message = error.text.data();
  args->message_size = error.text.size();
}

Status error_get_code(abi::ErrorGetCode& args) {
  args.code = of(const_cast<abi::Error*>(args.error))->code;
  return {};
}

Status event_destroy(abi::EventDestroy& args) {
  delete of(args.event);
  return {};
}

Status event_is_ready(abi::EventIsReady& args) {
  args.is_ready = of(args.event)->future.ready();
  return {};
}

Status event_error(abi::EventError& args) {
  const FrontEvent& event = *of(args.event);
  if (!event.future.ready()) return invalid_argument("the event has not come: await it first");
  return event.future.get().status();
}

Status event_await(abi::EventAwait& args) {
  const FrontEvent& event = *of(args.event);
  if (event.recording) event.recording->settle();
  return event.future.get().status();
}

/// Frameworks wait by means of their own: until then this thread is of use to the cluster that it
/// has in its process.
void help(const internal::FutureState<void>& state) {
  if (state.waiter()) state.waiter()->help([&state] { return state.ready(); });
}

/// In the thread that completes it, usually the cluster's control thread; in this one if it has
/// come already.
Status event_on_ready(abi::EventOnReady& args) {
  const FrontEvent& event = *of(args.event);
  // The callback may destroy the event.
  const bool is_awaited = event.is_awaited;
  const auto state = event.future.state();
  (void)event.future.then(
      inline_executor(), [callback = args.callback, user = args.user](const Result<void>& outcome) {
        callback(outcome.ok() ? nullptr : new_error(outcome.status()), user);
      });
  if (is_awaited && !state->ready()) help(*state);
  return {};
}

}  // namespace

void offer_events(Table& table) {
  const auto set = [&table](abi::Call call, auto* function) {
    table.calls[static_cast<std::size_t>(call)] = reinterpret_cast<void (*)()>(function);
  };
  set(abi::ErrorDestroy::kCall, &error_destroy);
  set(abi::ErrorMessage::kCall, &error_message);
  table.offer<error_get_code>();
  table.offer<event_destroy>();
  table.offer<event_is_ready>();
  table.offer<event_error>();
  table.offer<event_await>();
  table.offer<event_on_ready>();
}

}  // namespace seaway::front
