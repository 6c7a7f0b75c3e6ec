// Schedulers, containers, the network, hubs, paths.
#include "torch/remedies/tables.h"

namespace debrief::remedies {

namespace {

constexpr Remedy kServices[] = {
    // ---- schedulers, containers and launchers
    {{"ImagePullBackOff", "ErrImagePull", "Failed to pull image", "failed to import docker image",
      "returned error code: 401"},
     "Check the name and the tag of the image, and that the host may pull it from that registry."},
    {{"is not scheduled", "FailedScheduling"},
     "No node can take the pod: compare what it asks for (GPUs, memory, tolerations) with what is "
     "free (kubectl describe nodes), and with the quota."},
    {{"CrashLoopBackOff", "RunContainerError", "CreateContainer"},
     "Read why its container ended: kubectl logs --previous POD, kubectl describe pod POD."},
    {{"pyxis", "enroot", "nvidia-container-cli", "could not open image", "OCI runtime"},
     "Start the container by hand on that host: is the image there, do its mounts exist, does "
     "nvidia-smi work?"},
    {{"prolog failed", "layout tasks", "Task launch for", "submission failed",
      "Unable to create step"},
     "Compare what the job asks for (CPUs, GPUs, partition) with what its nodes have (scontrol "
     "show node), and ask the administrators about a node whose prolog fails (slurmd.log)."},
    {{"not reachable via ssh", "ssh exited with", "unable to reliably start",
      "unable to start one or more daemons"},
     "Check that the launching host reaches every other one by ssh without a password, and that "
     "PATH and LD_LIBRARY_PATH there have the launcher."},
    {{"unable to launch the specified application"},
     "Check that the program is at that path on every host, and may be executed."},
    {{"MPI_Init", "MPI_ERRORS_ARE_FATAL"},
     "Check that the program's MPI is the launcher's (srun --mpi=pmix, mpirun of the same "
     "installation)."},
    {{"not enough slots"},
     "Ask for fewer processes (-np), or name hosts with more slots (--host n1:8, hostfile, "
     "--map-by); --oversubscribe allows more."},
    // ---- the network and what is behind it
    {{"ddress already in use", "EADDRINUSE"},
     "End the job that still listens on that port, or choose another one (--master_port, "
     "--rdzv_endpoint, MASTER_PORT)."},
    {{"host not found", "Name or service not known", "cannot be retrieved",
      "Temporary failure in name resolution"},
     "Check the name in MASTER_ADDR or --rdzv_endpoint, and that the hosts can resolve it (DNS, "
     "the service of the job)."},
    {{"client socket has timed out", "failed to connect to any network address", "ncclUniqueId"},
     "Check that rank 0 has started and lives, that the hosts reach its address and port "
     "(MASTER_ADDR, MASTER_PORT, firewall), and that all use the same."},
    {{"ExpiredToken", "InvalidAccessKeyId", "AccessDenied", "Unable to locate credentials",
      "token has expired"},
     "Give the job credentials that are valid as long as it runs, and access to that store."},
    {{"gated repo", "401 Client Error", "403 Client Error", "GatedRepoError", "Unauthorized"},
     "Log in to the hub on every host (HF_TOKEN), and ask for access to that repository."},
    {{"disk cache and outgoing traffic", "HF_HUB_OFFLINE", "local_files_only"},
     "Download the files beforehand into the cache that this process sees (HF_HOME), or allow "
     "access to the hub (HF_HUB_OFFLINE=0)."},
    {{"429 Client Error", "Too Many Requests", "SlowDown", "Throttling",
      "reduce your request rate"},
     "Fewer processes at once: download once, then run offline (HF_HUB_OFFLINE=1)."},
    {{"can't be reached at", "Connection refused", "Failed to establish a new connection"},
     "Check that the server is running at that address and port, and that the host reaches it."},
    {{"HTTPSConnectionPool", "Max retries exceeded", "couldn't connect to"},
     "Check the network and the proxy of the host, or download beforehand and run offline "
     "(HF_HUB_OFFLINE=1)."},
    {{"does not appear to have a file named", "is not a valid model identifier",
      "RepositoryNotFoundError", "EntryNotFoundError"},
     "Check the name or the path of the model, and that its files are complete."},
    {{"Connection closed by peer", "onnection reset by peer"},
     "Look for the rank that ended first: the output of the others, their exit codes, the kernel "
     "log of their hosts."},
    // ---- paths
    {{"Permission denied"}, "Give the job access to that path, or use another one."},
    {{"No such file or directory", "FileNotFoundError"},
     "Check that path on the host of this process: is it mounted, is it spelled right?"}};

}  // namespace

std::span<const Remedy> OfServices() { return kServices; }

}  // namespace debrief::remedies
