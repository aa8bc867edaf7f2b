"""One worker raises and never ends; the other waits for it."""
import os
import time


class Barrier:
    def __del__(self, sleep=time.sleep):
        while True:
            sleep(60)


if os.environ["MUSTER_TASK"] != "worker-1":
    time.sleep(3600)
barrier = Barrier()
raise ValueError("bad label")
