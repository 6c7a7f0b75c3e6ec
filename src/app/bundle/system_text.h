// The machine on which a bundle is made, for who reads it: versions, settings of the environment,
// GPUs, and lines of the kernel about them. As Markdown, which the analysis does not read: it may
// be another machine than that of the job.
#pragma once

#include <string>

namespace debrief::bundle {

std::string SystemText();

}  // namespace debrief::bundle
