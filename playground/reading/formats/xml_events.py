"""Streaming XML parser for UTF-8 (`encodings` converts to it): line numbers, no tree in memory, nothing fetched, no entity expanded."""

from __future__ import annotations

import codecs
import html.entities
import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from typing import NamedTuple, TypeVar
from xml.sax import SAXParseException  # only the exception: the parser is defusedxml's
from xml.sax.handler import ContentHandler

from playground.config import Refusal
from playground.reading.formats import ENDLESS, Source

_CHUNK = 1024 * 1024  # bytes; large, as expat rescans a long token with every chunk
_MAX_ELEMENTS = 3_000_000  # the most that can be read within the timeout
_MAX_DEPTH = 200  # nesting depth of elements
_ENDLESS = re.compile(f"<[^<]{{{ENDLESS}}}")
_HEAD = 4096  # bytes that contain the first element
_ROOT = re.compile(r"<!DOCTYPE\s+([\w.-]+)|<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)")
_COMMENT = re.compile("<!--.*?(?:-->|$)", re.DOTALL)

Handler = TypeVar("Handler", bound="Events")


class Element(NamedTuple):
    """An element with the line of its tag; `parts` are the texts and elements in it. Tags come without prefix."""

    tag: str
    attributes: dict[str, str]
    line: int
    parts: list[str | Element]

    def children(self, *tags: str) -> list[Element]:
        """Returns the elements directly in it, of these tags if any."""
        return [part for part in self.parts if not isinstance(part, str) and (not tags or part.tag in tags)]

    def text(self, read: Callable[[Element], str] | None = None) -> str:
        """Returns the text in it; that of elements inside as `read` gives it, if anything does."""
        return "".join(part if isinstance(part, str) else read(part) if read else part.text() for part in self.parts)


class Events(ContentHandler):
    """Opens the elements of a document one by one, but takes those of `whole` tags with everything in them, and skips `aside` ones."""

    whole: Collection[str] = ()
    aside: Collection[str] = ()

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.name = source.name
        self.path: list[Element] = []  # from a whole element to the innermost open one
        self.skipped = 0  # nesting depth within an element aside

    def open(self, element: Element) -> None:
        """Handles the beginning of an element outside of whole ones; it has no parts."""

    def take(self, element: Element) -> None:
        raise NotImplementedError

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.skipped or (not self.path and tag in self.aside):
            self.skipped += 1
            return
        element = Element(tag, attributes, self._locator.getLineNumber(), [])
        if self.path:
            self.path[-1].parts.append(element)
        if self.path or tag in self.whole:
            self.path.append(element)
        else:
            self.open(element)

    def stop(self) -> None:
        if self.skipped:
            self.skipped -= 1
        elif self.path:
            element = self.path.pop()
            if not self.path:
                self.take(element)

    def characters(self, content: str) -> None:
        if self.path:
            self.path[-1].parts.append(content)

    def skippedEntity(self, name: str) -> None:
        """Resolves an entity declared in the unread DTD: most likely an HTML character."""
        self.characters(html.entities.html5.get(f"{name};", ""))


@cache
def _parser_class() -> type:
    from defusedxml.expatreader import DefusedExpatParser

    class Parser(DefusedExpatParser):
        """Forwards tags to `Events`, and refuses before their number or depth exhausts memory."""

        events: Events
        depth = count = 0

        def start_element(self, name: str, attributes: dict[str, str]) -> None:
            self.depth += 1
            self.count += 1
            if self.depth > _MAX_DEPTH or self.count > _MAX_ELEMENTS:
                raise Refusal("data.xml_tags", name=self.events.name, line=self.getLineNumber(), deep=_MAX_DEPTH, limit=_MAX_ELEMENTS)
            self.events.start(name.rpartition(":")[2], attributes)

        def end_element(self, name: str) -> None:
            self.depth -= 1
            self.events.stop()

    return Parser


def find_root(source: Source) -> str:
    """Returns the first element's name without prefix; "" for anything but XML."""
    text = source.data[:_HEAD].decode("utf-8", "ignore").lstrip("\ufeff \t\r\n")
    match = _ROOT.search(_COMMENT.sub("", text)) if text.startswith("<") else None
    return (match[1] or match[2]) if match else ""


def parse(source: Source, handler: Callable[[Source], Handler]) -> Handler:
    """Parses the whole document into a handler. Raises Refusal, with the line, if it is broken, truncated or hostile."""
    from defusedxml import DefusedXmlException

    parser = _parser_class()(forbid_dtd=False, forbid_entities=True, forbid_external=False)  # a DTD may be named; it is never fetched
    parser.events = events = handler(source)
    parser.setContentHandler(events)
    events.setDocumentLocator(parser)
    try:
        for text in _check_tags(source):
            parser.feed(text)
    except UnicodeDecodeError:
        raise Refusal("data.xml_broken", name=source.name, line=parser.getLineNumber()) from None
    except SAXParseException as error:
        raise Refusal("data.xml_broken", name=source.name, line=error.getLineNumber()) from None
    except DefusedXmlException:
        raise Refusal("data.xml_entities", name=source.name, line=parser.getLineNumber()) from None
    try:
        parser.close()
    except SAXParseException as error:
        raise Refusal("data.xml_cut", name=source.name, line=error.getLineNumber()) from None
    return events


def _check_tags(source: Source) -> Iterator[str]:
    """Yields the text in pieces, refusing endless tags: one could hold a million attributes, and would be in memory before it is
    counted."""
    begun, line = 0, 1  # characters since the last "<"
    data = source.data
    for text in codecs.iterdecode((data[start : start + _CHUNK] for start in range(0, len(data), _CHUNK)), "utf-8-sig"):
        first = text.find("<") % (len(text) + 1)
        endless = begun + first > ENDLESS or _ENDLESS.search(text)
        if endless:
            place = endless.start() if isinstance(endless, re.Match) else 0
            raise Refusal("data.xml_endless", name=source.name, line=line + text.count("\n", 0, place), limit=ENDLESS)
        begun = begun + len(text) if first == len(text) else len(text) - text.rfind("<")
        line += text.count("\n")
        yield text
