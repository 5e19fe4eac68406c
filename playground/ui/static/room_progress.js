// What a member's page reports to the room of the course: of each lesson how many steps are done, and nothing else.
// @ts-check

import { page, subscribe } from "./store.js";
import { act, isMember } from "./room.js";
import { doneOf, lessons } from "./course.js";

let told = ""; // to which room, and what

async function report() {
  if (!page.boot || !isMember()) return void (told = "");
  const counts = lessons().map(({ name }) => [name, doneOf(name).length]).filter(([, count]) => count);
  const now = JSON.stringify([page.room.code, page.room.number, counts]);
  if (now === told || (!told && !counts.length)) return;
  told = now;
  const { error } = await act("progress", { done: Object.fromEntries(counts) });
  if (error && told === now) told = ""; // with the next news of the room it is tried again
}
subscribe(["room", "progress", "boot"], report);
