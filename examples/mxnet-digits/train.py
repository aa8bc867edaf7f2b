"""Trains a small network to read handwritten digits, with MXNet's parameter server.

Every role runs this file. In a server or the scheduler `import mxnet` serves until the
workers have finished, and never returns. Works under anything that sets DMLC_*:

    muster run -n 2 -s 1 -- python train.py
"""
import argparse
import glob
import gzip
import os
import re
import signal
import sys
import time


def arguments():
    p = argparse.ArgumentParser(description="train on the digits with MXNet")
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--kv-store", default="dist_sync", choices=["dist_sync", "dist_async"])
    p.add_argument("--checkpoint", metavar="DIR", help="save every epoch here, and resume from the newest")
    p.add_argument("--min-accuracy", type=float, default=0.9, help="exit 1 below this")
    p.add_argument("--slow", type=float, default=0, metavar="SECONDS", help="sleep this long in every epoch")
    demo = p.add_argument_group("ways to fail, to see what happens then")
    demo.add_argument("--raise-at", type=int, metavar="EPOCH", help="raise ValueError")
    demo.add_argument("--raise-rank", type=int, default=1, metavar="RANK")
    demo.add_argument("--kill-at", type=int, metavar="EPOCH", help="die by SIGKILL, in the first attempt only")
    demo.add_argument("--kill-rank", type=int, default=1, metavar="RANK")
    return p.parse_args()


args = arguments()

import mxnet as mx  # noqa: E402  (servers and the scheduler stay in here)
import numpy as np  # noqa: E402
from mxnet import autograd, gluon  # noqa: E402

TRAIN = 1440  # of 1797 images; the rest is for the test
BATCH = 32


def load_digits():
    """Returns images (64 pixels from 0 to 1) and labels, in a fixed random order."""
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.environ.get("DIGITS"), here + "/digits.csv.gz", sys.prefix + "/digits.csv.gz"]
    found = [p for p in places if p and os.path.exists(p)]
    if not found:
        sys.exit("digits.csv.gz not found: set DIGITS to its path, or get it with scripts/demo-env")
    with gzip.open(found[0]) as f:
        rows = np.loadtxt(f, delimiter=",", dtype=np.float32)
    rows = rows[np.random.RandomState(0).permutation(len(rows))]
    return rows[:, :64] / 16, rows[:, 64]


def new_network():
    mx.random.seed(1)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(64, activation="relu", in_units=64), gluon.nn.Dense(10, in_units=64))
    net.initialize(mx.init.Xavier())
    return net


def save(net, path):
    """Replaces path whole: whoever reads it finds the old file or the new one."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    net.save_parameters(path + ".part")
    os.replace(path + ".part", path)


def resume(net):
    """Loads the newest checkpoint, if there is one, and returns the first epoch to train."""
    epochs = {int(re.search(r"(\d+)\.params$", p).group(1)): p
              for p in glob.glob((args.checkpoint or os.devnull) + "/epoch-*.params")}
    if not epochs:
        return 0
    newest = max(epochs)
    net.load_parameters(epochs[newest])
    print(f"resumed from epoch {newest}")
    return newest + 1


def train_epoch(net, trainer, batches, world, die):
    """Returns the mean loss, unless this worker is to die in the middle."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    total = 0.0
    for x, y in batches:
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(x.shape[0] * world)
        total += loss.mean().asscalar()
        if die:
            # dist_sync answers once every worker is in this epoch, so that the
            # checkpoint of the one before has been saved.
            mx.nd.waitall()
            os.kill(os.getpid(), signal.SIGKILL)
    return total / len(batches)


def batches_of(x, y, rank, world, epoch):
    """Cuts this rank's share into batches, in an order that depends on the epoch only.

    Every rank gets the same number of equal batches: in dist_sync a worker that has one
    more than the others waits for them for ever.
    """
    share = len(x) // world
    size = min(BATCH, share)
    order = np.random.RandomState(epoch).permutation(share)
    x, y = x[rank::world][order], y[rank::world][order]
    return [(mx.nd.array(x[at:at + size]), mx.nd.array(y[at:at + size]))
            for at in range(0, share - size + 1, size)]


def main():
    images, labels = load_digits()
    net = new_network()
    begin = resume(net)  # before the store is made, which waits for all: nobody saves yet
    kv = mx.kv.create(args.kv_store)
    rank, world = kv.rank, kv.num_workers
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.2}, kvstore=kv, update_on_kvstore=True)
    first_attempt = os.environ.get("MUSTER_ATTEMPT", "1") == "1"
    for epoch in range(begin, args.epochs):
        if (epoch, rank) == (args.raise_at, args.raise_rank):
            raise ValueError("bad label -1 in shard 3")
        die = first_attempt and (epoch, rank) == (args.kill_at, args.kill_rank)
        batches = batches_of(images[:TRAIN], labels[:TRAIN], rank, world, epoch)
        loss = train_epoch(net, trainer, batches, world, die)
        print(f"epoch {epoch}  loss {loss:.4f}")
        if args.checkpoint and rank == 0:
            save(net, f"{args.checkpoint}/epoch-{epoch:04d}.params")
        time.sleep(args.slow)
    if rank == 0:
        finish(net, images[TRAIN:], labels[TRAIN:])


def finish(net, images, labels):
    accuracy = (net(mx.nd.array(images)).argmax(axis=1).asnumpy() == labels).mean()
    print(f"accuracy {accuracy:.4f}")
    if accuracy < args.min_accuracy:
        sys.exit(f"accuracy {accuracy:.4f} is below {args.min_accuracy}")
    save(net, os.environ.get("MUSTER_OUTPUT_DIR", ".") + "/digits.params")


main()
