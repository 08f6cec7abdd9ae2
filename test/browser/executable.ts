/**
 * Where the browser of the tests is. npm brings a Chromium for Linux on x64. For other machines there is none on npm:
 * there the tests use the Chromium that is installed, and are left out where there is none.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import chromium from '@sparticuz/chromium';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const COMES_WITH_NPM = process.platform === 'linux' && process.arch === 'x64';

function installed(): string | null {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const paths = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return paths.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export const HAS_BROWSER: boolean = COMES_WITH_NPM || installed() !== null;

export async function browserPath(): Promise<string> {
  const path = COMES_WITH_NPM ? await chromium.executablePath() : installed();
  if (path === null) throw new Error('There is no browser for this machine: install Chromium.');
  return path;
}
