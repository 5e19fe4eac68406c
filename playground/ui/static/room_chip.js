// What the frame says of the room: its code, how many are here, and whether this visitor follows. F follows and lets go.
// @ts-check

import { page, subscribe } from "./store.js";
import { button, h, ready, same, say } from "./dom.js";
import { explore, isFollowing, isMember } from "./room.js";
import { openRoom } from "./room_dialog.js";
import { isForThePage } from "./single_keys.js";

async function draw() {
  const { room, boot, exploring } = page;
  document.body.toggleAttribute("data-room", Boolean(room && boot));
  if (!boot) return;
  const place = await ready("pg-room");
  if (same(place, room && [room.code, room.teacher, room.here, room.followers, exploring])) return;
  if (!room) return place.replaceChildren();
  const hadFocus = place.contains(document.activeElement) && document.activeElement?.id;
  const about = button({ id: "pg-room-about", onclick: openRoom }, say(room.teacher ? "room_taught" : "room_here", room));
  const help = say(exploring ? "room_explore_help" : "room_follow_help");
  const words = say(exploring ? "room_exploring" : "room_following"), pressed = { "aria-pressed": String(!exploring) };
  const follow = () => button({ id: "pg-room-follow", ...pressed, title: help, onclick: () => explore(isFollowing()) }, words, h("kbd", {}, "F"));
  place.replaceChildren(about, ...(isMember() ? [follow()] : []));
  if (hadFocus) document.getElementById(hadFocus)?.focus();
}
subscribe(["room", "exploring", "boot"], draw);

/** What a member's page listens to as well. */
export const KEYS = ["f"];

document.addEventListener("keydown", (event) => {
  if (!KEYS.includes(event.key.toLowerCase()) || !isMember() || !isForThePage(event)) return;
  event.preventDefault();
  explore(isFollowing());
});
