// Checkpoints, compilers, the environment of a program, what it computes.
#include "torch/remedies/tables.h"

namespace debrief::remedies {

namespace {

constexpr Remedy kPrograms[] = {
    // ---- checkpoints
    {{"Error(s) in loading state_dict", "size mismatch for"},
     "Compare the configuration of the model with the one that the checkpoint was written with."},
    {{"value from checkpoint (", "key in checkpoint", "doesn't match the size of optimizer"},
     "Compare the configuration of this run with the one that the checkpoint was written with."},
    {{"UnicodeDecodeError", "codec can't decode"},
     "Look at the first bytes of that file: it is compressed (1f 8b: gzip) or of another encoding "
     "than the program expects."},
    {{"JSONDecodeError", "Expecting value: line"},
     "Look at that line of the file: it is empty, cut or no JSON."},
    {{"Weights only load failed", "weights_only"},
     "Load it with torch.load(..., weights_only=False) if you trust its writer, or allow its "
     "classes (torch.serialization.add_safe_globals)."},
    {{".weight'", ".bias'"},
     "Compare the names of weights in the checkpoint with the model's: another version of the "
     "library, or a checkpoint of another model."},
    {{"chat_template", "pad_token", "padding token"},
     "Set it on the tokenizer (tokenizer.chat_template, tokenizer.pad_token), or use the tokenizer "
     "of the instruct model."},
    // ---- compilers and kernels
    {{"No operator found for `memory_efficient_attention", "No available kernel",
      "No viable backend"},
     "Use another dtype, head size or attention implementation: no kernel of that library takes "
     "these inputs on this GPU, or it was built without CUDA."},
    {{"Failed to find C compiler", "Failed to find nvcc", "CUDA_HOME environment variable",
      "CUDA_HOME does not exist", "nvcc: not found"},
     "Install a C compiler and the CUDA toolkit where this process runs (gcc, nvcc), and set CC "
     "and CUDA_HOME to them."},
    {{"CompilationError", "arange's range", "PassManager::run failed"},
     "Change that Triton kernel as the message says (block sizes are powers of 2), or try another "
     "version of Triton."},
    {{"Could not guard on data-dependent"},
     "Say what holds of that number before it is used (torch._check), or keep that line out of the "
     "graph (torch.compiler.disable)."},
    {{"Data-dependent", "ata-dependent", "Dynamo does not support",
      "torch._dynamo.exc.Unsupported"},
     "Rewrite that line (torch.cond, torch.where), keep it out of the graph "
     "(torch.compiler.disable), or allow graph breaks: fullgraph=False."},
    {{"does not match the version torch was compiled with", "CUDA Setup failed"},
     "Install the CUDA toolkit that PyTorch was built with (torch.version.cuda), or a PyTorch for "
     "the installed one, and check CUDA_HOME and LD_LIBRARY_PATH."},
    {{"Error building extension", "Error compiling objects", "'ninja', '-v'"},
     "Read what the compiler says above this traceback; check that compiler, CUDA toolkit and "
     "headers fit PyTorch."},
    // ---- the environment
    {{"No module named", "cannot import name"},
     "Install that module where this process runs, in the version that the program needs, or check "
     "its environment and PYTHONPATH."},
    {{"GLIBC", "required by"},
     "Use an image whose C and C++ libraries are as new as those that it was built with, or build "
     "that library there."},
    {{"does not exist or is not currently registered", "torchvision::nms",
      "size changed, may indicate binary", "compiled using NumPy 1",
      "incompatible with your PyTorch"},
     "Install versions that were built for each other: torch with torchvision and torchaudio, "
     "NumPy with what was compiled against it."},
    {{"cannot open shared object file", "undefined symbol", "symbol lookup error"},
     "Install that library where this process runs, built for this version of PyTorch, or check "
     "LD_LIBRARY_PATH."},
    {{"WinError 126", "DLL load failed"},
     "Install the library that it needs: the Visual C++ redistributable, or PyTorch again."},
    {{"library but it was not found in your environment", "pip install", "please install"},
     "Install that package where this process runs."},
    {{"circular import", "partially initialized module"},
     "Rename the file that has the name of a module, or import inside of the function: two modules "
     "import each other."},
    {{"override_grammar", "OverrideParse", "missing EQUAL at"},
     "Compare the overrides of the command with Hydra's grammar (key=value, no blanks around the "
     "sign, quotes in quotes)."},
    {{"Interpolation key", "MissingMandatoryValue", "ConfigAttributeError", "ConfigKeyError"},
     "Compare the configuration with what the program reads: that key is missing or misspelled."},
    {{"forked subprocess"},
     "Start the workers with the spawn method, and do not touch CUDA before they start."},
    {{"start a new process before"},
     "Put what the main script does below `if __name__ == '__main__':`; processes that are spawned "
     "import it."},
    {{"Can't pickle", "cannot pickle"},
     "Make what is sent to worker processes picklable: a function at the top of a module in place "
     "of a lambda or a local one."},
    {{"unrecognized arguments", "the following arguments are required", "invalid int value",
      "invalid float value", "invalid choice", "not recognized", "No such option",
      "No such command", "Missing option"},
     "Compare the command with what the program accepts (--help)."},
    // ---- what the program computes
    {{"unscale FP16 gradients"},
     "Keep the weights that are trained in float32 with fp16 mixed precision, or use bf16."},
    {{"oss scale already at minimum", "inimum loss scale reached", "nan or inf",
      "NaN in local grad norm", "gradients are inconsistent", "returned nan values", "found NaN",
      "oss is nan"},
     "Find the first step whose loss or gradients are nan or inf "
     "(torch.autograd.set_detect_anomaly); a lower learning rate, clipping or bf16 in place of "
     "fp16 may cure it."},
    {{"modified by an inplace operation"},
     "Replace the operation in place (x += y by x = x + y) on that tensor; "
     "torch.autograd.set_detect_anomaly(True) names the line of its forward pass."},
    {{"Trying to backward through the graph a second time"},
     "Detach what is kept from one step to the next (hidden states, losses), or pass "
     "retain_graph=True."},
    {{"does not require grad"},
     "Check that the loss comes from parameters that require gradients, outside of torch.no_grad() "
     "and not detached."},
    {{"finished reduction in the prior iteration"},
     "Let every parameter take part in the loss, or pass find_unused_parameters=True to "
     "DistributedDataParallel; TORCH_DISTRIBUTED_DEBUG=DETAIL names those that do not."},
    {{"uniform original parameter dtype", "uniform dtype"},
     "Give all parameters that are sharded together one dtype (model.to(torch.bfloat16)), or wrap "
     "those of another dtype by themselves."},
    {{"appears not to match sizes", "to match strides of the same param"},
     "Build the same model on all ranks: the same configuration, vocabulary and seed."},
    {{"must be divisible by"},
     "Choose a parallel size that divides it, or another configuration of the model."},
    {{"Couldn't cast array", "DatasetGenerationError"},
     "Compare the columns of the files: one of them has another type than those before it."},
    {{"equal size, but got", "stack expects each tensor"},
     "Give all samples of a batch one size: pad or crop them, or a collate_fn that does."},
    {{"index out of range in self", "out of bounds for dimension"},
     "Compare that index with the size of the table: tokens with the vocabulary, positions with "
     "the longest sequence, labels with the classes."},
    {{"Expected all tensors to be on the same device"},
     "Move that tensor to the device of the model before it is used."},
    {{"expected scalar type", "must have the same dtype", "should be the same", "only support fp16",
      "Half and BFloat16"},
     "Cast one of the two to the other's dtype before that line."},
    {{"not positive-definite", "input is singular", "failed to converge"},
     "Look for nan, inf or columns that depend on each other in that matrix; add a small multiple "
     "of the identity, or compute in float64."},
    {{"mat1 and mat2 shapes", "must match the size of tensor", "shape mismatch",
      "is invalid for input of size", "must match the existing size", "size mismatch, got",
      "The size of tensor"},
     "Print the shapes that come to that line: the data or the configuration has another one."},
    {{"maximum recursion depth"},
     "Look for the function that calls itself without an end: the last frames repeat."}};

}  // namespace

std::span<const Remedy> OfPrograms() { return kPrograms; }

}  // namespace debrief::remedies
