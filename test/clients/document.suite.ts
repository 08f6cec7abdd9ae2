/** What the tools of other people say about the document, and about code that uses it. */
import { describe, expect, test } from 'vitest';
import { DOCUMENT, PROJECT, runTool } from './setup.ts';

describe('the OpenAPI document', () => {
  test('has no problem for Redocly, by its strictest rules', async () => {
    const found = await runTool('@redocly/cli/bin/cli.js', 'lint', DOCUMENT, '--format', 'json');
    expect(JSON.parse(found.slice(found.indexOf('{'), found.lastIndexOf('}') + 1))).toMatchObject({
      totals: { errors: 0, warnings: 0, ignored: 0 },
    });
  });

  test('has no problem for Spectral', async () => {
    const severity = ['--fail-severity', 'hint'];
    const found = await runTool('@stoplight/spectral-cli/dist/index.js', 'lint', ...severity, DOCUMENT);
    expect(found).toContain("No results with a severity of 'hint' or higher found!");
  });
});

test('the generated clients, and code that uses them, have no type error', async () => {
  expect(await runTool('typescript/bin/tsc', '--project', PROJECT)).toBe('');
});
