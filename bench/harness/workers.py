"""A process of its own for each solver that is measured, which is ended where it takes too long."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Generic, TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")

SPAWN = multiprocessing.get_context("spawn")


class Failure(Exception):
    """Why a task has no answer."""


class Worker(Generic[Task, Answer]):
    """A process that answers tasks, one after the other.

    It starts with its first task, and anew after it was ended. What it has imported and compiled it keeps between
    tasks.

    Parameters
    ----------
    function : callable
        What answers a task; a function that a new process can import.
    """

    def __init__(self, function: Callable[[Task], Answer]) -> None:
        self.function = function
        self.process: SpawnProcess | None = None
        self.pipe: Connection

    def ask(self, task: Task, patience: float) -> Answer:
        """Return the answer to a task.

        Raises
        ------
        Failure
            If the function raised an exception, the process died, or `patience` seconds went by.
        """
        if self.process is None:
            self.pipe, theirs = SPAWN.Pipe()
            self.process = SPAWN.Process(target=_serve, args=(theirs, self.function), daemon=True)
            self.process.start()
            theirs.close()
        try:
            self.pipe.send(task)
            if not self.pipe.poll(patience):
                self.end()
                raise Failure(f"no answer in {patience:g} s")
            answer: Answer | Failure = self.pipe.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError) as error:
            self.process.join()
            code = self.process.exitcode
            self.end()
            raise Failure(f"its process died with exit code {code}") from error
        if isinstance(answer, Failure):
            raise answer
        return answer

    def end(self) -> None:
        """End the process, whatever it does."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.pipe.close()
            self.process = None


def _serve(pipe: Connection, function: Callable[[Task], Answer]) -> None:
    """Answer tasks until the other end is closed."""
    while True:
        try:
            task = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            pipe.send(function(task))
        except Exception as error:
            pipe.send(Failure(f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"))
