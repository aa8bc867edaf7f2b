"""Fits a polynomial to a curve with JAX, each process on data of its own.

jax.distributed.initialize() needs no arguments under Muster:

    muster run --framework jax -n 2 -- python train.py
"""
import argparse
import os
import sys
import time

import jax
import jax.numpy as jnp
from jax.experimental import multihost_utils


def arguments():
    p = argparse.ArgumentParser(description="fit a curve with JAX")
    p.add_argument("--steps", type=int, default=30)
    p.add_argument("--max-loss", type=float, default=0.05, help="exit 1 above this")
    p.add_argument("--slow", type=float, default=0, metavar="SECONDS", help="sleep this long in every step")
    demo = p.add_argument_group("ways to fail, to see what happens then")
    demo.add_argument("--raise-at", type=int, metavar="STEP", help="raise ValueError in process 1")
    return p.parse_args()


def loss_of(weights, x):
    powers = jnp.stack([x**n for n in range(4)], axis=1)
    return jnp.mean((powers @ weights - jnp.sin(x)) ** 2)


def main():
    args = arguments()
    jax.distributed.initialize()
    me, size = jax.process_index(), jax.process_count()
    print(f"process {me} of {size}, {jax.device_count()} devices")
    x = jax.random.uniform(jax.random.key(me), (256,), minval=-1.5, maxval=1.5)
    step = jax.jit(jax.value_and_grad(loss_of))
    weights = jnp.zeros(4)
    for n in range(args.steps):
        if me == 1 and n == args.raise_at:
            raise ValueError("the curve is not smooth")
        mine = step(weights, x)
        loss, gradient = jax.tree.map(lambda all: jnp.mean(all, axis=0), multihost_utils.process_allgather(mine))
        weights = weights - 0.1 * gradient
        if n % 10 == 0:
            print(f"step {n}  loss {loss:.4f}")
        time.sleep(args.slow)
    print(f"loss {loss:.4f}")
    if me == 0:
        jnp.save(os.environ.get("MUSTER_OUTPUT_DIR", ".") + "/weights.npy", weights)
    if loss > args.max_loss:
        sys.exit(f"loss {loss:.4f} is above {args.max_loss}")
    jax.distributed.shutdown()


main()
