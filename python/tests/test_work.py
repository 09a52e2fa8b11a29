"""Threads, interrupts, progress, forks and memory."""

from __future__ import annotations

import concurrent.futures
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import spillway as sp


@pytest.fixture(scope="module")
def large() -> sp.Graph:
    return sp.generate("kron", scale=16, undirected=True, dedup=True, drop_loops=True)


def test_several_threads_on_one_graph(large):
    expected = large.bfs(1).level
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for r in pool.map(lambda _: large.bfs(1, threads=1), range(16)):
            assert np.array_equal(r.level, expected)


def test_others_run_while_it_computes(large):
    ticks, done = [], threading.Event()

    def count():
        while not done.wait(0.005):
            ticks.append(time.perf_counter())

    counter = threading.Thread(target=count)
    counter.start()
    begin = time.perf_counter()
    large.bc(sources=64)
    took = time.perf_counter() - begin
    done.set()
    counter.join()
    assert len(ticks) > took / 0.1


LONG = """
import signal, time, spillway as sp
g = sp.generate("kron", scale=16, undirected=True, dedup=True, drop_loops=True)
print("ready", flush=True)
try:
    g.{question}
except KeyboardInterrupt:
    print("interrupted", g.vertex_count, g.bfs(1).top(1), flush=True)
"""


@pytest.mark.parametrize("question", ["bc(sources='all')", "pagerank(iterations=1000000)"])
def test_ctrl_c(question):
    code = LONG.format(question=question)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        begin = time.perf_counter()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        took = time.perf_counter() - begin
        assert line.startswith("interrupted 65536 vertex  level"), line
        assert process.wait(timeout=60) == 0
    assert took < 1.5, "half a second to be heard, and a search"


def test_exceptions_of_signal_handlers_end_the_work(large):
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        begin = time.perf_counter()
        with pytest.raises(Alarm):
            large.pagerank(iterations=1_000_000)
        assert time.perf_counter() - begin < 1
    finally:
        signal.signal(signal.SIGALRM, before)


def test_progress_is_told(large):
    told = []
    large.bc(sources=128, progress=lambda *words: told.append(words))
    assert told and all(isinstance(stage, str) and unit in ("items", "bytes", "edges") for stage, _, _, unit in told)

    def refuse(*_):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        large.pagerank(iterations=1_000_000, progress=refuse)


def test_a_bar_of_tqdm(large, capsys):
    pytest.importorskip("tqdm")
    large.bc(sources=128, progress=True)
    assert "edges/s" in capsys.readouterr().err


def _ask(graph, queue):
    try:
        graph.bfs(1)
        queue.put("no error")
    except sp.ClosedError as error:
        fresh = sp.from_edges(np.arange(100_000), np.roll(np.arange(100_000), 1))
        queue.put(f"{error} / {fresh.cc().components}")


def test_a_forked_process(large):
    large.bfs(1)
    fork = multiprocessing.get_context("fork")
    queue = fork.Queue()
    process = fork.Process(target=_ask, args=(large, queue))
    process.start()
    said = queue.get(timeout=60)
    process.join(60)
    assert "before the process was forked" in said and said.endswith("/ 1")
    assert process.exitcode == 0


def _resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_given_back():
    source, target = np.arange(20_000), np.roll(np.arange(20_000), 1)

    def make(times):
        for _ in range(times):
            g = sp.from_edges(source, target, threads=1)
            r = g.pagerank(threads=1, iterations=2)
            assert r.rank.size == 20_000
        gc.collect()

    make(100)
    before = _resident()
    make(1_000)
    assert _resident() - before < 20 << 20


def test_references_are_given_back():
    values = np.arange(1_000)
    before = sys.getrefcount(values)
    for _ in range(10):
        sp.from_edges(values, values).bfs(0)
        with pytest.raises(ValueError):
            sp.from_edges(values, values[:5])
    gc.collect()
    assert sys.getrefcount(values) == before


def test_imports_quickly_and_without_others():
    code = "import sys, spillway; print(any(m in sys.modules for m in ('numpy', 'pandas', 'networkx')))"
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        with_it = time.perf_counter() - begin
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        times.append(with_it - (time.perf_counter() - begin))
    assert out.strip() == "False"
    assert min(times) < 0.2


def test_the_end_of_a_program_does_not_wait_for_daemons():
    code = (
        "import threading, time, spillway as sp\n"
        "g = sp.generate('kron', scale=16, undirected=True)\n"
        "ask = lambda: [g.pagerank(iterations=1000) for _ in range(100)]\n"
        "threading.Thread(target=ask, daemon=True).start()\n"
        "time.sleep(.3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
