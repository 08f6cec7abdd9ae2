import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { systemClock } from '#src/system/clock.ts';
import { systemTimers } from '#src/system/timers.ts';
import { EXIT } from './failure.ts';
import { buildProgram } from './program.ts';
import { PLAIN } from './terminal/screen.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');
const DEPENDENCIES = {
  env: {},
  print: () => {},
  notify: () => {},
  serve: async () => {},
  screen: PLAIN,
  clock: systemClock,
  timers: systemTimers,
};

const whole = await buildProgram(DEPENDENCIES);

/** Every command that can run, with the words that call it. */
function leaves(command: Command, path = 'sched'): readonly (readonly [path: string, leaf: Command])[] {
  return command.commands.flatMap((child) => {
    const words = `${path} ${child.name()}`;
    return child.commands.length === 0 ? [[words, child] as const] : leaves(child, words);
  });
}

/** Every command that only has subcommands. */
function groups(command: Command, path = 'sched'): readonly (readonly [path: string, group: Command])[] {
  return command.commands
    .filter(({ commands }) => commands.length > 0)
    .map((child) => [`${path} ${child.name()}`, child]);
}

/** The commands that call the API, and the tools. */
function apiCommandsAndTools() {
  return leaves(whole).filter(
    ([path]) => !/ (?:dev|serve|migrate|move|reseal|project|key|secret|user|alert)\b/.test(path),
  );
}

describe('docs/cli.md', () => {
  test('names every command', () => {
    expect(leaves(whole)).toHaveLength(61);
    for (const [path] of leaves(whole)) expect(PAGE).toContain(`\`${path}`);
  });

  test('names every flag of the API commands and of the tools', () => {
    const flags = new Set(
      apiCommandsAndTools().flatMap(([, leaf]) => leaf.options.map(({ long, short }) => short ?? long ?? '')),
    );
    for (const flag of flags) expect(PAGE).toContain(`\`${flag}`);
    expect(flags.size).toBeGreaterThan(40);
  });

  test('names every exit code, as the help does', () => {
    for (const code of Object.values(EXIT)) expect(PAGE).toContain(`\n| ${code} | `);
    const help: string[] = [];
    whole.configureOutput({ writeOut: (text) => help.push(text) }).outputHelp();
    const [, codes = ''] = help.join('').split('Exit codes:');
    for (const code of [0, 1, 2, 3, 4, 5]) expect(codes).toMatch(new RegExp(`[ \\n]${code} `));
  });
});

/** Code in a page: a block, or inline code. */
const CODE = /^```[^\n]*\n([\s\S]*?)^```$|`([^`\n]+)`/gm;
/** One call of the command, up to its end. */
const CALL = /(?:^sched|npx sched|\$\(sched|main\.ts) ((?:--?)?[a-z][^\n|;&<>)#]*)/gm;

function callsIn(page: string): readonly string[] {
  return [...page.matchAll(CODE)].flatMap(([, block, inline = '']) =>
    [...(block ?? inline).replaceAll(/\\\n\s*/g, '').matchAll(CALL)].map(([, call = '']) => call),
  );
}

/** The first word of a call that is not a command or flag. */
function unknownIn(call: string): string | undefined {
  let command = whole;
  // Quoted text is a value.
  const words = call.replaceAll(/"[^"]*"|'[^']*'/g, 'value').split(/[\s[\]]+/);
  return words.find((word) => {
    if (/^-./.test(word)) return !isFlag(word.replace(/=.*/, ''), command);
    const next = command.commands.find((child) => child.name() === word);
    const isUnknown = next === undefined && command.commands.length > 0 && /^[a-z]/.test(word);
    command = next ?? command;
    return isUnknown;
  });
}

function isFlag(word: string, command: Command): boolean {
  const options = [...whole.options, ...command.options];
  return word === '--help' || options.some(({ long, short }) => word === long || word === short);
}

describe('every page', () => {
  const pages = globSync(['README.md', 'docs/**/*.md', 'sdk/README.md'], { cwd: ROOT }).sort();

  test.each(pages)('%s calls only existing commands and flags', (page) => {
    const calls = callsIn(readFileSync(join(ROOT, page), 'utf8'));
    expect(calls.filter((call) => unknownIn(call) !== undefined)).toEqual([]);
  });

  test('a wrong call in a page is found', () => {
    expect(callsIn(PAGE).length).toBeGreaterThan(60);
    const page = '`sched tial`\n```sh\nid=$(npx sched schedules create \\\n  --dealy 5s --json)\n```';
    expect(callsIn(page).map(unknownIn)).toEqual(['tial', '--dealy']);
  });
});

describe('the program', () => {
  test('contains only the called command, and everything for an unknown one', async () => {
    const called = async (name: string) =>
      (await buildProgram(DEPENDENCIES, name)).commands.map((command) => command.name());
    expect(await called('preview')).toEqual(['preview']);
    expect(await called('schedules')).toEqual(['schedules']);
    const all = whole.commands.map((command) => command.name());
    for (const name of ['help', 'completion', 'nonsense', 'constructor'])
      expect(await called(name)).toEqual(all);
  });

  test('the help of every command fits 80 columns', () => {
    for (const [path, command] of [['sched', whole] as const, ...groups(whole), ...leaves(whole)]) {
      const help: string[] = [];
      const output = { writeOut: (text: string) => help.push(text), getOutHelpWidth: () => 80 };
      command.configureOutput(output).outputHelp();
      const lines = help.join('').split('\n');
      expect(
        // A single long word, such as an example of a URL, cannot be wrapped.
        lines.filter((line) => line.length > 80 && line.trim().includes(' ')),
        path,
      ).toEqual([]);
    }
  });

  test('the general help ends with the path of the guide', () => {
    const help: string[] = [];
    whole.configureOutput({ writeOut: (text) => help.push(text) }).outputHelp();
    expect(help.join('')).toMatch(/The guide is here:\n {2}.+\n$/);
    expect(
      help
        .join('')
        .trimEnd()
        .endsWith(`  ${join(ROOT, 'docs/README.md')}`),
    ).toBe(true);
  });

  test('every command is described by an imperative sentence without a period', () => {
    for (const [path, command] of [...groups(whole), ...leaves(whole)])
      expect(command.description(), path).toMatch(/^[A-Z][a-z]+,? .*[^.]$/);
  });

  test('every flag is described', () => {
    for (const [path, leaf] of leaves(whole)) {
      for (const { flags, description } of leaf.options) expect(description, `${path} ${flags}`).not.toBe('');
    }
  });
});
