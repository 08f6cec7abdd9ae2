/**
 * A real browser for tests (see `executable.ts`). It ends with its scope.
 *
 *     await using browser = await launchChromium();
 *     const { page, errors } = await browser.open(url);
 *     …
 *     expect(errors).toEqual([]);
 */
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, type Page, chromium as playwright } from 'playwright-core';
import { browserPath } from './executable.ts';

/** The limit for a step on a page, on a machine that is shared with other tests. */
const STEP_MS_MAX = 15_000;

/**
 * Arguments that the package adds for cloud functions, and that tests must not have. In a single process, separate
 * windows share cookies, and closing one closes all. Without web security a page may do what browsers forbid. Graphics
 * in software take more than half of the time.
 */
const UNWANTED = new Set([
  '--single-process',
  '--disable-web-security',
  '--allow-running-insecure-content',
  '--disable-site-isolation-trials',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--in-process-gpu',
]);

const WANTED = ['--disable-gpu'];

export interface OpenPage {
  readonly page: Page;
  /** Errors in the console, exceptions, and failed requests. A correct page has none. */
  readonly errors: readonly string[];
}

export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser;
  open(url: string, options?: BrowserContextOptions): Promise<OpenPage>;
}

export async function launchChromium(): Promise<TestBrowser> {
  const browser = await playwright.launch({
    executablePath: await browserPath(),
    args: [...chromium.args.filter((argument) => !UNWANTED.has(argument)), ...WANTED],
  });
  return {
    browser,
    open: (url, options) => openPage(browser, url, options),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<OpenPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(STEP_MS_MAX);
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('requestfailed', (request) => {
    const why = request.failure()?.errorText;
    // Requests are aborted when a page is left or reloaded.
    if (why !== 'net::ERR_ABORTED') errors.push(`${request.url()} ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) errors.push(`${response.url()} ${response.status()}`);
  });
  await page.goto(url);
  return { page, errors };
}
