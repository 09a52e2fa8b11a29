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

# The command itself prints its manual page and the completions of shells.
foreach(page "man|${CMAKE_INSTALL_MANDIR}/man1/spillway.1"
    "completions bash|${CMAKE_INSTALL_DATADIR}/bash-completion/completions/spillway"
    "completions zsh|${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_spillway"
    "completions fish|${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/spillway.fish")
  string(REPLACE "|" ";" page "${page}")
  list(GET page 0 words)
  list(GET page 1 place)
  string(REPLACE " " "\" \"" words "${words}")
  install(CODE "
    set(place \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${place}\")
    get_filename_component(folder \"\${place}\" DIRECTORY)
    file(MAKE_DIRECTORY \"\${folder}\")
    message(STATUS \"Installing: \${place}\")
    execute_process(COMMAND \"$<TARGET_FILE:spillway_cli>\" \"${words}\" OUTPUT_FILE \"\${place}\" RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR \"$<TARGET_FILE:spillway_cli> did not print \${place}\")
    endif()")
endforeach()
