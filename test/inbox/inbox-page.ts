/** The parts of the inbox page, as tests find them. */
import type { Locator, Page } from 'playwright-core';
import { expect, vi } from 'vitest';

/** The machine is shared with other tests. */
const WAIT_MS_MAX = 15_000;

/** The rows of the list that hold all these texts. */
export function rows(page: Page, ...texts: readonly string[]): Locator {
  let found = page.locator('#arrivals li');
  for (const hasText of texts) found = found.filter({ hasText });
  return found;
}

export const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
export const details = (page: Page) => page.getByLabel('The arrival that is selected');
/** It is connected, and says so. */
export const live = (page: Page) => page.getByText('Live', { exact: true }).waitFor();

/** Once it is all of the text there, to the last space. */
export async function reads(locator: Locator, text: string): Promise<void> {
  const isSo = async () => expect(await locator.textContent()).toBe(text);
  await vi.waitFor(isSo, { timeout: WAIT_MS_MAX });
}
