"""Trains a small network with ChainerMN: which quarter of a ring is a point in?

    muster run --framework mpi -n 2 -- python train.py
"""
import argparse
import os
import sys
import warnings

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
from chainer import training
from chainer.training import extensions

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about GPUs that are not there
    import chainermn


class Network(chainer.Chain):
    def __init__(self):
        super().__init__()
        with self.init_scope():
            self.hidden = L.Linear(2, 32)
            self.out = L.Linear(32, 4)

    def forward(self, x):
        return self.out(F.tanh(self.hidden(x)))


def points(n, seed):
    """Returns points of a ring, and the quarter each is in, turned by 30 degrees."""
    random = np.random.RandomState(seed)
    angle = random.uniform(0, 2 * np.pi, n)
    radius = random.uniform(0.5, 1.5, n)
    x = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).astype(np.float32)
    return chainer.datasets.TupleDataset(x, ((angle + np.pi / 6) // (np.pi / 2) % 4).astype(np.int32))


def main():
    p = argparse.ArgumentParser(description="train on a ring with ChainerMN")
    p.add_argument("--epochs", type=int, default=10)
    p.add_argument("--min-accuracy", type=float, default=0.9, help="exit 1 below this")
    args = p.parse_args()

    comm = chainermn.create_communicator("naive")
    print(f"rank {comm.rank} of {comm.size}")
    train = chainermn.scatter_dataset(points(1600, 0) if comm.rank == 0 else None, comm, shuffle=True)
    test = chainermn.scatter_dataset(points(400, 1) if comm.rank == 0 else None, comm)
    model = L.Classifier(Network())
    optimizer = chainermn.create_multi_node_optimizer(chainer.optimizers.Adam(0.02), comm)
    optimizer.setup(model)
    updater = training.StandardUpdater(chainer.iterators.SerialIterator(train, 32), optimizer)
    trainer = training.Trainer(updater, (args.epochs, "epoch"), out=os.environ.get("MUSTER_OUTPUT_DIR", "."))
    trainer.run()

    rest = chainer.iterators.SerialIterator(test, 100, repeat=False, shuffle=False)
    evaluator = chainermn.create_multi_node_evaluator(extensions.Evaluator(rest, model), comm)
    accuracy = float(evaluator()["main/accuracy"])
    if comm.rank == 0:
        print(f"accuracy {accuracy:.4f}")
        chainer.serializers.save_npz(os.path.join(trainer.out, "ring.npz"), model)
    if accuracy < args.min_accuracy:
        sys.exit(f"accuracy {accuracy:.4f} is below {args.min_accuracy}")


main()
