"""Measures on every server of a TVM tracker, as a tuner does between its searches.

Needs TVM_TRACKER_HOST, TVM_TRACKER_PORT and TVM_TRACKER_KEY:

    muster run --framework tvm -n 1 -s 2 -- python tune.py --servers 2
"""
import argparse
import os
import sys
import time

import numpy as np
import tvm
from tvm import rpc

KEY = os.environ["TVM_TRACKER_KEY"]


def wait_for_servers(tracker, count, seconds=60):
    """Returns when that many servers have told the tracker that they are free."""
    until = time.monotonic() + seconds
    while True:
        free = tracker.summary()["queue_info"].get(KEY, {}).get("free", 0)
        if free >= count:
            return
        if time.monotonic() > until:
            sys.exit(f"{free} of {count} servers came in {seconds} s")
        time.sleep(0.1)


def measure(session, size):
    """Sends numbers to a server's CPU and back; returns how long that took."""
    numbers = np.random.RandomState(0).rand(size).astype("float32")
    began = time.monotonic()
    remote = tvm.runtime.tensor(numbers, session.cpu(0))
    back = remote.numpy()
    took = time.monotonic() - began
    np.testing.assert_array_equal(back, numbers)
    return took


def main():
    p = argparse.ArgumentParser(description="measure on TVM's servers")
    p.add_argument("--servers", type=int, default=1)
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--slow", type=float, default=0, metavar="SECONDS", help="sleep this long in every round")
    p.add_argument("--size", type=int, default=1 << 20)
    args = p.parse_args()
    tracker = rpc.connect_tracker(os.environ["TVM_TRACKER_HOST"], int(os.environ["TVM_TRACKER_PORT"]))
    wait_for_servers(tracker, args.servers)
    print(f"{args.servers} servers offer {KEY}")
    sessions = [tracker.request(KEY, session_timeout=600) for _ in range(args.servers)]
    for _ in range(args.rounds):
        for n, session in enumerate(sessions):
            print(f"server {n}: {args.size} numbers there and back in {measure(session, args.size) * 1e3:.1f} ms")
        time.sleep(args.slow)


main()
