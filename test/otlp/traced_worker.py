"""A worker that says where it stands in a trace."""

import threading

import skep

worker = skep.Worker()


@worker.command
def predict():
    headers = [skep.traceparent()]
    with skep.span("work", {"model": "small"}):
        headers.append(skep.traceparent())
        with skep.span("inner work"):
            headers.append(skep.traceparent())
            skep.call_host("lookup")
    thread = threading.Thread(target=in_a_thread)
    thread.start()
    thread.join()
    return headers


def in_a_thread():
    with skep.span("in a thread"):
        pass


@worker.command
def weigh():
    return 1


worker.run()
