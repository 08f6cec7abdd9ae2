/**
 * The path of the browser for the tests. npm has a Chromium for Linux on x64. On other machines the tests use an installed
 * Chromium, and they are skipped without one.
 */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import chromium from '@sparticuz/chromium';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];
const COMES_WITH_NPM = process.platform === 'linux' && process.arch === 'x64';

function findInstalled(): string | null {
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

export const HAS_BROWSER: boolean = COMES_WITH_NPM || findInstalled() !== null;

export async function browserPath(): Promise<string> {
  const path = COMES_WITH_NPM ? await chromium.executablePath() : findInstalled();
  if (path === null) throw new Error('No browser was found. Install Chromium.');
  return path;
}
