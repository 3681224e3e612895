# What `cmake --install` copies, in four components: the shared library with the programs and files that it needs at run
# time, the shared library for workers in C++, what a program is built with, and the Python SDK. The parts have components
# of their own.
include(CMakePackageConfigHelpers)

set(skep_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/skep)

install(TARGETS skep EXPORT skep-targets
  LIBRARY COMPONENT skep_runtime NAMELINK_COMPONENT skep_development
  ARCHIVE COMPONENT skep_development
  FILE_SET HEADERS COMPONENT skep_development)
install(TARGETS skep_worker EXPORT skep-worker-targets
  LIBRARY COMPONENT skep_worker NAMELINK_COMPONENT skep_development
  ARCHIVE COMPONENT skep_development
  FILE_SET HEADERS COMPONENT skep_development)
# Libraries beside it, each a component of its own.
foreach(part testing redis prometheus otlp boost_log admin)
  if(TARGET skep_${part})
    install(TARGETS skep_${part} EXPORT skep-${part}-targets COMPONENT skep_${part}
      FILE_SET HEADERS COMPONENT skep_${part})
    install(EXPORT skep-${part}-targets NAMESPACE skep:: DESTINATION ${skep_cmake_dir} COMPONENT skep_${part})
  endif()
endforeach()
if(TARGET skep_redis)
  install(FILES package/find_hiredis.cmake DESTINATION ${skep_cmake_dir} COMPONENT skep_redis)
endif()
# The one with a Debian package: at run time, and what a program is built with.
if(TARGET skep_remote)
  install(TARGETS skep_remote EXPORT skep-remote-targets
    LIBRARY COMPONENT skep_remote NAMELINK_COMPONENT skep_remote_development
    ARCHIVE COMPONENT skep_remote_development
    FILE_SET HEADERS COMPONENT skep_remote_development)
  install(EXPORT skep-remote-targets NAMESPACE skep:: DESTINATION ${skep_cmake_dir} COMPONENT skep_remote_development)
  install(FILES package/find_cnats.cmake DESTINATION ${skep_cmake_dir} COMPONENT skep_remote_development)
endif()
install(TARGETS skep_guard DESTINATION ${skep_guard_dir} COMPONENT skep_runtime)
install(TARGETS skep_command DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT skep_development)
install(FILES core/pool_config.schema.json pool/manager_config.schema.json DESTINATION ${skep_data_dir} COMPONENT skep_development)
install(DIRECTORY python/skep DESTINATION ${skep_sdk_dir} COMPONENT skep_python PATTERN "__pycache__" EXCLUDE)
if(TARGET skep_python_loop)
  install(TARGETS skep_python_loop LIBRARY DESTINATION ${skep_sdk_dir}/skep COMPONENT skep_python)
endif()

set(skep_parts_are_static OFF)
set(skep_pc_flags -pthread)
if(NOT skep_is_shared)
  set(skep_parts_are_static ON)
  string(APPEND skep_pc_flags " -DSKEP_STATIC_DEFINE")
endif()

install(EXPORT skep-targets NAMESPACE skep:: DESTINATION ${skep_cmake_dir} COMPONENT skep_development)
install(EXPORT skep-worker-targets NAMESPACE skep:: DESTINATION ${skep_cmake_dir} COMPONENT skep_development)
configure_package_config_file(package/skep-config.cmake.in skep-config.cmake INSTALL_DESTINATION ${skep_cmake_dir})
write_basic_package_version_file(skep-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH skep_prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
function(configure_pc_file name description libs)
  configure_file(package/skep.pc.in ${name}.pc @ONLY)
endfunction()
configure_pc_file(skep "${PROJECT_DESCRIPTION}" "-lskep -lboost_json")
configure_pc_file(skep-worker "Workers in C++ for skep" "-lskep_worker -lboost_json")
if(TARGET skep_remote)
  set(libraries_of_remote "-lskep_remote -lskep -lboost_json")
  if(NOT skep_is_shared)
    string(APPEND libraries_of_remote " -lnats -lcrypto")
  endif()
  configure_pc_file(skep-remote "Calls on other machines for skep" "${libraries_of_remote}")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skep-remote.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT skep_remote_development)
endif()
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skep-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/skep-config-version.cmake
  DESTINATION ${skep_cmake_dir} COMPONENT skep_development)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/skep.pc ${CMAKE_CURRENT_BINARY_DIR}/skep-worker.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT skep_development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT skep_development)

# The guides and the samples, in the folders that their links lead to; the headers are where they are installed. Conan's
# copy of the sources has none.
if(EXISTS ${PROJECT_SOURCE_DIR}/samples)
  file(GLOB_RECURSE guides RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/*.md)
  list(APPEND guides README.md CHANGELOG.md .github/CONTRIBUTING.md conan/README.md
    lib/core/pool_config.schema.json lib/pool/manager_config.schema.json
    test/bench/README.md test/conformance/README.md test/simulation/README.md test/docs/snippets/own_context.cpp)
  foreach(guide IN LISTS guides)
    cmake_path(GET guide PARENT_PATH folder)
    install(FILES ${PROJECT_SOURCE_DIR}/${guide} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT skep_development)
  endforeach()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/samples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT skep_development
    USE_SOURCE_PERMISSIONS PATTERN "__pycache__" EXCLUDE)
  file(RELATIVE_PATH headers_from_guides /${CMAKE_INSTALL_DOCDIR} /${CMAKE_INSTALL_INCLUDEDIR})
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/guides)
  file(CREATE_LINK ${headers_from_guides} ${CMAKE_CURRENT_BINARY_DIR}/guides/include SYMBOLIC)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/guides/include DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT skep_development)
endif()
