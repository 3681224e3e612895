# What `cmake --install` copies, in three components: the shared library with the programs and files that it needs at
# run time, what a program is built with, and the Python SDK.
include(CMakePackageConfigHelpers)

set(skep_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/skep)

install(TARGETS skep EXPORT skep-targets
  LIBRARY COMPONENT skep_runtime NAMELINK_COMPONENT skep_development
  ARCHIVE COMPONENT skep_development
  FILE_SET HEADERS COMPONENT skep_development)
# Libraries beside it, each a component of its own.
foreach(part redis prometheus otlp admin)
  if(TARGET skep_${part})
    install(TARGETS skep_${part} EXPORT skep-${part}-targets COMPONENT skep_${part}
      FILE_SET HEADERS COMPONENT skep_${part})
    install(EXPORT skep-${part}-targets NAMESPACE skep:: DESTINATION ${skep_cmake_dir} COMPONENT skep_${part})
  endif()
endforeach()
if(TARGET skep_redis)
  install(FILES package/find_hiredis.cmake DESTINATION ${skep_cmake_dir} COMPONENT skep_redis)
endif()
install(TARGETS skep_guard DESTINATION ${skep_guard_dir} COMPONENT skep_runtime)
install(TARGETS skep_command DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT skep_development)
install(FILES core/pool_config.schema.json pool/manager_config.schema.json DESTINATION ${skep_data_dir} COMPONENT skep_development)
install(DIRECTORY python/skep DESTINATION ${skep_sdk_dir} COMPONENT skep_python PATTERN "__pycache__" EXCLUDE)

# What a program that links the library has to find as well.
set(skep_boost_components json)
set(skep_pc_libs -lboost_json)
set(skep_pc_flags -pthread)
if(NOT skep_is_shared)
  list(APPEND skep_boost_components log)
  list(APPEND skep_pc_flags -DSKEP_STATIC_DEFINE)
  list(APPEND skep_pc_libs -lboost_log -lboost_thread -lboost_filesystem)
endif()
list(JOIN skep_boost_components " " skep_boost_components)
list(JOIN skep_pc_libs " " skep_pc_libs)
list(JOIN skep_pc_flags " " skep_pc_flags)

install(EXPORT skep-targets NAMESPACE skep:: DESTINATION ${skep_cmake_dir} COMPONENT skep_development)
configure_package_config_file(package/skep-config.cmake.in skep-config.cmake INSTALL_DESTINATION ${skep_cmake_dir})
write_basic_package_version_file(skep-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH skep_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(package/skep.pc.in skep.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skep-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/skep-config-version.cmake
  DESTINATION ${skep_cmake_dir} COMPONENT skep_development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skep.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT skep_development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT skep_development)
