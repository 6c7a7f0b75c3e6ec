// Names of kernels as people call them.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

// What tells a kernel from others: without result, parameters and namespaces, and of its template
// arguments the first that names something (a functor, another kernel).
//
//   void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, ...>(int)
//     vectorized_elementwise_kernel<CUDAFunctor_add>
//   ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)
//     ncclDevKernel_AllReduce_Sum_f32_RING_LL
//
// Names that are none of C++ ("Memcpy HtoD (Pageable -> Device)") stay as they are.
std::string ShortKernelName(std::string_view name);

}  // namespace debrief
