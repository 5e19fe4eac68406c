// What the scripts' type checker has to know beside the scripts: what the server says, what they keep on elements, what they tell one another.

import type { Block, CellsBlock, NumberItem, NumbersBlock, Plotly, Probe, ProbesBlock, Token } from "./blocks";

/** What the live stream says of a run. */
export interface Run {
  id: string;
  version: number;
  status: string;
  step: number;
  steps: number;
  seconds: number;
  eta: number | null;
  place: number;
  message: Record<string, string> | null;
  rows: Record<string, number[]>;
  validations: Record<string, number[]>;
  probes: Probe[];
  replay: number[];
  parameter_steps: number[];
  live?: Record<string, string | number>;
  device?: string;
  threads?: number;
}

/** What is fixed about a run, and whether the visitor may change it. */
export interface Card {
  id: string;
  title: string;
  label: string;
  settings: Record<string, string | number | boolean>;
  mine: boolean;
  shipped: boolean;
  examples: [string, string][];
  line: string;
  device: string;
  threads: number;
  precision: string;
  parent: unknown;
}

/** What the model made of the sentence on screen. */
export interface Sentence {
  run: string;
  text: string;
  source: Token[];
  output: Token[];
  correct: boolean | null;
  references: string[];
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
    pgBlock?: Block;
    pgFigure?: Plotly;
    pgSkeleton?: Plotly | null;
    pgDrawn?: Promise<void>;
    pgNumbers?: NumbersBlock;
    pgProbes?: ProbesBlock;
    pgItems?: NumberItem[];
    pgFixed?: string;
    pgCells?: CellsBlock;
    pgProse?: string;
    pgPattern?: RegExp | null;
    pgTerm?: Term;
    pgKey?: string;
    pgMap?: any;
    pgTile?: { inputs: string[]; part?: string };
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

  /** Whoever looks an element up by its id knows whether it is an input, a button or something else. */
  interface Document {
    getElementById(id: string): any;
  }

  /** An event may be the document's or the window's, which are in no element. */
  interface EventTarget {
    closest?(selector: string): HTMLElement | null;
  }

  interface DocumentEventMap {
    "pg-reply": CustomEvent<any>;
    "pg-sentence": CustomEvent<Sentence>;
    "pg-step": CustomEvent<number>;
    "pg-guess": CustomEvent;
  }

  interface Window {
    Plotly?: any;
    playground: Record<string, Function>;
    playgroundArrived(calls: Record<string, Function>): void;
  }
}
