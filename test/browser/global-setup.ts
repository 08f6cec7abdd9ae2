/** Unpacks the browser once, before any test: two files that did it at the same time would run half of one. */
import { browserPath, HAS_BROWSER } from './executable.ts';

export default async function setup(): Promise<void> {
  if (HAS_BROWSER) await browserPath();
  else
    console.warn(
      'No browser for this machine: the tests of the pages are left out. Install Chromium to run them.',
    );
}
