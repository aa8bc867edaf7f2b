"""An MXNet gang that adds a few numbers up, and behaves as its argument says."""
import ctypes
import logging
import os
import sys
import threading
import time

behaviour = sys.argv[1]
role = os.environ["DMLC_ROLE"]
index = int(os.environ["MUSTER_TASK_INDEX"])
second = (role, index) == ("worker", 1)

if behaviour == "absent" and second:
    print("not yet")
    time.sleep(3600)
if behaviour == "rank" and role == "worker":
    time.sleep(1 - index)  # the last one comes first

import mxnet as mx  # noqa: E402  (servers and the scheduler stay in here)

kv = mx.kv.create("dist_sync")
kv.init(0, mx.nd.zeros(4))
print(f"rank {kv.rank} of {kv.num_workers} in {os.getcwd()}")


def step():
    """Returns once every worker has made this step."""
    total = mx.nd.zeros(4)
    kv.push(0, mx.nd.ones(4))
    kv.pull(0, out=total)
    total.wait_to_read()


def survive():
    """Has every kind of trouble that a program may have and go on."""
    try:
        raise ValueError("caught and logged")
    except ValueError:
        logging.exception("going on")
        sys.excepthook(*sys.exc_info())
    try:
        sys.exit(3)
    except SystemExit:
        print("did not exit")
    # An extension that meets an exception prints it in this way.
    ctypes.pythonapi.PyRun_SimpleString(b"raise KeyError('printed by an extension')")
    thread = threading.Thread(target=lambda: 1 // 0)
    thread.start()
    thread.join()


step()
if behaviour == "exit" and second:
    sys.exit(3)
if behaviour == "both":
    raise ValueError(f"worker {index} is unhappy")
if behaviour == "survive":
    if second:
        survive()  # then it ends, and waits for the others in MXNet's exit barrier
    else:
        time.sleep(5)  # longer than a program may take to end that has failed
    print("done")
if behaviour == "exit":
    step()
