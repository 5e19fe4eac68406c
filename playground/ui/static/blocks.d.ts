// What the server says of every kind of block, made from the kinds.py of all features: `python -m tests.js.typedefs`.

export interface Plotly {
  data: Record<string, any>[];
  layout: Record<string, any>;
}

/** A figure's file name; its run and step; the query of the route `attention` with all weights of its kind, if there is a server. */
export interface Saved {
  file: string;
  run: string;
  step: number;
  arrays: Record<string, string> | null;
}

/** A token as the page shows it. */
export interface Token {
  text: string;
  id: number;
  known: boolean;
  right?: boolean;
  p?: number;
  given?: boolean;
  mark?: string;
}

export interface TokenLine {
  label: string;
  tokens: Token[];
  side: string;
  role?: "query" | "key";
}

/** A value that can be chosen. `hue` colours its button. */
export interface Option {
  value: string;
  label: string;
  hue?: string;
}

export interface FileLink {
  label: string;
  query: Record<string, string>;
}

/** The colours of a small picture of attention: weights from 0 to 1 along `scale`, masked cells hatched. */
export interface Shades {
  scale: string[];
  masked: string;
  hatch: string;
}

/** A number's name and, if the model computed it, the link to it. */
export interface Way {
  text: string;
  title: string;
  to?: Record<string, string | number>;
}

export interface Term {
  left: Way;
  left_value: string;
  right: Way | null;
  right_value: string;
  part: string;
}

export interface Lead {
  label: Way;
  value: string;
}

export interface Calculation {
  why: string;
  text: string;
  result: string;
}

/** A stage as a small grid of integers, rows of signed bytes in base64: -128 is masked, ±127 the strongest. `blocks`: the rows and
 * columns of the stage pooled into one cell. */
export interface Miniature {
  rows: number;
  columns: number;
  data: string;
  scale: "signed" | "probability" | "plain";
  blocks: number[];
}

export interface SmallHead {
  label: string;
  said: string;
  mini: Miniature;
}

/** Every head of one kind of attention: [layer][head]. `chosen` counts from 0. */
export interface HeadGrid {
  part: "encoder" | "decoder" | "cross";
  label: string;
  chosen: number[] | null;
  heads: SmallHead[][];
}

/** The scales of miniatures, and the hatching of masked cells. */
export interface MapColours {
  signed: string[];
  probability: string[];
  plain: string[];
  masked: string;
  hatch: string;
}

export interface LineColours {
  hue: string;
  guide: string;
}

export interface LineNames {
  rows: string[];
  columns: string[];
}

/** The style of a run's line in the figures. */
export interface LineKey {
  color: string;
  dash: string;
}

export interface BoardRow {
  run: string;
  name: string;
  arm: string;
  key: LineKey;
  numbers: string[];
  here: boolean;
}

export interface RunColumn {
  label: string;
  sort: string;
}

export interface RunRow {
  id: string;
  name: string;
  label: string;
  line: string;
  numbers: string[];
  created: number | null;
  course: number[][];
  key: LineKey | null;
  here: boolean;
  pinned: boolean;
  mine: boolean;
}

export interface RunGroup {
  label: string;
  rows: RunRow[];
}

export interface DisagreeingOutput {
  text: string;
  correct: boolean;
}

export interface DisagreeingRow {
  source: string;
  reference: string;
  outputs: DisagreeingOutput[];
}

export interface OutputRow {
  name: string;
  key: LineKey;
  tokens: Token[];
  correct: boolean | null;
  note: string;
}

export interface Switch {
  id: string;
  name: string;
  weights: number[][] | null;
}

export interface SwitchLayer {
  label: string;
  all: string;
  heads: Switch[];
}

export interface SwitchPart {
  part: "encoder" | "decoder" | "cross";
  label: string;
  all: string;
  mask: number[][];
  layers: SwitchLayer[];
}

export interface ComparedLine {
  name: "before" | "after" | "reference";
  label: string;
  tokens: Token[];
  verdict: string;
  right: boolean | null;
  long?: string;
}

export interface Cell {
  token: string;
  before: number;
  after: number;
  state: "" | "masked" | "given";
  said: string;
  name: string;
}

export interface CellAct {
  label: string;
  cells: string;
  on: boolean;
}

