# The target cnats::nats, of its header and library: the CMake package in Debian's libnats-dev names a library that is
# not in there. A static library needs OpenSSL. Sets cnats_FOUND. Used by the build, and by the installed package.
find_path(CNATS_INCLUDE_DIR nats/nats.h)
find_library(CNATS_LIBRARY NAMES nats natsd nats_static nats_staticd NAMES_PER_DIR)
mark_as_advanced(CNATS_INCLUDE_DIR CNATS_LIBRARY)
set(cnats_FOUND OFF)
if(CNATS_INCLUDE_DIR AND CNATS_LIBRARY)
  set(cnats_FOUND ON)
  if(NOT TARGET cnats::nats)
    add_library(cnats::nats UNKNOWN IMPORTED)
    set_target_properties(cnats::nats PROPERTIES
      IMPORTED_LOCATION "${CNATS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${CNATS_INCLUDE_DIR}")
    if(CNATS_LIBRARY MATCHES "nats_static")
      set_property(TARGET cnats::nats PROPERTY INTERFACE_LINK_LIBRARIES OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
    endif()
  endif()
endif()
