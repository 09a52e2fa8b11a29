// One fuzz target a format: bytes in, an answer or Error{bad_input} out, and nothing else ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace spillway::fuzz {

/// Formats with a target; "auto" lets the content decide.
const std::vector<std::string>& targets();

/// Reads the bytes as the format, walks whatever graph comes out, and runs three algorithms on it if it is small.
/// Any exception that leaves it is a finding.
void run(const std::string& target, const std::uint8_t* data, std::size_t size);

}  // namespace spillway::fuzz