/** The cursor's `cells` are `first`, the slider's number, then `rest`. */
export interface CellSlider {
  label: string;
  value: number;
  first: string;
  rest: string;
}

/** A lab in a line; its picture is the `thumbnail`, the lines of its result from 0 to 1, described by `axes`. */
export interface Card {
  name: string;
  title: string;
  text: string;
  minutes: string;
  thumbnail?: number[][];
  axes?: string;
}

export interface Value {
  value: string;
  label: string;
}

/** A link: fields of the cursor, and the link's label. */
export interface Link {
  label: string;
  to: Record<string, string>;
}

export interface LessonCard {
  name: string;
  title: string;
  text: string;
  to: Record<string, string>;
  minutes: string;
}

/** A task: `knobs` are set and the cursor moves `to` its place; `sees` is then scrolled into view. */
export interface LessonStep {
  name: string;
  text: string;
  to: Record<string, string>;
  knobs: Record<string, any> | null;
  sees: string | null;
}

/** A step of the path to the open stage. One with a `stage` is a link; an `aside` is no place. */
export interface Piece {
  text: string;
  stage?: string;
  aside?: boolean;
}

export interface Title {
  text: string;
  hue: "encoder" | "decoder" | "cross";
}

export interface TokensLine {
  kind: "tokens";
  side: string;
  title: Title | null;
  label: string;
  tokens: Token[];
}

/** A stage as a button. It `follows` if the tile before it is one of its inputs. */
export interface Tile {
  address: string;
  name: string;
  shape: string;
  part: "encoder" | "decoder" | "cross";
  label: string;
  inputs: string[];
  square: boolean;
  mini: Miniature;
  follows?: boolean;
}

export interface TilesLine {
  kind: "tiles";
  tiles: Tile[];
  title: Title | null;
}

/** A folded layer: `tile` is its output. */
export interface FoldLine {
  kind: "fold";
  text: string;
  stage: string;
  hue: "encoder" | "decoder" | "cross";
  tile: Tile;
}

/** A line between two tiles: around a sublayer, or from the encoder output into a cross-attention. */
export interface Join {
  kind: "residual" | "memory";
  start: string;
  end: string;
  hue: "encoder" | "decoder" | "cross";
}

export interface PickColumn {
  value: number;
  label: string;
}

/** A number from the wrong place, and its feedback. */
export interface Mistake {
  value: number;
  text: string;
}

export interface LaneRow {
  name: "fed" | "says";
  label: string;
  tokens: Token[];
}

export interface Lane {
  name: string;
  verdict: string;
  right: boolean | null;
  fixed: number | null;
  rows: LaneRow[];
}

export interface NumberItem {
  id: string;
  label: string;
  help: string;
}

export interface Probe {
  src: string[];
  reference: string[];
  output: string[];
  right: boolean[];
  finished: boolean;
}

/** A paragraph. Terms of the glossary are explained in it unless `css` marks a heading, a formula or an error. */
export interface TextBlock {
  kind: "text";
  id: string;
  text: string;
  css: string;
}

/** `rowheads`: the first cell of a row names it; `folded`: only the title shows until it is opened; `tokens`: its cells are tokens or
 * sentences. */
export interface TableBlock {
  kind: "table";
  id: string;
  head: string[];
  rows: ((string | number)[])[];
  title: string;
  rowheads: boolean;
  folded: boolean;
  tokens: boolean;
}

/** A Plotly figure with a caption computed from its data. `live`: the page fills its traces from the run's history. `saved`: labels its
 * file, unless its id and the run and step on screen do. `hint`: its interactions, shown after the caption and not in a file. */
export interface FigureBlock {
  kind: "figure";
  id: string;
  figure: Plotly;
  caption: string;
  title: string;
  live: boolean;
  css: string;
  saved: Saved | null;
  hint: string;
}

/** Lines of tokens. `pick`: the side on which a click chooses a token. */
export interface ChipsBlock {
  kind: "chips";
  id: string;
  lines: TokenLine[];
  pick: string;
  css: string;
}

/** The source of a function or class, with its place in the project; the lines `lit`, counted from 1, are highlighted. */
export interface CodeBlock {
  kind: "code";
  id: string;
  name: string;
  source: string;
  place: string;
  lit: number[];
}

