// Every place has a function.

#include "front/table.hpp"

#include <cstddef>
#include <string>
#include <utility>

#include "front/calls.hpp"

namespace seaway::front {
namespace {

template <std::size_t kPlace>
abi::Error* not_offered(void*) {
  return new_error(unimplemented("call " + std::to_string(kPlace) +
                                 " of the PJRT interface is none that Seaway's plugin offers"));
}

template <std::size_t... kPlaces>
void offer_refusals(Table& table, std::index_sequence<kPlaces...>) {
  ((table.calls[kPlaces] = reinterpret_cast<void (*)()>(&not_offered<kPlaces>)), ...);
}

Table make_table() {
  Table table;
  table.head.struct_size = sizeof(Table);
  table.version.head.struct_size = abi::size_of<abi::Version>();
  table.version.major = abi::kMajor;
  table.version.minor = abi::kMinorOffered;
  offer_refusals(table, std::make_index_sequence<abi::kCallsOffered>());
  offer_events(table);
  offer_client(table);
  offer_devices(table);
  offer_executables(table);
  offer_buffers(table);
  return table;
}

}  // namespace

const abi::Api* plugin_table() {
  static const Table table = make_table();
  return reinterpret_cast<const abi::Api*>(&table);
}

}  // namespace seaway::front
