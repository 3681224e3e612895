# The target hiredis::hiredis, of hiredis' own package or, as Debian's has none, of its header and library. Sets
# hiredis_FOUND. Used by the build, and by the installed package.
find_package(hiredis CONFIG QUIET)
if(NOT TARGET hiredis::hiredis)
  find_path(HIREDIS_INCLUDE_DIR hiredis/hiredis.h)
  find_library(HIREDIS_LIBRARY hiredis)
  mark_as_advanced(HIREDIS_INCLUDE_DIR HIREDIS_LIBRARY)
  set(hiredis_FOUND OFF)
  if(HIREDIS_INCLUDE_DIR AND HIREDIS_LIBRARY)
    set(hiredis_FOUND ON)
    add_library(hiredis::hiredis UNKNOWN IMPORTED)
    set_target_properties(hiredis::hiredis PROPERTIES
      IMPORTED_LOCATION "${HIREDIS_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${HIREDIS_INCLUDE_DIR}")
  endif()
endif()
