/** Finds the parts of the inbox page. */
import type { Locator, Page } from 'playwright-core';
import { expect, vi } from 'vitest';

/** Generous, because the machine is shared with other tests. */
const WAIT_MS_MAX = 60_000;

/** The rows of the list that contain all these texts. */
export function rows(page: Page, ...texts: readonly (string | RegExp)[]): Locator {
  let found = page.locator('#arrivals li');
  for (const hasText of texts) found = found.filter({ hasText });
  return found;
}

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
/** Sets how the next requests are answered. */
export const answerWith = (page: Page, name: string) =>
  page.getByRole('radio', { name, exact: true }).check();
export const details = (page: Page) => page.getByLabel('Selected arrival');
/** Waits until the page shows that it is connected. */
export const waitUntilLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor();

/** Waits until the element has exactly this text, including spaces. */
export async function waitForText(locator: Locator, text: string): Promise<void> {
  const check = async () => expect(await locator.textContent()).toBe(text);
  await vi.waitFor(check, { timeout: WAIT_MS_MAX });
}
