// What all codecs of programs share: lists, names, enums. Used by codec*.cpp only.

#pragma once

#include <capnp/list.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.hpp"
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

using limits::of_stranger;

inline Status read_name(capnp::Text::Reader in, std::string_view what, std::string& out) {
  const std::string_view name(in.begin(), in.size());
  if (Status status = limits::check_name(name, what); !status.ok()) return of_stranger(status);
  out = name;
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

inline Status check_count(std::size_t size, const limits::Limit& limit, std::string_view what) {
  return of_stranger(limits::check(limit, size, what));
}

/// Axes as limits::check_mesh() wants them.
Status decode_axes(capnp::List<schema::MeshAxis>::Reader in, std::vector<MeshAxis>& axes);

}  // namespace seaway::program::internal
