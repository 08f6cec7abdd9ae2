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

/** Cuts a text to at most `cellsMax` cells. `…` marks the cut. */
export function cutTo(text: string, cellsMax: number): string {
  if (widthOf(text) <= cellsMax) return text;
  let kept = '';
  let cells = 1;
  for (const grapheme of graphemes(text)) {
    cells += cellsOf(grapheme);
    if (cells > cellsMax) break;
    kept += grapheme;
  }
  return cellsMax < 1 ? '' : kept + CUT;
}

export function padTo(text: string, cells: number): string {
  return text + ' '.repeat(Math.max(cells - widthOf(text), 0));
}
