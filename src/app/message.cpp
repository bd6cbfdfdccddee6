// Frames of users' messages, and what exceptions of users' code say.

#include "seaway/app/message.hpp"

#include <kj/exception.h>

#include <algorithm>
#include <exception>
#include <string>

#include "seaway/app/task.hpp"
#include "wire/frame_builder.hpp"

namespace seaway {

std::uint32_t Attached::add(Attachment attachment) {
  attachments_.push_back(std::move(attachment));
  return static_cast<std::uint32_t>(attachments_.size() - 1);
}

}  // namespace seaway

namespace seaway::internal {

Frame freeze(capnp::MessageBuilder& builder) { return wire::freeze(builder); }

RawMessage bound(RawMessage message, const std::shared_ptr<Caller>& caller) {
  const auto is_reference = [](const Attachment& one) {
    return std::holds_alternative<Reference>(one);
  };
  if (!message.attachments ||
      std::none_of(message.attachments->begin(), message.attachments->end(), is_reference)) {
    return message;
  }
  // The others who share the message are other callers.
  auto own = std::make_shared<Attachments>(*message.attachments);
  for (Attachment& one : *own) {
    if (auto* reference = std::get_if<Reference>(&one)) reference->caller = caller;
  }
  message.attachments = std::move(own);
  return message;
}

Status status_of_message_error() {
  try {
    throw;
  } catch (const kj::Exception& error) {
    return protocol_error(std::string("a message cannot be read: ") +
                          error.getDescription().cStr());
  } catch (const std::exception& error) {
    return protocol_error(std::string("a message cannot be read: ") + error.what());
  }
}

Status status_of_user_exception() {
  try {
    throw;
  } catch (const kj::Exception& error) {
    return user_function_error(std::string("it threw: ") + error.getDescription().cStr());
  } catch (const std::exception& error) {
    return user_function_error(std::string("it threw: ") + error.what());
  } catch (...) {
    return user_function_error("it threw something that is no std::exception");
  }
}

}  // namespace seaway::internal
