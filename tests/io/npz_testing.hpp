// Archives as scipy writes them, made member by member.
#pragma once

#ifdef SPILLWAY_HAS_LIBZIP
#include <zip.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "io/format_testing.hpp"

namespace spillway::format_testing {

using Members = std::vector<std::pair<std::string, std::string>>;

inline std::string npy_with_header(const std::string& header, const std::string& data) {
  const auto length = static_cast<std::uint16_t>(header.size());
  return std::string("\x93NUMPY\x01\x00", 8) + bytes_of<std::uint16_t>({length}) + header + data;
}

inline std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  return npy_with_header("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }     \n",
                         data);
}

inline std::string zip_with(const std::string& name, const Members& members, bool deflated = true) {
  const std::string path = temporary(name);
  std::filesystem::remove(path);
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  EXPECT_NE(zip, nullptr);
  for (const auto& [member, content] : members) {
    zip_source_t*     source = zip_source_buffer(zip, content.data(), content.size(), 0);
    const zip_int64_t index  = zip_file_add(zip, member.c_str(), source, 0);
    zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
  }
  EXPECT_EQ(zip_close(zip), 0);
  return path;
}

/// The matrix of arcs 0->2, 0->1, 2->0, unsorted, with one member replaced.
inline Members matrix(const std::string& replaced = "", const std::string& content = "") {
  Members members{{"indices.npy", npy("<i4", "(3,)", bytes_of<std::int32_t>({2, 1, 0}))},
                  {"indptr.npy", npy("<i4", "(4,)", bytes_of<std::int32_t>({0, 2, 2, 3}))},
                  {"format.npy", npy("|S3", "()", "csr")},
                  {"shape.npy", npy("<i8", "(2,)", bytes_of<std::int64_t>({3, 3}))},
                  {"data.npy", npy("<i8", "(3,)", bytes_of<std::int64_t>({5, 6, 7}))}};
  for (auto& [name, bytes] : members)
    if (name == replaced) bytes = content;
  return members;
}

}  // namespace spillway::format_testing
#endif
