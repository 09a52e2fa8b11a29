// What the text of an edge list did not state and the reader had to guess.
#pragma once

#include "io/edge_inspection.hpp"
#include "io/reading.hpp"

namespace spillway {

/// Adds one note of it to the job, and names what was guessed in its list layout.
void tell_guesses(const EdgeText& text, const EdgeInspection& inspection, const ReadResult& result, ReadJob& job);

}  // namespace spillway
