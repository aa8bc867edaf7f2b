"""Ranks send large messages and share memory, as they do on one machine."""
import numpy
from mpi4py import MPI

comm = MPI.COMM_WORLD
mine = numpy.full(4 << 20, comm.rank + 1.0)
total = numpy.empty_like(mine)
comm.Allreduce(mine, total)
assert (total == sum(range(1, comm.size + 1))).all()

node = comm.Split_type(MPI.COMM_TYPE_SHARED)
assert node.size == comm.size
window = MPI.Win.Allocate_shared(8 if node.rank else 8 * node.size, 8, comm=node)
memory, _ = window.Shared_query(0)
seen = numpy.frombuffer(memory, dtype="d")
window.Fence()
seen[node.rank] = node.rank + 1
window.Fence()
assert list(seen[: node.size]) == [n + 1 for n in range(node.size)]
window.Free()
print("all of it")
