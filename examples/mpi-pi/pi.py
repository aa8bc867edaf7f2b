"""Computes pi with MPI: every rank sums its share of the area under 4/(1+x²).

Works under any mpirun:

    muster run --framework mpi -n 2 -- python pi.py
"""
import argparse
import math
import os
import signal
import sys
import time

from mpi4py import MPI


def arguments():
    p = argparse.ArgumentParser(description="compute pi with MPI")
    p.add_argument("--steps", type=int, default=200_000)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--slow", type=float, default=0, metavar="SECONDS", help="sleep this long in every round")
    demo = p.add_argument_group("ways to fail, to see what happens then")
    demo.add_argument("--fail", choices=["raise", "exit", "abort", "kill"], help="what rank 1 does in the second round")
    return p.parse_args()


def fail(how):
    if how == "raise":
        raise ValueError("this share does not add up")  # and then MPI waits for the others, for ever
    elif how == "exit":
        os._exit(3)
    elif how == "abort":
        MPI.COMM_WORLD.Abort(7)
    elif how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)


def share(rank, size, steps):
    width = 1 / steps
    return sum(4 / (1 + ((i + 0.5) * width) ** 2) for i in range(rank, steps, size)) * width


def main():
    args = arguments()
    comm = MPI.COMM_WORLD
    print(f"rank {comm.rank} of {comm.size} under {MPI.get_vendor()[0]}")
    for n in range(args.rounds):
        if args.fail and comm.rank == 1 and n == 1:
            fail(args.fail)
        pi = comm.allreduce(share(comm.rank, comm.size, args.steps))
        print(f"round {n}  pi {pi:.10f}")
        time.sleep(args.slow)
    if abs(pi - math.pi) > 1e-6:
        sys.exit(f"{pi} is not pi")


main()
