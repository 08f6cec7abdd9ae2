/** Moves to the beginning of the line, and erases the line. */
const LINE_AGAIN = '\r\u001B[K';

/** Shows progress in a terminal. Each text replaces the last; an empty one ends it. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`${LINE_AGAIN}${text}`);
}
