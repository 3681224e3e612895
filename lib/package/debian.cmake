# Debian packages, by `cpack`; for the preset "deb".
if(NOT skep_is_shared OR NOT CMAKE_INSTALL_PREFIX STREQUAL /usr)
  message(FATAL_ERROR "Debian packages need BUILD_SHARED_LIBS and the prefix /usr")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The skep authors")
set(CPACK_PACKAGE_CONTACT "The skep authors <skep@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL skep_runtime skep_worker skep_development skep_python)
if(TARGET skep_remote)
  list(APPEND CPACK_COMPONENTS_ALL skep_remote skep_remote_development)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_CURRENT_BINARY_DIR}) # one package's library needs another's

set(runtime_package libskep${skep_abi})
set(worker_package libskep-worker${skep_abi})
set(remote_package libskep-remote${skep_abi})
string(REGEX MATCH "^[0-9]+\\.[0-9]+" boost "${Boost_VERSION}")

set(CPACK_COMPONENT_SKEP_RUNTIME_DESCRIPTION
  "A pool of external worker processes for async services on Boost.Asio
 Shared library, and the program that each pool runs beside its workers.")
set(CPACK_DEBIAN_SKEP_RUNTIME_PACKAGE_NAME ${runtime_package})
set(CPACK_DEBIAN_SKEP_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SKEP_RUNTIME_PACKAGE_RECOMMENDS "python3-skep (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_SKEP_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/triggers)
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/triggers "activate-noawait ldconfig\n")

set(CPACK_COMPONENT_SKEP_WORKER_DESCRIPTION
  "Workers in C++ for skep, a pool of external worker processes
 Shared library for the programs of workers; they need no other package of skep.")
set(CPACK_DEBIAN_SKEP_WORKER_PACKAGE_NAME ${worker_package})
set(CPACK_DEBIAN_SKEP_WORKER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SKEP_WORKER_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/triggers)

set(CPACK_COMPONENT_SKEP_DEVELOPMENT_DESCRIPTION
  "Development files of skep, a pool of external worker processes
 Headers, CMake package and pkg-config files.")
set(CPACK_DEBIAN_SKEP_DEVELOPMENT_PACKAGE_NAME libskep-dev)
set(CPACK_DEBIAN_SKEP_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_SKEP_DEVELOPMENT_PACKAGE_DEPENDS
  "${runtime_package} (= ${PROJECT_VERSION}), ${worker_package} (= ${PROJECT_VERSION}), libboost${boost}-dev, libboost-json${boost}-dev")
if(TARGET skep_remote)
  string(APPEND CPACK_DEBIAN_SKEP_DEVELOPMENT_PACKAGE_DEPENDS ", ${remote_package} (= ${PROJECT_VERSION})") # for `skep serve`
endif()

# Of its own, so that a service without nodes does not need cnats. A program that links it does not need libnats-dev.
set(CPACK_COMPONENT_SKEP_REMOTE_DESCRIPTION
  "Calls on other machines for skep, a pool of external worker processes
 Shared library for the clients and the nodes; they meet at a NATS server.")
set(CPACK_DEBIAN_SKEP_REMOTE_PACKAGE_NAME ${remote_package})
set(CPACK_DEBIAN_SKEP_REMOTE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SKEP_REMOTE_PACKAGE_DEPENDS "${runtime_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_SKEP_REMOTE_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_BINARY_DIR}/triggers)

set(CPACK_COMPONENT_SKEP_REMOTE_DEVELOPMENT_DESCRIPTION
  "Development files of skep's calls on other machines
 Headers, CMake package and pkg-config file.")
set(CPACK_DEBIAN_SKEP_REMOTE_DEVELOPMENT_PACKAGE_NAME libskep-remote-dev)
set(CPACK_DEBIAN_SKEP_REMOTE_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_SKEP_REMOTE_DEVELOPMENT_PACKAGE_DEPENDS
  "${remote_package} (= ${PROJECT_VERSION}), libskep-dev (= ${PROJECT_VERSION})")

set(CPACK_COMPONENT_SKEP_PYTHON_DESCRIPTION
  "Python workers for skep, a pool of external worker processes
 What a worker script imports; programs that use the library find it by themselves.")
set(CPACK_DEBIAN_SKEP_PYTHON_PACKAGE_NAME python3-skep)
set(CPACK_DEBIAN_SKEP_PYTHON_PACKAGE_SECTION python)
if(NOT TARGET skep_python_loop)
  set(CPACK_DEBIAN_SKEP_PYTHON_PACKAGE_ARCHITECTURE all)
endif()
set(CPACK_DEBIAN_SKEP_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.8)")

# So that `python3 -c "import skep"` works without a pool; pools use the folder that it points to.
file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/dist-packages)
file(CREATE_LINK ../../../${skep_sdk_dir}/skep ${CMAKE_CURRENT_BINARY_DIR}/dist-packages/skep SYMBOLIC)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/dist-packages/skep
  DESTINATION lib/python3/dist-packages COMPONENT skep_python)

foreach(part RUNTIME WORKER REMOTE DEVELOPMENT REMOTE_DEVELOPMENT PYTHON)
  string(TOLOWER skep_${part} component)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright COMPONENT ${component}
    DESTINATION share/doc/${CPACK_DEBIAN_SKEP_${part}_PACKAGE_NAME})
endforeach()

include(CPack)
