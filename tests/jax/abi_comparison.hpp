// How Seaway's words for an interface are compared with a header's: sizes, places and numbers.

#pragma once

#define SAME_NUMBER(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
#define SAME_CALL(ours, theirs)                                                                 \
  static_assert(offsetof(Api, calls) + sizeof(void*) * static_cast<std::size_t>(ours::kCall) == \
                offsetof(PJRT_Api, theirs))
#define SAME_SIZE(ours, theirs) static_assert(size_of<ours>() == theirs##_STRUCT_SIZE)
#define SAME_FIELD(ours, field, theirs, their_field)                      \
  static_assert(offsetof(ours, field) == offsetof(theirs, their_field) && \
                sizeof(ours::field) == sizeof(theirs::their_field))
