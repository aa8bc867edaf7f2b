# Muster puts this folder first on PYTHONPATH, so that Python runs this file
# before the program.
#
# A program that raises may never end: MXNet's workers and MPI's ranks wait for
# their peers while the interpreter is torn down. So the interpreter itself says
# when it is on its way out after an exception that nothing caught (or after
# sys.exit with a bad code), and the task host ends it if it is still there a
# little later. A program that merely prints a traceback and goes on never
# reaches this point. Nothing here may disturb the program: every error is
# swallowed.
import sys


def _muster_install():
    import atexit
    import os
    import threading

    path = os.environ.get("MUSTER_HOOK_FILE")
    task = os.environ.get("MUSTER_HOOK_TASK")
    if not path or not task or not hasattr(sys, "addaudithook"):
        return
    end = {}
    left = []  # the outermost frame, if it was to be left by sys.exit

    def caught():
        # The program has caught its own SystemExit and gone on if its outermost
        # frame returned: one that an exception leaves stops at another instruction.
        if not left:
            return False
        import opcode

        # Not kept any longer: it would change the order in which things are torn down.
        frame = left.pop()
        return opcode.opname[frame.f_code.co_code[frame.f_lasti]].startswith("RETURN_")

    def tell(stage):
        try:
            if caught():
                return
            if "pid" not in end or end["pid"] != os.getpid():
                return  # a forked child of the one that raised
            import json

            record = dict(end, task=task, stage=stage)
            line = json.dumps(record) + "\n"
            fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
            try:
                os.write(fd, line.encode("utf-8", "replace"))
            finally:
                os.close(fd)
        except BaseException:
            pass

    def note(kind, text, code):
        end.update(pid=os.getpid(), type=kind, text=text, code=code)
        del left[:]

    def outermost(frame):
        while frame.f_back is not None:
            frame = frame.f_back
        return frame

    def audit(event, args):
        # Raised by the interpreter for an exception that nothing caught,
        # whatever sys.excepthook the program has put in place.
        if event != "sys.excepthook":
            return
        try:
            if threading.current_thread() is not threading.main_thread():
                return
            if sys._getframe().f_back is not None:
                return  # an extension prints it, and the program goes on
            kind, value = args[1], args[2]
            try:
                text = str(value)
            except BaseException:
                text = ""
            note(getattr(kind, "__name__", str(kind)), text[:600], 1)
            # Callbacks run newest first: this one before the program's own.
            atexit.register(tell, "raised")
        except BaseException:
            pass

    really_exit = sys.exit

    def exit(status=None):
        try:
            if threading.current_thread() is threading.main_thread():
                end.clear()
                code = status & 0xFF if isinstance(status, int) else int(isinstance(status, str))
                if code:
                    note("", "", code)
                    left.append(outermost(sys._getframe()))
        except BaseException:
            pass
        really_exit(status)

    exit.__doc__ = really_exit.__doc__
    sys.exit = exit
    sys.addaudithook(audit)
    # Registered first, so it runs last: only the teardown is left after it.
    atexit.register(tell, "teardown")


def _muster_next():
    # The machine may have a sitecustomize of its own; ours must not hide it.
    import importlib.machinery
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    rest = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        import importlib.util

        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


try:
    _muster_install()
except BaseException:
    pass
try:
    _muster_next()
except ImportError:
    pass
