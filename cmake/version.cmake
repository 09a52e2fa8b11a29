# build/include/spillway/version.hpp: the version, and which public headers it goes with. A plug-in that was compiled
# against others is refused even where the version is the same, as it is between two commits.
file(GLOB_RECURSE SPILLWAY_PUBLIC_HEADERS CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/*.hpp ${PROJECT_SOURCE_DIR}/include/*.cuh)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${SPILLWAY_PUBLIC_HEADERS})
set(texts "")
foreach(header ${SPILLWAY_PUBLIC_HEADERS})
  file(SHA256 ${header} hash)
  string(APPEND texts ${hash})
endforeach()
string(SHA256 SPILLWAY_HEADERS_HASH "${texts}")
string(SUBSTRING ${SPILLWAY_HEADERS_HASH} 0 12 SPILLWAY_HEADERS_HASH)
configure_file(include/spillway/version.hpp.in include/spillway/version.hpp @ONLY)
