"""Random models of random metamodels: a DataFrame holds what the objects hold."""

from typing import Any

import pytest

import neomodel as nm
from neomodel.kinds import EClass
from tests.spark.frames import expected, fits, read
from tests.spark.random_models import Form, forms, new_model
from tests.xmi.random_models import URI, Filled, filled


def check(given: Filled) -> None:
    with new_model(given) as model:
        for kind in (kind for kind in model.repository.metamodel(URI).eClassifiers if isinstance(kind, EClass)):
            options = {"store": model.repository.store.url, "model": "m", "type": kind.name}
            assert read(**options, exact=True) == expected(model, kind, exact=True)
            kept = [feature for feature in kind.features.values() if feature.kept and not feature.timeline]
            if all(fits(_held(obj, feature), feature) for obj in model.all(kind) for feature in kept):
                assert read(**options) == expected(model, kind)
            else:
                with pytest.raises(nm.InvalidValue, match="exact=true"):
                    read(**options)


def _held(obj: Any, feature: Any) -> Any:
    value = obj.eGet(feature.name)
    return list(value) if feature.many else value


@forms(short=50, with_long_lists=20, at_length=3000)
def test_a_data_frame_holds_what_the_objects_hold(form: Form) -> None:
    form.run(check, filled)
