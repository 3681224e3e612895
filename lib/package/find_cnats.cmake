# The target cnats::nats, of its header and library: the package of Debian's libnats-dev asks for libraries that it does
# not need. Sets cnats_FOUND.
find_path(CNATS_INCLUDE_DIR nats/nats.h)
find_library(CNATS_LIBRARY nats)
mark_as_advanced(CNATS_INCLUDE_DIR CNATS_LIBRARY)
set(cnats_FOUND OFF)
if(CNATS_INCLUDE_DIR AND CNATS_LIBRARY)
  set(cnats_FOUND ON)
  add_library(cnats::nats UNKNOWN IMPORTED)
  set_target_properties(cnats::nats PROPERTIES
    IMPORTED_LOCATION "${CNATS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CNATS_INCLUDE_DIR}")
endif()
