"""A worker that configures logging as most scripts do."""

import logging

import skep

logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s")
worker = skep.Worker()


@worker.on_start
def start():
    logging.info("in a hook")


@worker.command
def log(text):
    for level in (logging.DEBUG, logging.INFO, logging.ERROR):
        logging.getLogger("model").log(level, text)


worker.run()