/** Blocks side by side; stacked on a narrow screen, or always with the `css` "column". */
export interface RowBlock {
  kind: "row";
  id: string;
  blocks: Block[];
  css: string;
}

/** The blocks of another panel, loaded after the rest because they take longer; `label` is their placeholder. They are reloaded when
 * `key`, which names all their inputs, changes. */
export interface LaterBlock {
  kind: "later";
  id: string;
  panel: string;
  label: string;
  key: string;
}

/** The progress of a longer computation. An unfinished panel contains "more", and is reloaded as long as it is visible. */
export interface ProgressBlock {
  kind: "progress";
  id: string;
  done: number;
  all: number;
  label: string;
}

/** One of a few values of a cursor field, which also `resets` others; or of a live `knob` of the run on screen. `off`: disabled;
 * `tokens`: its labels are tokens. */
export interface ChoiceBlock {
  kind: "choice";
  id: string;
  field: string;
  label: string;
  options: Option[];
  value: string;
  resets: Record<string, string | number> | null;
  knob: string;
  off: boolean;
  tokens: boolean;
}

/** Any number of values of a cursor field. */
export interface ManyBlock {
  kind: "many";
  id: string;
  field: string;
  label: string;
  options: Option[];
  value: string[];
}

/** A number of a cursor field. `first` is added to the shown number: 1 if people count from one and the cursor from zero. */
export interface SliderBlock {
  kind: "slider";
  id: string;
  field: string;
  label: string;
  low: number;
  high: number;
  step: number;
  value: number;
  first: number;
}

/** A line of text of a cursor field; `hint` is its placeholder. */
export interface FieldBlock {
  kind: "field";
  id: string;
  field: string;
  label: string;
  value: string;
  hint: string;
}

/** Draws another sample, points at a `knob`, sends a `command` with `values` to the server or to the `room` of a class, moves the cursor
 * `to` somewhere, plays the replay from its beginning, opens the run's download, sets the knobs of `values`, or reads own sentences as
 * `values` say. */
export interface ButtonBlock {
  kind: "button";
  id: string;
  act: "draw" | "knob" | "command" | "room" | "move" | "play" | "take" | "set" | "read";
  label: string;
  knob: string;
  command: string;
  values: Record<string, any> | null;
  to: Record<string, string | number> | null;
}

/** Downloads from one of our routes. */
export interface DownloadsBlock {
  kind: "downloads";
  id: string;
  label: string;
  path: string;
  files: FileLink[];
}

/** Every head small: `weights` are (L, H, Q, K), `mask` is (Q, K) with 0 for masked cells; the chosen `layer` and `head` count from 0.
 * `names`: each head's name and the number that supports it, by layer. */
export interface HeadsBlock {
  kind: "heads";
  id: string;
  label: string;
  layer: number;
  head: number;
  weights: number[][][][];
  mask: number[][];
  colours: Shades;
  names: string[][][] | null;
}

/** The derivation of one number. While it is `secret` its last step is a question, and `answer` only for the page to compare with; it
 * `asks` if there is something to calculate. The page scrolls to a new one, unless it is `still`: not requested. */
export interface SheetBlock {
  kind: "sheet";
  id: string;
  title: string;
  secret: boolean;
  answer: number;
  asks: boolean;
  equals: string;
  sign: string;
  head: string[];
  terms: Term[];
  leads: Lead[];
  steps: Calculation[];
  words: Record<string, string>;
  still: boolean;
}

/** Invisible: counts the guess, `sure` in percent; 0 is not counted. */
export interface RecordBlock {
  kind: "record";
  id: string;
  lab: string;
  sure: number;
  right: boolean;
}

/** The fraction of right guesses by stated confidence. */
export interface CalibrationBlock {
  kind: "calibration";
  id: string;
}

/** The question of a lab or a lesson (`field` of the cursor) as a class's: how it is asked, and the result. Invisible outside of a room.
 *      */
export interface QuestionBlock {
  kind: "question";
  id: string;
  field: string;
  name: string;
}

/** All heads of a model at once, layers down and heads across, on one scale. `hint` gives way to the sentence of the head that is
 * pointed at. `saved` as of a figure. */
export interface ModelviewBlock {
  kind: "modelview";
  id: string;
  title: string;
  caption: string;
  hint: string;
  grids: HeadGrid[];
  colours: MapColours;
  words: Record<string, string>;
  saved: Saved;
}

