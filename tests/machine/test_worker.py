"""The worker loads what the site serves, answers every request, and keeps what it has loaded."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from glassbox_book.machine import assets
from glassbox_book.outputs import read
from tests.conftest import Open
from tests.machine.conftest import PLACE
from tests.machine.test_machine_parity import SENTENCES

START = """() => {
  const worker = new Worker("machine/worker.js", { type: "module" });
  let last = 0;
  window.ask = (request) => new Promise((resolve, reject) => {
    worker.addEventListener("error", reject);
    const id = ++last, heard = [];
    worker.addEventListener("message", function hear({ data }) {
      if (data.id !== id) return;
      heard.push(data);
      if (data.type !== "done" && data.type !== "refused") return;
      worker.removeEventListener("message", hear);
      resolve(heard.map(({ result, logits, ...line }) => ({ ...line, written: result?.text })));
    });
    worker.postMessage({ id, ...request });
  });
}"""
LOAD = {"type": "load", "size": assets.size(), "version": assets.version()}


class Worker:
    """A page whose worker answers, and the requests it has made."""

    def __init__(self, visit: Open, url: str) -> None:
        self.seen = visit(url)
        self.page = self.seen.page
        self.requests: list[str] = []
        self.page.context.on("request", lambda sent: self.requests.append(sent.url))
        self.page.evaluate(START)

    def ask(self, **request):
        return self.page.evaluate("(request) => ask(request)", request)

    def fetched(self) -> list[str]:
        return [Path(url).name for url in self.requests if "/model/" in url]


@pytest.fixture
def worker(visit, machine_url):
    return Worker(visit, machine_url)


def test_it_loads_with_its_progress_and_writes_token_by_token(worker, translator):
    heard = worker.ask(**LOAD)
    assert [one["type"] for one in heard[-1:]] == ["done"]
    progress = [one["received"] for one in heard[:-1]]
    assert len(progress) > 5
    assert progress == sorted(progress)
    assert progress[-1] == LOAD["size"]
    reading, *tokens, done = worker.ask(type="translate", text=SENTENCES[0])
    assert reading["type"] == "read"
    assert reading["source"][:2] == ["<fr>", "␣time"]
    assert done["written"] == translator.translate(SENTENCES[0], n_beams=1)
    assert [one["type"] for one in tokens] == ["token"] * 9
    assert tokens[0]["piece"] == "␣le"
    assert tokens[-1]["text"] == done["written"]
    assert sorted(worker.fetched()) == sorted(assets.MODEL_FILES)
    assert {urlsplit(url).hostname for url in worker.requests} == {"127.0.0.1"}
    assert worker.seen.problems == []
    assert not worker.page.evaluate("crossOriginIsolated")


def test_it_goes_on_without_a_network_and_without_loading_again(worker, machine_url, visit):
    worker.ask(**LOAD)
    n_requests = len(worker.requests)
    worker.page.context.set_offline(True)
    assert worker.ask(type="translate", text="J'aime les chiens.")[-1]["written"] == "I like dogs."
    assert len(worker.requests) == n_requests
    # Another page of the same browser finds the files where the first has put them.
    worker.page.context.set_offline(False)
    page = worker.page.context.new_page()
    fetched: list[str] = []
    page.context.on("request", lambda sent: fetched.append(sent.url))
    page.goto(machine_url)
    page.evaluate(START)
    assert page.evaluate("(request) => ask(request)", LOAD)[-1]["type"] == "done"
    assert not [url for url in fetched if "/model/" in url]


def test_an_older_edition_is_not_kept_beside_a_newer(worker):
    for version in ("older", "newer"):
        worker.ask(**(LOAD | {"version": version}))
    assert worker.page.evaluate("caches.keys()") == ["glassbox-model-newer"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "nothing to read"),
        (" \u200b\u00a0\n", "nothing to read"),
        ("word " * 600, "602 tokens, and the page takes 64"),
    ],
)
def test_what_cannot_be_translated_is_answered_with_a_sentence(worker, text, said):
    worker.ask(**LOAD)
    (answer,) = worker.ask(type="translate", text=text)
    assert answer["type"] == "refused"
    assert said in answer["message"]
    assert worker.seen.problems == []


def test_half_a_character_is_answered_with_a_sentence(worker):
    worker.ask(**LOAD)
    (answer,) = worker.page.evaluate("ask({ type: 'translate', text: 'a \\ud83d b' })")
    assert "half a character" in answer["message"]
    assert worker.seen.problems == []


def test_weights_that_are_not_there_are_answered_with_a_sentence_and_asked_for_again(worker):
    gone = "**/model.safetensors"
    worker.page.context.route(gone, lambda route: route.fulfill(status=404))
    *_, answer = worker.ask(**LOAD)
    assert answer["type"] == "refused"
    assert "the server answers 404" in answer["message"]
    worker.page.context.unroute(gone)
    assert worker.ask(**LOAD)[-1]["type"] == "done"
    assert all("404" in problem for problem in worker.seen.problems)  # the browser's own line


def test_without_a_connection_it_says_so(worker):
    worker.page.context.route("**/model/*", lambda route: route.abort())
    *_, answer = worker.ask(**LOAD)
    assert "there is no connection" in answer["message"]


def test_weights_that_are_cut_off_are_refused_and_not_kept(worker):
    place = "**/model.safetensors"
    worker.page.context.route(place, lambda route: route.fulfill(body=b"short"))
    assert "truncated" in worker.ask(**LOAD)[-1]["message"]
    worker.page.context.unroute(place)
    assert worker.ask(**LOAD)[-1]["type"] == "done"


def test_the_model_is_served_byte_for_byte(tmp_path):
    assets.write_files(tmp_path / PLACE)
    for file in assets.model_files():
        assert (tmp_path / PLACE / "model" / file.name).read_bytes() == file.read_bytes()
    assert 14_000_000 < assets.size() < 14_500_000


def test_the_forward_pass_is_short_enough_to_be_read():
    """Greedy choice, the cache and the recording included; reading files and beams are not."""
    names = ("attention", "cache", "generation", "layers", "looking", "transformer")
    lines = [
        line.strip() for name in names for line in read(f"machine/page/{name}.js").splitlines()
    ]
    code = [line for line in lines if line and not line.startswith("//")]
    assert 250 < len(code) <= 300, len(code)
    assert max(map(len, lines)) <= 130


def test_a_page_lets_go_of_what_was_answered(visit, machine_url):
    page = visit(machine_url).page
    waiting = page.evaluate(
        """async (load) => {
          const { Client } = await import("./machine/client.js");
          const client = new Client(), texts = ["A cat.", "", "A dog."];
          const asked = texts.map((text) => client.ask({ ...load, type: "tokenize", text }));
          const before = client.waiting.size;
          const answers = await Promise.allSettled(asked);
          return [before, client.waiting.size, answers.map(({ status }) => status)];
        }""",
        LOAD,
    )
    assert waiting == [3, 0, ["fulfilled", "rejected", "fulfilled"]]
