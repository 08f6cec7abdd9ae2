/** Measures the width of text on a terminal, in cells. Wide characters take two cells, combining marks none. */

const ASCII = /^[\u0020-\u007e]*$/;
const COMBINES = /^[\p{Mn}\p{Me}\p{Cf}]/u;
const WIDE =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const CUT = '…';

/** Created on first use, because most texts are ASCII. */
let segmenter: Intl.Segmenter | null = null;

function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  for (const { segment } of segmenter.segment(text)) yield segment;
}

function cellsOf(grapheme: string): number {
  if (COMBINES.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}

export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  let cells = 0;
  for (const grapheme of graphemes(text)) cells += cellsOf(grapheme);
  return cells;
}

/** Cuts the end of a text, so that it takes at most `cellsMax` cells. `…` marks the cut. */
export function cutTo(text: string, cellsMax: number): string {
  if (widthOf(text) <= cellsMax) return text;
  return cellsMax < 1 ? '' : firstCells(graphemes(text), cellsMax - 1).join('') + CUT;
}

/** Cuts the start of a text. */
export function cutStart(text: string, cellsMax: number): string {
  if (widthOf(text) <= cellsMax) return text;
  return cellsMax < 1 ? '' : CUT + lastCells(text, cellsMax - 1);
}

/** Cuts the middle of a text. Its end gets one cell more than its start if they cannot be equal. */
export function cutMiddle(text: string, cellsMax: number): string {
  if (widthOf(text) <= cellsMax) return text;
  const startCells = Math.max(Math.floor((cellsMax - 1) / 2), 0);
  return firstCells(graphemes(text), startCells).join('') + cutStart(text, cellsMax - startCells);
}

function lastCells(text: string, cellsMax: number): string {
  const fromEnd = [...graphemes(text)].toReversed();
  return firstCells(fromEnd, cellsMax).toReversed().join('');
}

function firstCells(parts: Iterable<string>, cellsMax: number): string[] {
  const kept: string[] = [];
  let cells = 0;
  for (const grapheme of parts) {
    cells += cellsOf(grapheme);
    if (cells > cellsMax) break;
    kept.push(grapheme);
  }
  return kept;
}

/** A command or a value in quotes stays in one line, so that it can be copied. */
const UNBROKEN = /(?:"[^"]*"|`[^`]*`|\S)+/g;

/** Breaks a text between words, so that a line takes at most `cellsMax` cells. A longer word has a line of its own. */
export function wrapTo(text: string, cellsMax: number): string {
  let left = cellsMax;
  let wrapped = '';
  for (const [word] of text.matchAll(UNBROKEN)) {
    const cells = widthOf(word);
    const fits = cells < left;
    if (wrapped !== '') wrapped += fits ? ' ' : '\n';
    left = (wrapped === '' || !fits ? cellsMax : left - 1) - cells;
    wrapped += word;
  }
  return wrapped;
}

export function padTo(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(cells - widthOf(text), 0));
}
