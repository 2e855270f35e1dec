"""Open the built site in Firefox: no page reports an error, and the machine translates.

Firefox is controlled through its built-in WebDriver BiDi, over a socket that it opens.
"""

import itertools
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from websocket import WebSocket, create_connection

from tools.build_site import INDEX
from tools.serve import serving

PATIENCE = 120  # seconds for an answer
SENTENCE = "The cat is sleeping on the table."
TRANSLATE = """(sentence) => new Promise((resolve) => {
  const part = (name) => document.querySelector(`[data-machine="${name}"]`);
  const field = part("sentence"), output = part("translation");
  new MutationObserver(() => {
    if (["done", "refused"].includes(output.dataset.state)) resolve(output.textContent);
  }).observe(output, { attributes: true });
  field.value = sentence;
  part("run").click();
})"""


class Firefox:
    """A window of Firefox."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket, self.numbers = socket, itertools.count(1)
        self.complaints: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        (tree,) = self.ask("browsingContext.getTree")["contexts"]
        self.context = tree["context"]

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and return its result; messages of the pages are kept."""
        number = next(self.numbers)
        self.socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            said = json.loads(self.socket.recv())
            if said.get("method") == "log.entryAdded" and said["params"]["level"] == "error":
                self.complaints.append(said["params"]["text"])
            if said.get("id") == number:
                if said["type"] == "error":
                    raise RuntimeError(f"{method}: {said['message']}")
                return dict(said["result"])

    def visit(self, url: str) -> None:
        """Load a page with all its resources."""
        self.ask("browsingContext.navigate", context=self.context, url=url, wait="complete")

    def call(self, function: str, *arguments: str) -> Any:
        """Return the result of a JavaScript function in the page."""
        values = [{"type": "string", "value": argument} for argument in arguments]
        answer = self.ask(
            "script.callFunction",
            functionDeclaration=function,
            arguments=values,
            awaitPromise=True,
            target={"context": self.context},
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"]["value"]


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Start a headless Firefox."""
    program = shutil.which("firefox-esr") or shutil.which("firefox")
    if program is None:
        raise SystemExit("no Firefox on this machine: install firefox or firefox-esr")
    options = ("--headless", "--no-remote", "--remote-debugging-port=0", "--profile")
    with (
        tempfile.TemporaryDirectory() as profile,
        subprocess.Popen(
            [program, *options, profile],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        try:
            assert process.stderr is not None
            line = next((line for line in process.stderr if "BiDi listening on" in line), "")
            if not line:
                raise SystemExit(f"{program} ended before it listened for commands")
            threading.Thread(target=process.stderr.read, daemon=True).start()  # keep the pipe empty
            place = f"{line.split()[-1]}/session"
            with closing(create_connection(place, PATIENCE, suppress_origin=True)) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def main() -> None:
    """Visit every page, and have the machine translate a sentence."""
    from glassbox.translation import Translator

    site = INDEX.parent
    pages = sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)
    complaints = {}
    with serving(site) as url, firefox() as window:
        for page in pages:
            name = str(page.relative_to(site))
            window.visit(f"{url}{name}")
            if window.complaints:
                complaints[name], window.complaints = window.complaints, []
        window.visit(f"{url}chapters/machine.html")
        start = time.perf_counter()
        found = window.call(TRANSLATE, SENTENCE)
        took = time.perf_counter() - start
        complaints |= {"the machine": window.complaints} if window.complaints else {}
    expected = Translator.from_pretrained("tatoeba-en-fr").translate(SENTENCE, n_beams=1)
    print(f"{len(pages)} pages; {SENTENCE!r} in {took:.1f} s, loading included: {found!r}")
    for name, said in complaints.items():
        print(f"{name}: {said}")
    if complaints or found != expected:
        sys.exit(f"expected {expected!r} and no complaint")


if __name__ == "__main__":
    main()
