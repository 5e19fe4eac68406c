// A page small enough to read, for scripts that look around when they are imported: elements that hold one another, and events that rise.
// A script that only computes is tested by rows of a table in functions.test.js; one that draws or listens in a <script>.test.js of its own:
// openPage("?tab=map") first, then `await import(…)`; a static import would run before the page is there. What is lacking is added here.

class TextNode {
  constructor(text) {
    this.data = text;
  }

  get textContent() {
    return this.data;
  }
}

/** Listeners, and events that rise to the parents. */
class Listening {
  listeners = {};

  addEventListener(type, listener) {
    (this.listeners[type] ??= []).push(listener);
  }

  dispatchEvent(event) {
    if (!event.target) Object.defineProperty(event, "target", { value: this });
    for (const listener of this.listeners[event.type] ?? []) listener(event);
    if (event.bubbles) this.parentElement?.dispatchEvent(event);
    return true;
  }
}

const camel = (name) => name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());

class Element extends Listening {
  childNodes = [];
  attributes = {};
  dataset = {};
  style = {};
  hidden = false;
  parentElement = null;

  constructor(tag) {
    super();
    this.tag = tag;
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name.startsWith("data-")) this.dataset[camel(name.slice(5))] = String(value);
  }

  getAttribute = (name) => this.attributes[name] ?? null;

  toggleAttribute(name, on) {
    if (on) return this.setAttribute(name, "");
    delete this.attributes[name];
    delete this.dataset[camel(name.replace("data-", ""))];
  }

  get classList() {
    const names = new Set((this.attributes.class ?? "").split(" ").filter(Boolean));
    const write = (change) => {
      change();
      this.attributes.class = [...names].join(" ");
    };
    return {
      contains: (name) => names.has(name),
      add: (...more) => write(() => more.forEach((name) => names.add(name))),
      remove: (...less) => write(() => less.forEach((name) => names.delete(name))),
      toggle: (name, on = !names.has(name)) => write(() => (on ? names.add(name) : names.delete(name))),
    };
  }

  get id() {
    return this.attributes.id ?? "";
  }

  get children() {
    return this.childNodes.filter((node) => node instanceof Element);
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }

  get textContent() {
    return this.childNodes.map((node) => node.textContent).join("");
  }

  set textContent(text) {
    this.replaceChildren(text);
  }

  append(...nodes) {
    for (const node of nodes) {
      const child = typeof node === "object" ? node : new TextNode(String(node));
      child.remove?.();
      child.parentElement = this;
      this.childNodes.push(child);
    }
  }

  replaceChildren(...nodes) {
    for (const child of this.children) child.parentElement = null;
    this.childNodes = [];
    this.append(...nodes);
  }

  remove() {
    if (this.parentElement) this.parentElement.childNodes = this.parentElement.childNodes.filter((node) => node !== this);
    this.parentElement = null;
  }

  /** Of selectors only `tag`, `.class`, `#id`, `[data-name]` and `[name=value]`, together: "rect.hit". */
  matches(selector) {
    return [...selector.matchAll(/\[data-([\w-]+)\]|\[([\w-]+)=([\w-]+)\]|([.#]?)([\w-]+)/g)].every(([, data, key, value, sign, name]) => {
      if (data) return camel(data) in this.dataset;
      if (key) return this.attributes[key] === value;
      return sign === "." ? this.classList.contains(name) : sign === "#" ? this.attributes.id === name : this.tag === name;
    });
  }

  querySelectorAll(selector) {
    return this.children.flatMap((child) => [...(child.matches(selector) ? [child] : []), ...child.querySelectorAll(selector)]);
  }

  querySelector = (selector) => this.querySelectorAll(selector)[0] ?? null;
  closest = (selector) => (this.matches(selector) ? this : (this.parentElement?.closest?.(selector) ?? null));
  contains = (other) => other === this || this.children.some((child) => child.contains(other));

  /** A canvas's pen, by which every letter is 8 pixels wide and every pixel black. */
  getContext() {
    const getImageData = (x, y, width, height) => ({ data: new Uint8ClampedArray(4 * width * height) });
    const measureText = (text) => ({ width: 8 * text.length });
    return { measureText, getImageData, fillRect() {}, createLinearGradient: () => ({ addColorStop() {} }) };
  }
}

class Store extends Map {
  getItem = (name) => this.get(name) ?? null;
  setItem = (name, value) => this.set(name, String(value));
  removeItem = (name) => this.delete(name);
}

/** Every stream that a script has opened, the newest last; `say` is what the server would. */
export const streams = [];

class Stream {
  static CLOSED = 2;
  readyState = 1;
  listeners = {};

  constructor(url) {
    this.url = new URL(url);
    streams.push(this);
  }

  addEventListener(type, listener) {
    this.listeners[type] = listener;
  }

  close() {
    this.readyState = Stream.CLOSED;
  }

  say(message) {
    this.onmessage({ data: JSON.stringify(message) });
  }
}

/** Data in the head of the page: a few fields of the cursor, declared as playground/cursor.py declares them, and two languages. */
export const KNOWN = {
  cursor: {
    defaults: { run: "", step: "", text: "", tab: "training", part: "cross", layer: "", head: "", follow: "off", q: "", k: "", lang: "", lab: "", guess: "" },
    resets: { run: ["step", "text", "layer", "head", "q", "k"], text: ["q", "k"], part: ["layer", "head", "q", "k"], lab: ["guess"] },
    carried: ["text", "layer", "head", "q", "k"], followed: ["run", "text", "tab", "layer", "head"],
    entries: ["run", "tab", "lab"], personal: ["guess"], max_text: 2000, former_values: {},
  },
  languages: { en: { name: "English", html: "en", browser: ["en"] }, zh: { name: "中文", html: "zh-CN", browser: ["zh"] } },
  places: { train: ["training", "data"], inside: ["map", "masks"], lessons: ["course", "labs"] },
};

/** An empty page at this address, in place of a browser's. Returns its document. */
export function openPage(query = "", known = KNOWN) {
  const root = new Element("html"), body = new Element("body"), page = new Listening(), script = new Element("script");
  script.setAttribute("id", "pg-known");
  script.append(JSON.stringify(known));
  root.append(script, body);
  root.parentElement = page;
  const document = Object.assign(page, {
    documentElement: root, body, hidden: false, activeElement: body,
    createElement: (tag) => new Element(tag),
    createElementNS: (_, tag) => new Element(tag),
    createTextNode: (text) => new TextNode(text),
    getElementById: (id) => root.querySelector(`#${id}`),
    querySelector: (selector) => root.querySelector(selector),
    querySelectorAll: (selector) => root.querySelectorAll(selector),
  });
  const location = { search: query, pathname: "/", href: `http://page/${query}`, hash: "" };
  const entries = [location.search];
  const show = (address) => (location.search = new URL(address, "http://page").search);
  const history = {
    state: null, entries,
    replaceState: (_, __, address) => (entries[entries.length - 1] = show(address)),
    pushState: (_, __, address) => void entries.push(show(address)),
    back: () => {
      entries.pop();
      location.search = entries.at(-1);
      page.dispatchEvent({ type: "popstate" });
    },
  };
  const nothing = class { observe() {} disconnect() {} };
  const globals = {
    innerWidth: 1280, innerHeight: 900, setInterval: () => 0, document, location, history, localStorage: new Store(), sessionStorage: new Store(),
    MutationObserver: nothing, ResizeObserver: nothing,
    navigator: { languages: ["en"] }, getComputedStyle: () => ({ getPropertyValue: () => "" }),
    EventSource: Stream, matchMedia: () => ({ matches: false, addEventListener() {} }), requestAnimationFrame: () => 1,
    addEventListener: (...listening) => page.addEventListener(...listening),
  };
  for (const [name, value] of Object.entries(globals)) Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return document;
}
