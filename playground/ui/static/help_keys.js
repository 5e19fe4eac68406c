// Every key that the page knows, as the list of keys shows them: what is on the key, what it does, and where.
// @ts-check

const ARROWS = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

/** @type {{ where: "page" | "figure" | "group" | "present" | "room" | "tour", keys: string[], shown: string[], text: string }[]} */
export const HELP = [
  { where: "page", keys: [" "], shown: ["space"], text: "key_play" },
  { where: "page", keys: ["ArrowLeft", "ArrowRight"], shown: ["←", "→"], text: "key_replay" },
  { where: "page", keys: ["ArrowUp", "ArrowDown"], shown: ["↑", "↓"], text: "key_token" },
  { where: "page", keys: [..."12345678"], shown: ["1–8"], text: "key_head" },
  { where: "figure", keys: ARROWS, shown: ["←", "→", "↑", "↓"], text: "key_cell" },
  { where: "figure", keys: ["Enter"], shown: ["Enter"], text: "key_pin" },
  { where: "group", keys: [...ARROWS, "Home", "End"], shown: ["←", "→", "↑", "↓", "Home", "End"], text: "key_group" },
  { where: "present", keys: ["p"], shown: ["P"], text: "key_present" },
  { where: "present", keys: ["q"], shown: ["Q"], text: "key_code" },
  { where: "present", keys: ["r"], shown: ["R"], text: "key_reveal" },
  { where: "present", keys: ["Escape"], shown: ["Esc"], text: "key_escape" },
  { where: "tour", keys: [" ", "ArrowLeft", "ArrowRight"], shown: ["space", "←", "→"], text: "key_tour" },
  { where: "room", keys: ["f"], shown: ["F"], text: "key_follow" },
  { where: "page", keys: ["?"], shown: ["?"], text: "key_help" },
];
