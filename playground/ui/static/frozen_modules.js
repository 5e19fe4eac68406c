// Starts the scripts of a frozen page, which stand before this as texts: a page that is opened as a file may load no module from another
// file. Each gets an address of its own, under which the others import it (see playground/freeze).
// @ts-check

(() => {
  const all = /** @type {any} */ (globalThis), imports = {};
  all.playgroundAssets = /** @type {HTMLScriptElement} */ (document.currentScript).src; // to them what import.meta.url is elsewhere
  for (const [name, text] of Object.entries(all.playgroundModules)) {
    imports[`page/${name}`] = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
  }
  const scripts = { importmap: JSON.stringify({ imports }), module: ["frozen.js", "main.js"].map((name) => `import "page/ui/static/${name}";`).join("") };
  for (const [type, textContent] of Object.entries(scripts)) {
    document.head.append(Object.assign(document.createElement("script"), { type, textContent }));
  }
})();
