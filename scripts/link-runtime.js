/**
 * Links node_modules/.bin/node to the runtime if the link is missing. The packages of the runtime for all platforms share
 * this name, and npm 10 removes the link together with the packages for other platforms. npm scripts need the link:
 * they run TypeScript, and the machine's own Node may be too old. This file is plain JavaScript for the same reason.
 */
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
const runtime = join(`node-${process.platform}-${process.arch}`, 'bin/node');
const link = join(modules, '.bin/node');

if (existsSync(join(modules, runtime)) && !existsSync(link)) {
  // A link to a file that is gone does not count as existing.
  rmSync(link, { force: true });
  symlinkSync(join('..', runtime), link);
}
