// What this browser keeps under a name: an object each. Where storage is closed to us (a frame with strict settings) it lasts as long as
// the page.
// @ts-check

const memory = new Map();

export function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return memory.get(name) ?? {};
  }
}

export function keep(name, changes) {
  const all = { ...kept(name), ...changes };
  memory.set(name, all);
  try {
    localStorage.setItem(name, JSON.stringify(all));
  } catch {
    // the page remembers
  }
}

export function forget(name) {
  memory.delete(name);
  try {
    localStorage.removeItem(name);
  } catch {
    // nothing was kept
  }
}
