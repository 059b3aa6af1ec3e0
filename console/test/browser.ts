import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Why the browser tests cannot run here. False: they can. */
export const noBrowser: string | false = existsSync(CHROMIUM) ? false : `${CHROMIUM} is absent`;

/** Opens Chromium. @param args more arguments of its command line */
export async function openBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--force-color-profile=srgb',
      ...args,
    ],
  });
}
