"""Gives a Python program virtual time, before anything of it runs; see `clusters.python_time`.

It is found through PYTHONPATH, and then hides itself: the program finds its own path, and the
`sitecustomize` that it would have had without.
"""

import importlib
import os
import sys
import traceback

_NO_VIRTUAL_TIME = 70
_here = os.path.dirname(os.path.abspath(__file__))
_own = sys.modules[__name__]

if "ASSAY_TIME_PAGE" in os.environ:
    try:
        import assay_virtual_time  # type: ignore[import-not-found]  # it is beside this file

        assay_virtual_time.install()
    except BaseException:  # noqa: BLE001  # Python would go on, in real time
        traceback.print_exc()
        os._exit(_NO_VIRTUAL_TIME)

sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
_left = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each != _here]
os.environ["PYTHONPATH"] = os.pathsep.join(_left)
if not any(_left):
    del os.environ["PYTHONPATH"]
del sys.modules[__name__]
try:
    importlib.import_module(__name__)
except ModuleNotFoundError as error:
    if error.name != __name__:
        raise
    sys.modules[__name__] = _own
