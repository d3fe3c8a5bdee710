"""What a module of the user has under a name: MODULE:NAME, as commands are told it."""

import importlib
import os
import sys
from typing import TypeVar

from neomodel.cli.frame import Refused

T = TypeVar("T")


def loaded(name: str, kind: type[T], what: str, form: str) -> T:
    """What the module has under the name, if it is of that kind; `what` and `form` are how to call it, and an example.
    Modules in this folder are found, here and by Spark's workers."""
    module_name, colon, attribute = name.partition(":")
    if not (colon and module_name and attribute):
        raise Refused(f"{name!r} names no {what}; write it as {form}")
    if module_name.endswith(".py") or "/" in module_name:
        raise Refused(f"{module_name!r} names a file; name its module, without folder and .py: {form}")
    here = os.getcwd()
    sys.path.insert(0, here)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))  # of Spark's workers
    try:
        module = importlib.import_module(module_name)
    except Exception as exc:
        raise Refused(
            f"module {module_name} cannot be loaded ({type(exc).__name__}: {exc}); mend it, or its name"
        ) from exc
    finally:
        sys.path.remove(here)
    found = getattr(module, attribute, None)
    if not isinstance(found, kind):
        there = [name for name, value in vars(module).items() if isinstance(value, kind)]
        raise Refused(f"module {module_name} has no {what} {attribute!r}; it has {', '.join(there) or 'none'}")
    return found
