/** The script inside the executable: unpacks the package, and runs it from there. */
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getAsset, getAssetKeys, getRawAsset } from 'node:sea';
import { cacheFolders, unpack } from './unpack.ts';

const DIGEST = 'digest';

const keys = getAssetKeys().filter((key) => key !== DIGEST);
const { folder, isTemporary } = unpack(
  {
    files: new Map(keys.map((key) => [key, new Uint8Array(getRawAsset(key))])),
    digest: getAsset(DIGEST, 'utf8'),
  },
  cacheFolders(process.env),
  tmpdir(),
);
if (isTemporary) removeAtEnd(folder);
createRequire(join(folder, 'package.json'))('./bin/sched.js');

/** The service replaces its process once at the start (see bin/sched.js), and then no listener of `exit` runs. */
function removeAtEnd(path: string): void {
  const remove = () => rmSync(path, { recursive: true, force: true });
  const execve = process.execve?.bind(process);
  process.on('exit', remove);
  process.execve = (...args) => {
    remove();
    return execve?.(...args) as never;
  };
}