/** One head as lines from query tokens (`rows`) to key tokens (`columns`), a line for each weight. `short`: labels for little room.
 * `alignment`: the right column of each row; `row` and `column` are pinned. `saved` and `hint` as of a figure. */
export interface LinesBlock {
  kind: "lines";
  id: string;
  title: string;
  caption: string;
  part: "encoder" | "decoder" | "cross";
  rows: string[];
  columns: string[];
  weights: number[][];
  mask: number[][];
  alignment: (number | null)[] | null;
  row: number | null;
  column: number | null;
  width: number;
  colours: LineColours;
  words: Record<string, string>;
  short: LineNames;
  saved: Saved;
  hint: string;
}

/** The runs of a class, with `head` over student, arm and numbers. A click on a student opens the run, for followers too. `empty` is
 * shown without rows. */
export interface BoardBlock {
  kind: "board";
  id: string;
  head: string[];
  rows: BoardRow[];
  title: string;
  empty: string;
}

/** A table of runs in groups, with `head` over name, line, numbers and date; the course is beside the first number. A tick adds a run to
 * `ticked`, at `most` that many, stored in the cursor's `runs` (`none` for an empty list); a name opens its run; buttons pin one, and
 * rename or delete the visitor's own. `sort` is the cursor's; `empty` is shown without rows. */
export interface RunsBlock {
  kind: "runs";
  id: string;
  head: RunColumn[];
  groups: RunGroup[];
  ticked: string[];
  most: number;
  none: string;
  sort: string;
  empty: string;
}

/** Sentences on which runs disagree, a row each: the sentence under `label`, each run's output under its name and its line, and the
 * right answer under `reference`. A click on a sentence makes it the page's. */
export interface DisagreementsBlock {
  kind: "disagreements";
  id: string;
  label: string;
  names: string[];
  keys: LineKey[];
  reference: string;
  rows: DisagreeingRow[];
}

/** The outputs of several runs for one sentence, a row each. */
export interface OutputsBlock {
  kind: "outputs";
  id: string;
  title: string;
  head: string[];
  rows: OutputRow[];
}

/** Every head as a switch; those in `off` are switched off. `all` and `none` label the buttons that switch many. */
export interface SwitchesBlock {
  kind: "switches";
  id: string;
  label: string;
  none: string;
  is_off: string;
  parts: SwitchPart[];
  off: string[];
  colours: Shades;
}

/** The sentence before and after a change, and the reference. */
export interface CompareBlock {
  kind: "compare";
  id: string;
  lines: ComparedLine[];
}

/** One row of attention as clickable bars, without and with a change; `acts` and `slider` change the `chosen` one. */
export interface CellsBlock {
  kind: "cells";
  id: string;
  title: string;
  label: string[];
  place: Record<string, number>;
  cells: Cell[];
  chosen: number | null;
  hint: string;
  acts: CellAct[];
  slider: CellSlider | null;
  sum: string;
}

/** Labs to choose from. */
export interface CardsBlock {
  kind: "cards";
  id: string;
  title: string;
  cards: Card[];
}

/** A multiple-choice question of a lesson. `asked` is a hash of its content: a stored answer belongs to no other. Until it is answered
 * (`value`), `right` and `why` are withheld. */
export interface CheckBlock {
  kind: "check";
  id: string;
  lesson: string;
  asked: string;
  text: string;
  options: Value[];
  value: string;
  right: string;
  why: string;
  way: Link | null;
}

/** Model answers, for the teacher of a room only. */
export interface AnswersBlock {
  kind: "answers";
  id: string;
  lesson: string;
}

/** The list of lessons. */
export interface LessonsBlock {
  kind: "lessons";
  id: string;
  lessons: LessonCard[];
}

/** The tasks of a lesson. */
export interface StepsBlock {
  kind: "steps";
  id: string;
  lesson: string;
  title: string;
  steps: LessonStep[];
}

/** A few sentences, each on its own. */
export interface PointsBlock {
  kind: "points";
  id: string;
  title: string;
  points: string[];
}

/** Notes for a teacher on the lesson `id`: (name, text) each; `open` labels the link to it. */
export interface NotesBlock {
  kind: "notes";
  id: string;
  title: string;
  rows: [string, string][];
  open: string;
}

