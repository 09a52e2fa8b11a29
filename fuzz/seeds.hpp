// Valid files that fuzzing starts from: one or more of every format, plain and compressed.
#pragma once

#include <string>
#include <vector>

namespace spillway::fuzz {

/// Small valid files of a target. Formats that Spillway only reads are written by hand.
std::vector<std::string> seeds(const std::string& target);

/// Whether the target's reader takes compressed files.
bool takes_compressed(const std::string& target);

std::string gzipped(const std::string& bytes);
std::string zstd_compressed(const std::string& bytes);

}  // namespace spillway::fuzz
