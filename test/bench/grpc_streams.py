"""The generator of the benchmarks behind gRPC's Python server stream: grpc_streams.py threads|asyncio KEY=VALUE...

    threads      a thread a stream, on both sides
    asyncio      an event loop, on both sides

streams= of them at once are shared out among servers= processes. Each has a client, a process of its own too, and a Unix
socket to it. Measures for span= seconds from when all streams have begun, and prints one line of JSON, as skep_bench does.
"""

import asyncio
import json
import multiprocessing
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
from tokens import tokens

METHOD = "/bench/tokens"


def offer(server, address, generator, serializer):
    method = grpc.unary_stream_rpc_method_handler(generator, response_serializer=serializer)
    _, service, name = METHOD.split("/")
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {name: method}),))
    server.add_insecure_port(address)


def serve_on_threads(address, streams, serving):
    server = grpc.server(ThreadPoolExecutor(streams))
    offer(server, address, lambda request, context: tokens(), str.encode)
    server.start()
    serving.set()
    server.wait_for_termination()


def serve_on_asyncio(address, _, serving):
    async def encoded_tokens(request, context):
        for token in tokens():
            yield token.encode()  # gRPC 1.51 would apply a serializer twice

    async def serve():
        server = grpc.aio.server()
        offer(server, address, encoded_tokens, None)
        await server.start()
        serving.set()
        await server.wait_for_termination()

    asyncio.run(serve())


def listen_on_threads(address, chunks, streams):
    call = grpc.insecure_channel(address).unary_stream(METHOD, response_deserializer=bytes.decode)

    def listen(stream):
        for _ in call(b""):
            chunks[stream] += 1

    for stream in streams:
        threading.Thread(target=listen, args=(stream,)).start()


def listen_on_asyncio(address, chunks, streams):
    async def listen(call, stream):
        async for _ in call(b""):
            chunks[stream] += 1

    async def listen_to_all():
        call = grpc.aio.insecure_channel(address).unary_stream(METHOD, response_deserializer=bytes.decode)
        await asyncio.gather(*(listen(call, stream) for stream in streams))

    asyncio.run(listen_to_all())


def cpu_time(processes):
    return sum(time.clock_gettime(~process.pid << 3 | 2) for process in processes)  # see clock_getcpuclockid()


def observe(servers, clients, chunks, span):
    while not all(chunks):
        if not all(process.is_alive() for process in servers + clients):
            raise RuntimeError("a process has ended before its time")
        time.sleep(0.01)
    time.sleep(span / 4)
    clocks = time.perf_counter(), cpu_time(servers), cpu_time(clients)
    before = sum(chunks)
    time.sleep(span)
    count = sum(chunks) - before
    took, server_cpu, client_cpu = (
        now - then for now, then in zip((time.perf_counter(), cpu_time(servers), cpu_time(clients)), clocks)
    )
    return {
        "chunks_per_s": count / took,
        "cpu_us": client_cpu * 1e6 / count,
        "worker_cpu_us": server_cpu * 1e6 / count,
    }


def measure(serve, listen, streams, servers, span):
    streams, servers = int(streams), int(servers)
    context = multiprocessing.get_context("spawn")  # gRPC survives no fork
    chunks = context.RawArray("Q", streams)  # received, of each stream
    processes = {serve: [], listen: []}

    def start(target, *args):
        processes[target].append(context.Process(target=target, args=args))
        processes[target][-1].start()

    with tempfile.TemporaryDirectory() as folder:
        try:
            for number in range(servers):
                share = range(number, streams, servers)
                address, serving = f"unix:{folder}/{number}", context.Event()
                start(serve, address, len(share), serving)
                serving.wait()
                start(listen, address, chunks, share)
            return observe(processes[serve], processes[listen], chunks, float(span))
        finally:
            for process in processes[listen] + processes[serve]:
                process.kill()
                process.join()


MODES = {"threads": (serve_on_threads, listen_on_threads), "asyncio": (serve_on_asyncio, listen_on_asyncio)}

if __name__ == "__main__":
    print(json.dumps(measure(*MODES[sys.argv[1]], **dict(pair.split("=", 1) for pair in sys.argv[2:]))))
