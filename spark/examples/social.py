"""The queries of the Transformation Tool Contest 2018: the best posts and comments of a social network.

    python -m spark.examples.social --store lmdb:neomodel.db --model social [--spark]

The answer to each is the best three, ``id|id|id``, newer ones first where scores are the same.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import LongType

import neomodel as nm
from spark.examples.running import run
from spark.examples.tables import Tables

SOCIAL = "https://www.transformation-tool-contest.eu/2018/social_media"

User = TypeVar("User")


def best_posts(model: nm.Model, social: Any) -> str:
    """Posts by 10 for each comment below them and 1 for each like on those."""
    scores = []
    for post in model.all(social.Post):
        comments = [one for one in post.eAllContents() if isinstance(one, social.Comment)]
        scores.append((10 * len(comments) + sum(len(comment.likedBy) for comment in comments), post))
    return _best(scores)


def best_posts_job(tables: Tables) -> str:
    comments = tables("Comment", "commented", "likedBy")
    worth = comments.select(f.col("_id").alias("comment"), (10 + f.size("likedBy")).alias("worth"))
    scores = _tops(comments.select("_id", "commented")).join(worth, "comment")
    scores = scores.groupBy(f.col("top").alias("_id")).agg(f.sum("worth").alias("score"))
    return _first(tables("Post", "id", "timestamp").join(scores, "_id", "left"), f.col("score"))


def _tops(comments: DataFrame) -> DataFrame:
    """What each comment, of `_id` and `commented`, lies in that is no comment. Each step goes twice as far up."""
    found = comments.toDF("comment", "top")
    while True:
        above = found.toDF("top", "above")
        found = found.join(above, "top", "left").select("comment", "top", "above").localCheckpoint()
        if found.where(f.col("above").isNotNull()).isEmpty():
            return found.select("comment", "top")
        found = found.select("comment", f.coalesce("above", "top").alias("top"))


def best_comments(model: nm.Model, social: Any) -> str:
    """Comments by the squared sizes of the groups of friends among those who like them."""
    scores = []
    for comment in model.all(social.Comment):
        score = sum(len(group) ** 2 for group in _groups(comment.likedBy, lambda user: user.friends))
        scores.append((score, comment))
    return _best(scores)


def best_comments_job(tables: Tables) -> str:
    likes = tables("Comment", "likedBy").select(f.col("_id").alias("comment"), f.explode("likedBy").alias("user"))
    users = tables("User", "friends").withColumnRenamed("_id", "user")
    likers = likes.join(users, "user").groupBy(f.col("comment").alias("_id"))
    scores = likers.agg(_squares(f.collect_list(f.struct("user", "friends"))).alias("score"))
    return _first(tables("Comment", "id", "timestamp").join(scores, "_id", "left"), f.col("score"))


@f.udf(returnType=LongType(), useArrow=False)
def _squares(likers: list[tuple[str, list[str]]]) -> int:
    """The squared sizes of the groups of friends among some users, each given with his friends."""
    friends = dict(likers)
    return sum(len(group) ** 2 for group in _groups(friends, friends.__getitem__))


def _groups(users: Iterable[User], friends: Callable[[User], Iterable[User]]) -> Iterator[set[User]]:
    """Users by who is a friend of whom, directly or through others of them."""
    left = set(users)
    while left:
        group = waiting = {left.pop()}
        while waiting:
            waiting = {friend for user in waiting for friend in friends(user) if friend in left}
            left -= waiting
            group = group | waiting
        yield group


def _best(scores: list[tuple[int, Any]]) -> str:
    best = sorted(scores, key=lambda pair: (pair[0], pair[1].timestamp), reverse=True)[:3]
    return "|".join(one.id for _, one in best)


def _first(frame: DataFrame, score: Column) -> str:
    best = frame.orderBy(f.coalesce(score, f.lit(0)).desc(), f.col("timestamp").desc(), "_id").limit(3)
    return "|".join(row["id"] for row in best.select("id").collect())


QUERIES: dict[str, Callable[[nm.Model, Any], str]] = {"Q1": best_posts, "Q2": best_comments}
JOBS: dict[str, Callable[[Tables], str]] = {"Q1": best_posts_job, "Q2": best_comments_job}


def main() -> None:
    run(
        "TTC 2018: the best posts (Q1) and comments (Q2) of a social network.",
        SOCIAL,
        QUERIES,
        lambda name, model, social: QUERIES[name](model, social),
        lambda name, tables: JOBS[name](tables),
    )


if __name__ == "__main__":
    main()
