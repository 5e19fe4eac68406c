"""Every word can be read, also on a projector: contrast as WCAG's level AA wants it, in the light and in the dark."""

from __future__ import annotations

import pytest

from tests.browser.steps import drawn, link

# Every visible text whose contrast to what lies behind it is too low, as WCAG 2.2 counts it (AA): 4.5, large text 3. What is off is
# exempt, and so is what is written on the cells and bars of a picture, whose ground is no element's own.
SCRIPT = """() => {
  const EXEMPT = "button:disabled, input:disabled, [aria-disabled=true], [aria-hidden=true], .heatmaplayer, .barlayer, .hoverlayer";
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  canvas.canvas.width = canvas.canvas.height = 1;
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, [r, g, b]) => top.slice(0, 3).map((value, at) => value * top[3] + [r, g, b][at] * (1 - top[3]));
  const light = (color) => {
    const [r, g, b] = color.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const above = (element) => (element ? [...above(element.parentElement), element] : []);
  /** The colour of a text as it is seen, and that of its ground: every element over the one it stands in, each with its opacity. */
  const seen = (element, color) => {
    let ground = [255, 255, 255], all = 1;
    for (const one of above(element)) {
      const style = getComputedStyle(one), paint = rgba(style.backgroundColor);
      all *= Number(style.opacity);
      paint[3] *= all;
      ground = over(paint, ground);
    }
    const ink = rgba(color);
    ink[3] *= all;
    return ratio(over(ink, ground), ground);
  };
  const found = [];
  const look = (element, text, color) => {
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700), contrast = seen(element, color);
    const where = [element.tagName.toLowerCase(), element.id && `#${element.id}`, element.getAttribute("class")].filter(Boolean).join(" ");
    if (contrast < (large ? 3 : 4.5)) found.push(`${contrast.toFixed(2)} ${text.trim().slice(0, 40)} (${where})`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent.trim() || element.closest(`${EXEMPT}, script, style, option`)) continue;
    if (!element.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const { width, height } = range.getBoundingClientRect();
    if (width < 2 || height < 2) continue;
    const style = getComputedStyle(element);
    look(element, node.textContent, element instanceof SVGElement ? style.fill : style.color);
  }
  for (const input of document.querySelectorAll("input[placeholder], textarea[placeholder]"))
    if (input.checkVisibility() && !input.value) look(input, input.placeholder, getComputedStyle(input, "::placeholder").color);
  return [...new Set(found)];
}"""
TABS = {
    "training": {}, "attention": {}, "course": {}, "labs": {}, "masks": {}, "teacher_forcing": {}, "interventions": {},
    "map": {"stage": "decoder.1.cross_attention.weights", "row": 1, "col": 2},
}  # fmt: skip


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.night
def test_every_text_stands_out_from_its_ground(visit, theme):
    faint = {}
    page = visit(link(text="hello", __theme=theme))
    for tab, more in TABS.items():
        page.goto(link(text="hello", __theme=theme, tab=tab, **more))
        drawn(page.locator(f"#pg-panel-{tab}"))
        page.wait_for_timeout(500)  # until colours that change have changed
        faint[tab] = page.evaluate(SCRIPT)
    assert not any(faint.values()), "\n".join(f"{tab}: {one}" for tab, found in faint.items() for one in found)
