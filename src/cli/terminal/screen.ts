/** The screen that an answer is printed on: a terminal with a width, or a pipe. */

export interface Screen {
  /** Null for a pipe, where nothing is cut. */
  readonly columns: number | null;
  readonly hasColours: boolean;
}

export const PLAIN: Screen = { columns: null, hasColours: false };

const COLUMNS_DEFAULT = 80;
/** A table is not readable in fewer columns. On narrower terminals, lines wrap. */
const COLUMNS_MIN = 40;

interface Stream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** `--no-color` wins over FORCE_COLOR, and FORCE_COLOR over NO_COLOR. By default a capable terminal gets colours. */
export function screenOf(
  { isTTY = false, columns = COLUMNS_DEFAULT }: Stream,
  env: Readonly<Record<string, string | undefined>>,
  isColourRefused: boolean,
): Screen {
  return {
    columns: isTTY ? Math.max(columns, COLUMNS_MIN) : null,
    hasColours: !isColourRefused && wantsColours(isTTY, env),
  };
}

function wantsColours(isTTY: boolean, env: Readonly<Record<string, string | undefined>>): boolean {
  const { FORCE_COLOR: forced = '', NO_COLOR: refused = '', TERM: terminal } = env;
  if (forced !== '') return forced !== '0' && forced !== 'false';
  return refused === '' && isTTY && terminal !== 'dumb';
}

const STYLES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;
export type Style = keyof typeof STYLES;

export function paint(text: string, style: Style | null, { hasColours }: Screen): string {
  return style === null || !hasColours || text === '' ? text : `\u001b[${STYLES[style]}m${text}\u001b[0m`;
}

const STATUS_STYLES: Readonly<Record<string, Style>> = {
  active: 'green',
  succeeded: 'green',
  success: 'green',
  claimed: 'cyan',
  retry_scheduled: 'yellow',
  retryable: 'yellow',
  paused: 'yellow',
  expired: 'red',
  dead_letter: 'red',
  terminal: 'red',
  canceled: 'dim',
  completed: 'dim',
};

/** The style of a state, status or outcome. */
export function styleOf(status: string): Style | null {
  return STATUS_STYLES[status] ?? null;
}

/** Moves the cursor to the start of the line and erases the line. */
const ERASE_LINE = '\r\u001B[K';

/** Shows progress on a terminal. Each text replaces the one before it, and an empty text removes it. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${ERASE_LINE}${text}`);
}
