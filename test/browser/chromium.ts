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

/** What a step on a page may take at most; the machine is shared with other tests. */
const STEP_MS_MAX = 15_000;

/**
 * What the package adds for a function in the cloud, and a test must not have: in one process, windows that are
 * strangers to each other share cookies, and closing one ends all; without web security a page may do what no
 * browser lets it; and to play a graphics card by software takes more than half of the time.
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
  /** Errors in its console, exceptions, and requests that failed: of a page in order there are none. */
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
    // What was under way when a page is left or loaded again.
    if (why !== 'net::ERR_ABORTED') errors.push(`${request.url()} ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) errors.push(`${response.url()} ${response.status()}`);
  });
  await page.goto(url);
  return { page, errors };
}
