// Where exceptions over malformed frames end.

#include "wire/frame_reader.hpp"

#include <kj/exception.h>

namespace seaway::wire::internal {

Status status_of_exception() {
  try {
    throw;
  } catch (const kj::Exception& exception) {
    return protocol_error(std::string("malformed frame: ") + exception.getDescription().cStr());
  } catch (const std::exception& exception) {
    return protocol_error(std::string("malformed frame: ") + exception.what());
  } catch (...) {
    return protocol_error("malformed frame: unknown exception");
  }
}

}  // namespace seaway::wire::internal
