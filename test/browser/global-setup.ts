/** Unpacks the browser once, before any test: two files that did it at the same time would run half of one. */
import chromium from '@sparticuz/chromium';

export default async function setup(): Promise<void> {
  await chromium.executablePath();
}
