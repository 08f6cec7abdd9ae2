/** The unit says what it must, and systemd has nothing against it where there is a systemd to ask. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { graceSeconds, PACKAGING, ROOT, read, unknownSettings } from './files.ts';

const UNIT = read('deploy/systemd/sched.service');
const HAS_SYSTEMD = spawnSync('systemd-analyze', ['--version']).status === 0;

function directive(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(UNIT)?.[1];
}

describe('deploy/systemd/sched.service', () => {
  test('runs the service from a checkout', () => {
    const [node = '', main = '', command] =
      directive('ExecStart')?.replaceAll('/opt/sched/', '').split(' ') ?? [];
    expect([node, command]).toEqual(['node_modules/.bin/node', 'serve']);
    expect(existsSync(join(ROOT, main))).toBe(true);
  });

  test('keeps data in its own place, gives up on wrong settings, waits for a stop', () => {
    expect(directive('Environment')).toContain(`SCHED_DATA_DIR=/var/lib/${directive('StateDirectory')}`);
    expect(directive('DynamicUser')).toBe('yes');
    expect(directive('ProtectSystem')).toBe('strict');
    expect(directive('NoNewPrivileges')).toBe('yes');
    expect(directive('RestartPreventExitStatus')).toBe('2');
    expect(Number(directive('TimeoutStopSec'))).toBeGreaterThan(graceSeconds());
  });

  test('leaves no core dump, which would hold keys and bodies', () => {
    expect(directive('LimitCORE')).toBe('0');
  });

  test.skipIf(!HAS_SYSTEMD)(`is one that systemd takes${HAS_SYSTEMD ? '' : ' (it is not installed)'}`, () => {
    // Of the command it asks that it is there, and on this machine it is not.
    const verify = (text: string) => {
      const unit = join(temporaryDirectory(), 'sched.service');
      writeFileSync(unit, text.replace(/^ExecStart=.*$/m, 'ExecStart=/bin/sh'));
      const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
      return { status, said: stdout + stderr };
    };
    expect(verify(UNIT)).toEqual({ status: 0, said: '' });
    expect(verify(UNIT.replace('TimeoutStopSec', 'TimeoutStop')).said).toContain('Unknown key');
  });
});

test.each(PACKAGING)('%s names only settings that there are', (path) => {
  expect(unknownSettings(read(path))).toEqual([]);
});

test('a setting that there is not is seen', () => {
  expect(unknownSettings('SCHED_HOST SCHED_HOSTS')).toEqual(['SCHED_HOSTS']);
});
