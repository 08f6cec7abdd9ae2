/** Shows the beginning of an answer. It was written by another program, so no character of it may act on the terminal. */
import type { AttemptResponse } from '#sdk/index.ts';
import { fields } from '#src/cli/terminal/output.ts';
import { printableLines } from '#src/cli/terminal/printable.ts';
import type { Screen } from '#src/cli/terminal/screen.ts';

export function responseText(response: AttemptResponse, screen: Screen): string {
  const { status_code, content_type, excerpt, encoding, truncated } = response;
  const head = fields(
    [
      ['Status', String(status_code)],
      ['Content type', content_type ?? '-'],
      ['Shown', `${truncated ? 'the beginning' : 'everything'}${encoding === 'base64' ? ', as base64' : ''}`],
    ],
    screen,
  );
  return excerpt === '' ? head : `${head}\n\n${printableLines(excerpt)}`;
}
