// What all codecs of programs share: lists, names, enums. Used by codec*.cpp only.

#pragma once

#include <capnp/list.h>

#include <string>
#include <string_view>
#include <vector>

#include "program/codec.hpp"

namespace seaway::program::internal {

/// Writes numbers into a list that was made with the right size.
template <class Numbers, class List>
void fill(const Numbers& numbers, List out) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, numbers[i]);
}

/// Encodes each item of `items` into the struct of the same index.
template <class Items, class List>
void encode_each(const Items& items, List out) {
  for (unsigned i = 0; i < out.size(); ++i) encode(items[i], out[i]);
}

inline unsigned count(std::size_t size) { return static_cast<unsigned>(size); }

template <class List, class Number>
void read_numbers(List in, std::vector<Number>& out) {
  out.reserve(in.size());
  for (const auto number : in) out.push_back(number);
}

inline Status read_name(capnp::Text::Reader in, std::string_view what, std::string& out) {
  if (in.size() > kNameBytesMax) {
    return protocol_error(std::string(what) + " has " + std::to_string(in.size()) +
                          " bytes; the limit is " + std::to_string(kNameBytesMax));
  }
  out.assign(in.begin(), in.size());
  // Whoever passes it on as a C string would cut it there.
  if (out.find('\0') != std::string::npos) {
    return protocol_error(std::string(what) + " has a zero byte");
  }
  return {};
}

/// An enum whose last value is `last`.
template <class Enum>
Status read_enum(unsigned number, Enum last, std::string_view what, Enum& out) {
  if (number > static_cast<unsigned>(last)) {
    return protocol_error(std::string(what) + " " + std::to_string(number) +
                          " does not exist; the last one is " +
                          std::to_string(static_cast<unsigned>(last)));
  }
  out = static_cast<Enum>(number);
  return {};
}

inline Status check_index(std::uint64_t index, std::size_t size, std::string_view what) {
  if (index < size) return {};
  return protocol_error(std::string(what) + " " + std::to_string(index) + " of " +
                        std::to_string(size) + " does not exist");
}

inline Status check_count(std::size_t size, std::size_t max, std::string_view what) {
  if (size <= max) return {};
  return protocol_error(std::to_string(size) + " " + std::string(what) + "; the limit is " +
                        std::to_string(max));
}

template <class List, class Item>
Status decode_each(List in, std::vector<Item>& out) {
  out.reserve(in.size());
  for (const auto item : in) {
    out.emplace_back();
    if (Status status = decode(item, out.back()); !status.ok()) return status;
  }
  return {};
}

/// Axes with sizes >= 1 whose product is at most kDevicesMax.
Status decode_axes(capnp::List<schema::MeshAxis>::Reader in, std::vector<MeshAxis>& axes);

}  // namespace seaway::program::internal
