"""What lib/python/README.md quotes of unit tests without a pool."""

from my_service.worker import worker


def test_greet():
    assert worker.call("greet", name="Ada") == "Hello, Ada"


import skep  # noqa: E402  only what follows needs it


def test_greet_by_id():
    with skep.fake_tools({"lookup_user": lambda id: {"name": "Ada"}}):
        assert worker.call("greet", user=42) == "Hello, Ada"


def test_embed():
    vectors = worker.call_batch("embed", [{"text": "a"}, {"text": "b"}])
    assert len(vectors) == 2