/** The button that deletes the browser's data on the course and all guesses. */
export interface ForgetBlock {
  kind: "forget";
  id: string;
}

/** The model as one drawing. `open` is the address of the open stage, whose `blocks` unfold in place, and `close` the link that closes
 * it; `order` lists the addresses in the order of computation. */
export interface MapBlock {
  kind: "map";
  id: string;
  label: string;
  open: string;
  close: string;
  here: Piece[];
  encoder: (TokensLine | TilesLine | FoldLine)[];
  memory: TilesLine;
  decoder: (TokensLine | TilesLine | FoldLine)[];
  lines: Join[];
  order: string[];
  colours: MapColours;
  words: Record<string, string>;
  blocks: Block[];
}

/** Chooses a cell of the open stage by the names of its row and its column. */
export interface PickBlock {
  kind: "pick";
  id: string;
  rows: string[];
  columns: PickColumn[];
  row: number | null;
  col: number | null;
  words: Record<string, string>;
}

/** The link to the printable calculation sheets; `value` is the kind of attention chosen at first. */
export interface WorksheetBlock {
  kind: "worksheet";
  id: string;
  kinds: Option[];
  value: string;
  words: Record<string, string>;
}

/** A stop of the tour: an explanation, and a number to read off. It is the `answer` within the `tolerance`, None for no number; `where`
 * says where to find it. `previous` and `next` name the adjacent stops. */
export interface TourBlock {
  kind: "tour";
  id: string;
  stop: string;
  place: string;
  title: string;
  text: string;
  formula: string;
  ask: string;
  answer: number | null;
  tolerance: number;
  right: string;
  where: string;
  mistakes: Mistake[];
  previous: string;
  next: string;
  words: Record<string, string>;
}

/** Aligned decodings of one sentence, a column for each of `steps`. `at` is chosen; they diverge at `parted`, as `parts` says; `fixes`
 * says that the token of step `fixed` was replaced. */
export interface LanesBlock {
  kind: "lanes";
  id: string;
  label: string;
  steps: number;
  at: number;
  parted: number | null;
  parts: string;
  fixes: string;
  lanes: Lane[];
}

/** A run's outcome; while it trains, a bar of its steps. */
export interface OutcomeBlock {
  kind: "outcome";
  id: string;
  text: string;
}

/** The newest numbers of the run, some `folded` under the title `more`; the page finds them by an item's id. */
export interface NumbersBlock {
  kind: "numbers";
  id: string;
  items: NumberItem[];
  more: string;
  folded: NumberItem[];
}

/** The fixed probe sentences and the model's outputs. `joint` separates source tokens. */
export interface ProbesBlock {
  kind: "probes";
  id: string;
  title: string;
  caption: string;
  joint: string;
  rows: Probe[];
}

export interface Blocks {
  text: TextBlock;
  table: TableBlock;
  figure: FigureBlock;
  chips: ChipsBlock;
  code: CodeBlock;
  row: RowBlock;
  later: LaterBlock;
  progress: ProgressBlock;
  choice: ChoiceBlock;
  many: ManyBlock;
  slider: SliderBlock;
  field: FieldBlock;
  button: ButtonBlock;
  downloads: DownloadsBlock;
  heads: HeadsBlock;
  sheet: SheetBlock;
  record: RecordBlock;
  calibration: CalibrationBlock;
  question: QuestionBlock;
  modelview: ModelviewBlock;
  lines: LinesBlock;
  board: BoardBlock;
  runs: RunsBlock;
  disagreements: DisagreementsBlock;
  outputs: OutputsBlock;
  switches: SwitchesBlock;
  compare: CompareBlock;
  cells: CellsBlock;
  cards: CardsBlock;
  check: CheckBlock;
  answers: AnswersBlock;
  lessons: LessonsBlock;
  steps: StepsBlock;
  points: PointsBlock;
  notes: NotesBlock;
  forget: ForgetBlock;
  map: MapBlock;
  pick: PickBlock;
  worksheet: WorksheetBlock;
  tour: TourBlock;
  lanes: LanesBlock;
  outcome: OutcomeBlock;
  numbers: NumbersBlock;
  probes: ProbesBlock;
}

export type Block = Blocks[keyof Blocks];
