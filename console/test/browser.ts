import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContextOptions, BrowserContext, Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Why the browser tests cannot run here. False: they can. */
export const noBrowser: string | false = existsSync(CHROMIUM) ? false : `${CHROMIUM} is absent`;

/**
 * How long one step of a page may take, in milliseconds. What a test waits for always comes, but a busy machine may take
 * a hundred times longer than an idle one.
 */
const STEP_MS = 300_000;

/** Opens Chromium. @param args more arguments of its command line */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    timeout: STEP_MS,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--force-color-profile=srgb',
      ...args,
    ],
  });
}

/** Opens a context, whose pages share their connections. */
export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(STEP_MS);
  return context;
}

/** Opens a page in a context of its own. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Page> {
  return (await openContext(browser, options)).newPage();
}
