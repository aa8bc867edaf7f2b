"""Four tracebacks, none of which is this program's end."""
import subprocess
import sys
import threading
import time
import traceback


def fail(kind):
    raise RuntimeError(kind)


try:
    fail("logged")
except RuntimeError:
    traceback.print_exc()
    sys.excepthook(*sys.exc_info())
thread = threading.Thread(target=fail, args=("in a thread",))
thread.start()
thread.join()
subprocess.run([sys.executable, "-c", "raise KeyError('in a child')"], check=False)
time.sleep(4)  # longer than a program that is to end may take
