/**
 * The files of the executable are unpacked into a folder that only their user can write. `npm run executable` builds the
 * executable and tries it out.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '#test/process/sched-process.ts';
import { cacheFolders, unpack } from '../../scripts/executable/unpack.ts';
import { ROOT } from './files.ts';

const PACKED = {
  files: new Map([
    ['package.json', Buffer.from('{}')],
    ['dist/main.js', Buffer.from('export {};')],
  ]),
  digest: 'a-digest',
};

const mode = (path: string) => statSync(path).mode & 0o777;

/** Unpacks into a new folder, and returns a function that does the same again. */
function unpacked() {
  const base = join(temporaryDirectory(), 'cache/sched');
  const temporary = temporaryDirectory();
  const again = () => unpack(PACKED, [base], temporary);
  return { base, temporary, again, ...again() };
}

describe('the files of the executable', () => {
  test('are written once, for their user alone', () => {
    const { base, folder, isTemporary, again } = unpacked();
    expect([folder, isTemporary]).toEqual([join(base, 'a-digest'), false]);
    expect(readFileSync(join(folder, 'dist/main.js'), 'utf8')).toBe('export {};');
    expect([base, folder, join(folder, 'dist')].map(mode)).toEqual([0o700, 0o700, 0o700]);
    expect(mode(join(folder, 'dist/main.js'))).toBe(0o600);
    const { ino } = statSync(join(folder, 'dist/main.js'));
    expect(again().folder).toBe(folder);
    expect(statSync(join(folder, 'dist/main.js')).ino).toBe(ino);
    expect(readdirSync(base)).toEqual(['a-digest']);
  });

  test.each<[string, (folder: string) => void]>([
    ['changed', (folder) => appendFileSync(join(folder, 'dist/main.js'), 'evil()')],
    ['missing', (folder) => rmSync(join(folder, 'package.json'))],
    ['open to others', (folder) => chmodSync(folder, 0o777)],
    [
      'a link to another folder',
      (folder) => {
        rmSync(folder, { recursive: true });
        symlinkSync(temporaryDirectory(), folder);
      },
    ],
  ])('are written again if they are %s', (_name, spoil) => {
    const { base, folder, again } = unpacked();
    spoil(folder);
    expect(again()).toEqual({ folder, isTemporary: false });
    expect(readFileSync(join(folder, 'dist/main.js'), 'utf8')).toBe('export {};');
    expect(existsSync(join(folder, 'package.json'))).toBe(true);
    expect(mode(folder)).toBe(0o700);
    expect(readdirSync(base)).toEqual(['a-digest']);
  });

  test.each<[string, (base: string) => void]>([
    ['is open to others', (base) => chmodSync(base, 0o770)],
    [
      'is a link',
      (base) => {
        rmSync(base, { recursive: true });
        const target = temporaryDirectory();
        symlinkSync(target, base);
      },
    ],
    [
      'is no folder',
      (base) => {
        rmSync(base, { recursive: true });
        appendFileSync(base, '');
      },
    ],
  ])('go to a folder of the process if the cache %s', (_name, spoil) => {
    const { base, temporary, again } = unpacked();
    spoil(base);
    const { folder, isTemporary } = again();
    expect(isTemporary).toBe(true);
    expect(folder.startsWith(join(temporary, 'sched-'))).toBe(true);
    expect(mode(folder)).toBe(0o700);
    expect(readFileSync(join(folder, 'dist/main.js'), 'utf8')).toBe('export {};');
  });

  test('are complete when several processes start at once', async () => {
    const base = join(temporaryDirectory(), 'sched');
    mkdirSync(base, { mode: 0o700 });
    const script = `
      import { unpack } from ${JSON.stringify(join(ROOT, 'scripts/executable/unpack.ts'))};
      const files = new Map(Array.from({ length: 50 }, (_, n) => ['f' + n, Buffer.alloc(20_000, n)]));
      const { folder, isTemporary } = unpack({ files, digest: 'd' }, [${JSON.stringify(base)}], '/nowhere');
      if (isTemporary || !folder.endsWith('/d')) process.exit(1);`;
    const children = Array.from({ length: 4 }, () =>
      spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0]));
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(readdirSync(base)).toEqual(['d']);
    expect(readdirSync(join(base, 'd'))).toHaveLength(50);
  });
});

test('the cache is in the home of the user who runs the executable, whatever HOME says', () => {
  const own = join(userInfo().homedir, '.cache/sched');
  expect(cacheFolders({ HOME: '/home/somebody-else' })).toEqual([own]);
  expect(cacheFolders({ XDG_CACHE_HOME: 'relative' })).toEqual([own]);
  expect(cacheFolders({ XDG_CACHE_HOME: '/var/cache' })).toEqual(['/var/cache/sched']);
});
