// What the scripts' type checker has to know beside the scripts: what the server says, what they keep on elements, what they tell one another.

import type { Block, CellsBlock, ModelFigure, Plotly, Token } from "./blocks";

/** What the live stream says of a run. */
export interface Run {
  id: string;
  version: number;
  status: string;
  step: number;
  steps: number;
  seconds: number;
  eta: [number, number] | null; // seconds, at least and at most
  place: number;
  picture?: number | null; // the step of the newest picture that there is, while it trains
  message: Record<string, string> | null;
  trouble: boolean;
  rows: Record<string, number[]>;
  validations: Record<string, number[]>;
  replay: number[];
  parameter_steps: number[];
  live?: Record<string, string | number>;
  device?: string;
  where?: { process?: number; node?: string; gpu?: number }; // it is trained, unless in the page's process
  threads?: number;
}

/** What is fixed about a run, and whether the visitor may change it. */
export interface Card {
  id: string;
  title: string;
  name: string;
  label: string;
  settings: Record<string, string | number | boolean>;
  mine: boolean;
  sentences_shared: boolean; // own ones go with its link
  shipped: boolean;
  examples: [string, string][];
  languages: Record<string, string>;
  line: string;
  precision: string;
  parent: Parent | null;
  unreadable: string[]; // of the cursor that was carried to it
  figure: ModelFigure;
}

/** The run that another goes on from, by its name ("" once it is deleted), and the step; `until` there the history is the parent's. */
export interface Parent {
  run: string;
  step: number;
  until: number;
  name: string;
}

/** Of which run and step the pictures, the sentence and the numbers on screen are. */
export interface Frame {
  run: string;
  step: number;
  isLast: boolean; // asked for when the run rested: nothing newer comes
}

/** What the model made of the sentence on screen. */
export interface Sentence {
  run: string;
  text: string;
  source: Token[];
  output: Token[];
  correct: boolean | null;
  references: string[];
  method: string; // how the run's sentences are decoded by default
}

/** What the server says once. */
export interface Boot {
  words: Record<string, string>;
  glossary: { terms: Term[]; not: string[] };
  course: { name: string; title: string; to: Record<string, string>; look: string[]; steps: (import("./blocks").LessonStep & { when: Record<string, any> })[] }[];
  labs: Record<string, string>; // what every lab is called
  dealt_labs: Record<string, { arms: string[]; first: string[]; minutes: number; needed: number }>; // those whose arms can be dealt out to a class, and what that comes to
  knobs: string[]; // those that have a control
  groups: Record<string, string[]>; // the same by their parts
  task_steps: Record<string, number>; // of tasks that take longer than usual
  defaults: Knobs;
  live: string[];
  bounds: Record<string, { low: number; high: number; step: number }>; // of numbers; step 0 where all are possible
  labels: Record<string, string>;
  choices: Record<string, Record<string, string>>;
  colours: Record<string, string>;
  palettes: Record<"light" | "dark", Palette>;
  first: string; // the run to begin with
  last: string; // the visitor's own last one, if there is one: they go on with it
  by: string; // with which the page's streams say whose they are
  ticket: string; // with which Gradio's listeners are told whose uploads they may see
  statuses: Record<"working" | "resumable" | "over", string[]>;
  ignored: string[]; // of the link
  notice: string;
  zero_gpu: boolean; // whether a GPU is only lent to this Space, so that training uses the CPU
  host: string; // the Space's own address, when there is one
  sign_in: boolean; // whether a visitor can sign in with Hugging Face
  forgets: boolean; // whether the server's disk is lost when it sleeps
  lan: { listens: boolean; address: string }; // how others in the network reach this machine, for who sits at it
}

/** Of iframe-resizer, in a frame that is as tall as its content. */
interface ParentIFrame {
  getPageInfo(tell: ((info: { iframeHeight: number; clientHeight: number; offsetTop: number; scrollTop: number }) => void) | false): void;
  scrollToOffset(x: number, y: number): void;
  size(height: number): void;
}

/** Every colour of the figures, in an order that is the same on a dark page. */
export interface Palette {
  single: string[];
  sequential: string[];
  diverging: string[];
}

export type Knobs = Record<string, string | number | boolean>;

/** What an answer to a command may say: which run to open, with which fields of the cursor, and in which tab if no run is shown in this
 * one; whether it is another model, which may not know the sentence, and whether the one before is gone; or to look at this one again; the runs of an experiment. */
export interface Reply {
  run?: string;
  carry?: string[];
  tab?: string;
  other?: boolean;
  gone?: boolean;
  again?: boolean;
  lab?: string;
  arms?: string[];
  notice?: string;
  error?: string;
  knob?: string | null;
}

/** What the page knows beside the cursor, see store.js. */
export interface Page {
  boot: Boot | null;
  knobs: Knobs | null; // what the controls at the left hold; null until the link's settings are in them
  wanted: Knobs; // what they were last asked to hold; all others hold their defaults
  card: Card | null;
  away: boolean; // whether the server can't be reached
  following: string; // the run that is being opened with the present cursor; "" once it is known what of that it can read
  taking: string; // the run whose settings go into the controls once both are known
  unread: string; // the typed sentence that the run on screen can't read: it waits for one that can
  held: { run: string; head: string; early: boolean }; // the head that a run is shown with until a person chooses another; early: while it trained
  live: Run; // what the stream has said so far
  frame: Frame; // what is shown while the newest is looked at
  sentence: Sentence | null;
  pointed: { q: number | null; k: number | null; part: string } | null; // the cell, row or column under the pointer
  panels: Record<string, any>; // tab -> what the server last said of it
  reply: Reply | null; // the newest one
  playing: any; // the timer of the replay; 0 while it rests
  own: string; // the sentences that task "own" means: those that were uploaded last, or those that the link is about
  uploaded: string; // the sentences that were uploaded last
  guessed: Record<string, boolean>; // labs and lessons whose answer came after a guess made on this page
  readOff: string; // the stop of the tour whose number was written last
  checked: Record<string, string>; // the question of a lesson that was answered last, and the choice
  room: Room | null; // that this visitor is in
  exploring: boolean; // in a room, without following the teacher
  isPlaced: boolean; // whether the page around a frame has said what is in sight
  progress: { now: string; done: Record<string, string[]> } | null; // in the course
}

