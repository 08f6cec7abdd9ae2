/** Completion in a real bash. For the other shells, if installed, the test only checks that they parse their script. */
import { execFile, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spawn } from '@lydell/node-pty';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { writeContexts } from '#src/cli/api/context-file.ts';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { runPiped } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');
const directory = temporaryDirectory();
const contexts = join(directory, 'contexts.json');

async function script(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runPiped(['completion', shell]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const path = join(directory, `sched.${shell}`);
  writeFileSync(path, stdout);
  return path;
}

describe('bash', () => {
  let path = '';
  beforeAll(async () => {
    path = await script('bash');
    const pair = { url: 'https://example.com', apiKey: 'sk_test_0123456789abcdef' };
    await writeContexts(contexts, {
      current: null,
      byName: new Map([
        ['staging', pair],
        ['production', pair],
      ]),
    });
  });

  /** The words that bash offers for the last word. */
  async function offered(...words: readonly string[]): Promise<readonly string[]> {
    const asked = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=\${#COMP_LINE}
      _sched; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = await promisify(execFile)('bash', ['-u', '-c', asked, path, ...words], {
      cwd: ROOT,
      env: { ...process.env, SCHED_CONFIG: contexts },
    });
    return stdout.split('\n').filter((line) => line !== '');
  }

  test.each<[readonly string[], readonly string[]]>([
    [['sched', 'sche'], ['schedules']],
    [
      ['sched', 'schedules', 're'],
      ['reschedule', 'resume'],
    ],
    [['sched', 'schedules', 'list', '--st'], ['--state']],
    [
      ['sched', 'schedules', 'list', '--state', ''],
      ['active', 'paused', 'canceled', 'completed'],
    ],
    [['sched', 'schedules', 'list', '--state', 'active', '--ki'], ['--kind']],
    [['sched', '--no-color', 'tail', '--status', 'dead'], ['dead_letter']],
    [['sched', 'key', 'create', '--mode', 'l'], ['live']],
    [['sched', 'completion', 'f'], ['fish']],
    // A value with the name of a command does not count as a command.
    [['sched', 'schedules', '--url', 'tail', 'paus'], ['pause']],
    [['sched', 'preview', '--tz', ''], []],
    [['sched', 'verify', 'package-lo'], ['package-lock.json']],
    [['sched', 'serve', '--role', 'disp'], ['dispatcher']],
    [
      ['sched', 'tail', '--context', ''],
      ['staging', 'production'],
    ],
    [['sched', 'context', 'use', 'st'], ['staging']],
    [['sched', 'schedules', 'create', '--notify-on', 'd'], ['dead_letter']],
    [['sched', 'schedules', 'create', '--body', 'package-lo'], []],
  ])('%j', async (words, wanted) => {
    expect(await offered(...words)).toEqual(wanted);
  });

  test('all commands are offered, and all flags of a command', async () => {
    const all = await offered('sched', '');
    expect(all).toEqual(
      expect.arrayContaining(['dev', 'serve', 'schedules', 'tail', 'verify', 'completion']),
    );
    const flags = await offered('sched', 'schedules', 'create', '--');
    expect(flags).toEqual(expect.arrayContaining(['--endpoint', '--cron', '--json', '--url', '--help']));
  });

  test.each([
    // Bash splits these words at `=`, `@` and `:`.
    ['sched schedules list --state=act', '--state=active'],
    ['sched schedules create --data @package-lo', '@package-lock.json'],
    ['sched schedules create --body=@package-lo', '--body=@package-lock.json'],
    ['sched tail --url http://127.0.0.1:8080 --context=stag', '--context=staging'],
  ])('at a terminal, a tab completes %s', async (typed, completed) => {
    const pty = spawn('bash', ['--noprofile', '--norc', '-i'], {
      cols: 200,
      cwd: ROOT,
      env: { PATH: process.env.PATH, HOME: directory, TERM: 'dumb', PS1: '# ', SCHED_CONFIG: contexts },
    });
    try {
      let screen = '';
      pty.onData((text) => {
        screen += text;
      });
      pty.write(`source ${path}\r${typed}\t`);
      await vi.waitUntil(() => screen.includes(`${completed} `), { timeout: 10_000 });
    } finally {
      pty.kill('SIGKILL');
    }
  });
});

test.each(['zsh', 'fish'])('%s can parse its script', async (shell) => {
  const path = await script(shell);
  const isInstalled = spawnSync(shell, ['--version']).error === undefined;
  if (isInstalled) expect(spawnSync(shell, ['-n', path])).toMatchObject({ status: 0 });
});

test('another shell is wrong usage', async () => {
  const { code, stderr } = await runPiped(['completion', 'tcsh']);
  expect(code).toBe(2);
  expect(stderr).toContain('bash, zsh, fish');
});
