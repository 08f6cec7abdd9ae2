import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { buildProgram } from '#src/cli/program.ts';
import { SETTINGS } from './settings.ts';

const PAGE = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');

describe('docs/settings.md', () => {
  test('has a row for every setting, as the service knows it', () => {
    const rows = Object.values(SETTINGS).map(({ env, flag, value, fallback, about }) => {
      const unset = fallback === null ? '' : `\`${fallback}\``;
      const usage = `${flag} <${value}>`.replaceAll('|', '\\|');
      return `| \`${env}\` | \`${usage}\` | ${unset} | ${about} |`;
    });
    expect(PAGE.split('\n').filter((line) => line.startsWith('| `SCHED_'))).toEqual(rows);
  });

  test('names every command', () => {
    const program = buildProgram({ env: {}, print: () => {} });
    const leaves = program.commands.flatMap((command) =>
      command.commands.length === 0
        ? [`sched ${command.name()}`]
        : command.commands.map((child) => `sched ${command.name()} ${child.name()}`),
    );
    expect(leaves).toHaveLength(10);
    for (const command of leaves) expect(PAGE).toContain(`\`${command}`);
  });
});

test('a flag is the name of its setting', () => {
  expect(SETTINGS.dataDir.flag).toBe('--data-dir');
  expect(SETTINGS.bootstrapSigningSecret.flag).toBe('--bootstrap-signing-secret');
});
