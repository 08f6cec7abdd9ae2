/** Unpacks the browser once before all tests, because two test files must not do it at the same time. */
import { browserPath, HAS_BROWSER } from './executable.ts';

export default async function setup(): Promise<void> {
  if (HAS_BROWSER) await browserPath();
  else
    console.warn(
      'No browser was found, so the tests of the pages are skipped. Install Chromium to run them.',
    );
}