/** A room of a class, as this visitor sees it: only the teacher is told of members. */
export interface Room {
  code: string;
  teacher: boolean;
  language: string;
  ends: number; // seconds since 1970
  here: number; // have the page open
  followers: number;
  calls: number; // how often the teacher has called everyone back
  cursor: Record<string, string>; // where the teacher looks
  number: number;
  name: string;
  members: { number: number; name: string; hidden: boolean; here: boolean }[];
  activities: Record<string, Activity>; // by name, the newest last
  fixed: Fixed;
  now: Assignment | null; // what there is to do
  limits?: Record<string, [number, number]>; // on runs, for the teacher: each, and the most that it can be
}

/** What a room fixes for its class; see playground/rooms/room.py. */
export interface Fixed {
  settings: Knobs;
  tasks: string[]; // that may be trained; none: all
  labs: string[]; // that are open; none: all
  controls: string[]; // groups of knobs that are shown
}

/** A line of the teacher's, or a place to go; see playground/rooms/room.py. */
export interface Assignment {
  text: string;
  to: Record<string, string>;
  done: number;
  joined: number;
  mine: boolean; // this visitor has ticked it off
}

/** What a class does together; see playground/rooms/activities.py. */
export type Activity = Question | DealtExperiment | CourseProgress | CourseAnswers;

/** A question that is put to a class, as this visitor sees it: `counts`, of each guess by how sure people were, once they are revealed. */
export interface Question {
  kind: "question";
  place: Record<string, string>; // fields of the cursor
  state: "open" | "closed" | "revealed";
  joined: number;
  answered: number;
  mine: boolean; // this visitor's own guess is in
  fixed: boolean; // and can't change any more
  late?: number; // guesses made after training began
  counts?: Record<string, number[]>;
  answer?: string; // the right one, where an experiment has decided
}

/** What a class answered to the questions that end the lessons: for the teacher, how many answers of each lesson are counted. */
export interface CourseAnswers {
  kind: "answers";
  counted?: Record<string, number>;
}

/** How far a class has come in the course: for the teacher, of each member by number how many steps of each lesson are done. */
export interface CourseProgress {
  kind: "course";
  done?: Record<string, Record<string, number>>;
}

/** An experiment whose arms are dealt out to a class. */
export interface DealtExperiment {
  kind: "experiment";
  board?: boolean; // whether this visitor may see all runs of an experiment
  arm?: Record<string, string | number | boolean> | null; // that a member was dealt
  run?: string; // of this member; "" before it is trained
}

/** A term of the glossary. */
export interface Term {
  id: string;
  name: string;
  shape: string;
  text: string;
  forms: string[];
}

/** A cell of a picture: its row and its column, and on which sides of the sentence the tokens stand that it is about. */
export interface Cell {
  q: number | string;
  k: number | string | null;
  part: string;
  sides?: [string, string];
  fields?: [string, string];
}

declare global {
  /** What is drawn in an element is kept there, so that only what is another has to change. */
  interface Element {
    pgText?: string;
    pgLang?: string;
    pgBlock?: Block;
    pgRedraw?: () => unknown; // draws the block again, see render.js
    pgFigure?: Plotly;
    pgSkeleton?: Plotly | null;
    pgDrawn?: Promise<void>;
    pgCells?: CellsBlock;
    pgProse?: string;
    pgPattern?: RegExp | null;
    pgTerm?: Term;
    pgKey?: string;
    pgMap?: any;
    pgEditor?: any;
    pgAim?: (place: string) => void;
    pgTile?: { inputs: string[]; part?: string; changed?: string };
  }

  /** Everything on the page is HTML, but for drawings, which are looked up by their tags. */
  interface Element {
    closest(selector: string): HTMLElement | null;
  }

  interface ParentNode {
    querySelector<Tag extends keyof HTMLElementTagNameMap>(tag: Tag): HTMLElementTagNameMap[Tag] | null;
    querySelector<Tag extends keyof SVGElementTagNameMap>(tag: Tag): SVGElementTagNameMap[Tag] | null;
    querySelector(selector: string): HTMLElement | null;
    querySelectorAll<Tag extends keyof HTMLElementTagNameMap>(tag: Tag): NodeListOf<HTMLElementTagNameMap[Tag]>;
    querySelectorAll(selector: string): NodeListOf<HTMLElement>;
  }

  /** A caller of this knows whether the element is an input, a button or something else. */
  interface Document {
    getElementById(id: string): any;
  }

  /** An event may be the document's or the window's, which are in no element. */
  interface EventTarget {
    closest?(selector: string): HTMLElement | null;
  }

  interface Window {
    Plotly?: any;
    parentIFrame?: ParentIFrame;
  }
}
