"""Convert a chapter's text for front ends without directives and roles, such as Colab's.

Directives become plain Markdown: a figure is a picture with its caption, a hint unfolds, a box is a
quotation. A reference becomes the number or the name of its target.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from docutils import nodes
from pybtex.database import parse_file
from sphinx.environment import BuildEnvironment

#: Returns the text of a role, given its name and its target.
Resolve = Callable[[str, str], str]

ROLE = re.compile(r"\{([\w:-]+)\}`([^`]+)`")
DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})[ ]*\{(?P<name>[\w-]+)\}[ ]*(?P<argument>[^\n]*)\n"
    r"(?P<options>(?::[\w-]+:[^\n]*\n)*)\n?(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
OPTION = re.compile(r"^:([\w-]+):[ ]*(.*)$", re.MULTILINE)
TARGET = re.compile(r"^\([\w-]+\)=\n", re.MULTILINE)
CODE = {"attr", "class", "data", "func", "meth", "mod"}
BOXES = {"important", "note", "seealso", "warning"}
#: The plain form of each other directive, from its argument and its body.
FORMS = {
    "deeper": "*Going deeper.* {body}",
    "div": "{body}",
    "exercise": "### Exercise: {argument}\n\n{body}",
    "exercise-start": "### Exercise: {argument}\n\n{body}",
    "exercise-end": "",
    "hint": "<details><summary>Hint</summary>\n\n{body}\n\n</details>",
    "machine": "*On the site, you can play with a piece of the machine here.*",
    "solution-end": "",
}


def to_plain(text: str, resolve: Resolve, pictures: str = "") -> str:
    """Return Markdown without directives, roles and targets.

    Parameters
    ----------
    text : str
        A cell in MyST's Markdown.
    resolve : callable
        Returns the text of a role and its target.
    pictures : str, optional
        The prefix of ``images/`` in the address of a picture; as written if left out.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If a directive is unknown.
    """

    def directive(found: re.Match[str]) -> str:
        name, argument = found["name"], found["argument"].strip()
        options = dict(OPTION.findall(found["options"]))
        body = to_plain(found["body"], resolve, pictures).strip("\n")
        if name == "math":
            tag = rf" \tag{{{resolve('eq', options['label'])}}}" if "label" in options else ""
            return f"$$\n{body}{tag}\n$$"
        if name in ("figure", "image"):
            address = pictures + argument.removeprefix("../") if pictures else argument
            picture = f"![{options.get('alt', '')}]({address})"
            if name == "image":
                return picture
            return f"{picture}\n\n**{resolve('numref', options['name'])}.** {body}"
        if name == "solution-start":
            return f"**Solution: {resolve('title', argument)}**"
        if name in BOXES:
            return _quoted(f"**{'See also' if name == 'seealso' else name.capitalize()}.** {body}")
        if name == "epigraph":
            return _quoted(f"*{body}*")
        if name not in FORMS:
            raise ValueError(
                f"the directive {name!r} has no plain form: give it one in glassbox_site/plain.py"
            )
        return FORMS[name].format(argument=argument, body=body)

    text = DIRECTIVE.sub(directive, TARGET.sub("", text))
    return ROLE.sub(lambda found: _reference(found[1], found[2], resolve), text)


def _reference(role: str, target: str, resolve: Resolve) -> str:
    """Return the text of a reference; one with its own text, ``words <target>``, keeps it."""
    if role in CODE:
        return f"`{target.lstrip('~').rpartition('.')[2] if target[0] == '~' else target}`"
    if own := re.fullmatch(r"(.+?)\s*<[^>]+>", target):
        return own[1]
    return f"({resolve(role, target)})" if role == "eq" else resolve(role, target)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def words(env: BuildEnvironment, exercises: Mapping[str, str]) -> Resolve:
    """Return a function that knows the numbers and names of a book that has been read.

    Parameters
    ----------
    env : BuildEnvironment
        Of the build.
    exercises : mapping
        Titles of the exercises, by their labels.

    Returns
    -------
    callable
        Returns the text of a role and its target; unknown targets stay as they are.
    """
    std = env.domains["std"].data
    cited: dict[str, str] = {}
    for file in env.config.bibtex_bibfiles:
        for key, entry in parse_file(f"{env.srcdir}/{file}").entries.items():
            cited[key] = f"{_authors(entry.persons.get('author', []))}, {entry.fields['year']}"

    def number(kind: str, docname: str, place: str) -> str:
        found = env.toc_fignumbers.get(docname, {}).get(kind, {}).get(place, ())
        return ".".join(map(str, found))

    def resolve(role: str, target: str) -> str:
        if role == "cite":
            return f"[{'; '.join(cited.get(key.strip(), key) for key in target.split(','))}]"
        if role == "eq":
            docname = env.domains["math"].data["objects"].get(target, ("",))[0]
            place = f"equation-{nodes.make_id(target)}"
            return number("displaymath", docname, place) or target
        if role == "numref":
            docname, place = std["anonlabels"].get(target, ("", ""))
            for kind, name in env.config.numfig_format.items():
                if found := number(kind, docname, place):
                    return name % found
            return target
        if role == "title":
            return exercises.get(target, target)
        if role == "ref":
            return f"*{std['labels'][target][2]}*" if target in std["labels"] else target
        if role == "doc":
            names = (n for n in env.titles if f"/{n}".endswith(f"/{target.lstrip('/')}"))
            if docname := next(names, ""):
                return f"*{env.titles[docname].astext()}*"
        return target  # a term of the glossary is its own name

    return resolve


def _authors(persons: list[Any]) -> str:
    names = [
        " ".join((*person.prelast_names, *person.last_names)).strip("{}") for person in persons
    ]
    if len(names) > 2:
        return f"{names[0]} et al."
    return " and ".join(names)
