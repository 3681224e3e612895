"""Asks for all things at once."""

from concurrent.futures import ThreadPoolExecutor

from honest import Worker


class Broken(Worker):
    def do_ask_all(self, call, name, items):
        with ThreadPoolExecutor(len(items)) as pool:
            return list(pool.map(lambda item: self.do_ask(call, name, {"item": item})[0], items)), ()


Broken().serve()
