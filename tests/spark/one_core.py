"""Random processes computed again on one core: ``python -m tests.spark.one_core FOLDER SEED...``.

What was run by `test_pipeline_random` is repeated here, in a process of its own, by a Spark with one core; each must
give the same bytes. The folder has a store for each, and their products.
"""

import random
import sys
from pathlib import Path

import neomodel as nm
import spark
from tests.spark.killing import own_session
from tests.spark.random_products import LAYOUT, drawn, process


def main(folder: str, *seeds: str) -> None:
    session = own_session("local[1]")
    assert session.sparkContext.defaultParallelism == 1
    for seed in map(int, seeds):
        LAYOUT.seed = seed + 2
        name = f"random {seed}"
        with nm.connect(f"lmdb:{folder}/db{seed}") as repo:
            products = Path(folder, "products")
            made = spark.Pipeline(process(drawn(random.Random(seed)), name), repo, products, session=session)
            again = made.recompute(1)
            assert again.same, str(again)
        print(f"{name} is the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
