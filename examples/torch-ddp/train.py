"""Trains a small network with torch's DistributedDataParallel, on CPUs.

Works under anything that sets MASTER_ADDR, MASTER_PORT, RANK and WORLD_SIZE:

    muster run -n 2 -- python3 train.py
"""
import argparse
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn


# Outlives the process group. Gloo's threads let go of a tensor late, and the one that has to free
# it needs Python's lock, which torch 1.13 may hold while it waits for those threads: a deadlock.
loss_sum = torch.zeros(1)


def arguments():
    p = argparse.ArgumentParser(description="fit a line and a bump with DDP")
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--steps", type=int, default=20, help="per epoch")
    p.add_argument("--max-loss", type=float, default=0.2, help="exit 1 above this")
    p.add_argument("--slow", type=float, default=0, metavar="SECONDS", help="sleep this long in every epoch")
    demo = p.add_argument_group("ways to fail, to see what happens then")
    demo.add_argument("--raise-at", type=int, metavar="EPOCH", help="raise ValueError")
    demo.add_argument("--raise-rank", type=int, default=1, metavar="RANK")
    demo.add_argument("--kill-at", type=int, metavar="EPOCH", help="die by SIGKILL, in the first attempt only")
    demo.add_argument("--kill-rank", type=int, default=1, metavar="RANK")
    return p.parse_args()


def batch(generator, size=64):
    """Returns points of a curve to learn: y = x/2 + exp(-4x²)."""
    x = torch.rand(size, 1, generator=generator) * 4 - 2
    return x, x / 2 + torch.exp(-4 * x * x)


def fail_if_asked(args, epoch, rank):
    first_attempt = os.environ.get("MUSTER_ATTEMPT", "1") == "1"
    if (epoch, rank) == (args.raise_at, args.raise_rank):
        raise ValueError("the curve is not finite")
    if first_attempt and (epoch, rank) == (args.kill_at, args.kill_rank):
        os.kill(os.getpid(), signal.SIGKILL)


def train_epoch(model, optimizer, generator, steps):
    """Returns the mean loss over the epoch and over all ranks."""
    loss_sum.zero_()
    for _ in range(steps):
        x, y = batch(generator)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()  # DDP averages the gradients of all ranks in here
        optimizer.step()
        loss_sum.add_(loss.detach())
    dist.all_reduce(loss_sum)
    return (loss_sum / steps / dist.get_world_size()).item()


def main():
    args = arguments()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    generator = torch.Generator().manual_seed(rank)  # every rank has data of its own
    loss = float("inf")
    for epoch in range(args.epochs):
        fail_if_asked(args, epoch, rank)
        loss = train_epoch(model, optimizer, generator, args.steps)
        print(f"epoch {epoch}  loss {loss:.4f}")
        time.sleep(args.slow)
    if rank == 0:
        torch.save(model.module.state_dict(), os.environ.get("MUSTER_OUTPUT_DIR", ".") + "/curve.pt")
    dist.destroy_process_group()
    if loss > args.max_loss:
        sys.exit(f"loss {loss:.4f} is above {args.max_loss}")


main()
