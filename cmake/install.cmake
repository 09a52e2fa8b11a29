# What `cmake --install` puts where: the command, the library, its headers, and how other builds find them.
include(CMakePackageConfigHelpers)
set(SPILLWAY_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/spillway)

install(TARGETS spillway EXPORT spillway-targets)
install(TARGETS spillway_cli)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
install(FILES ${PROJECT_BINARY_DIR}/include/spillway/version.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/spillway)

configure_package_config_file(cmake/spillway-config.cmake.in ${PROJECT_BINARY_DIR}/spillway-config.cmake
  INSTALL_DESTINATION ${SPILLWAY_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/spillway-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT spillway-targets NAMESPACE spillway:: DESTINATION ${SPILLWAY_PACKAGE_DIR})
install(FILES ${PROJECT_BINARY_DIR}/spillway-config.cmake ${PROJECT_BINARY_DIR}/spillway-config-version.cmake
  DESTINATION ${SPILLWAY_PACKAGE_DIR})

# The tree may be moved after it is installed: its own folder leads to the others.
file(RELATIVE_PATH SPILLWAY_PKGCONFIG_TO_PREFIX
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" SPILLWAY_PKGCONFIG_TO_PREFIX "${SPILLWAY_PKGCONFIG_TO_PREFIX}")
configure_file(cmake/spillway.pc.in ${PROJECT_BINARY_DIR}/spillway.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/spillway.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
