import assert from 'node:assert/strict';
import { test } from 'node:test';
import { travel } from './agents.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { openScreen, prepareScreens, SCREENS } from './screens.ts';

const VERBS =
  /^(?:new session|start$|start the first|approve|deny|give the result|report|send|stop$|fork here|rewind|edit in a fork|pause|resume|archive|delete|prove|new proof|new schedule|run now|cancel|attach)/i;

test(
  'a console that may only read shows no verb on any screen, and sends no request that changes something',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    const toPath = await prepareScreens(server, 'demo');
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      const changing: string[] = [];
      page.on('request', (request) => {
        if (request.method() !== 'GET') changing.push(`${request.method()} ${request.url()}`);
      });
      await page.route('**/console/**', async (route) => {
        if (route.request().resourceType() !== 'document') return route.continue();
        const response = await route.fetch();
        const written = await response.text();
        const body = written.replace('read_only&quot;:false', 'read_only&quot;:true');
        assert.notEqual(body, written);
        return route.fulfill({ response, body });
      });
      const shown: string[] = [];
      for (const [name, path] of SCREENS) {
        await openScreen(page, server.url, toPath(path));
        if (name === 'sessions') await page.getByRole('checkbox').first().check();
        for (const button of await page.getByRole('button').all()) {
          const text = (await button.getAttribute('aria-label')) ?? (await button.innerText());
          if (VERBS.test(text.trim())) shown.push(`${name}: ${text}`);
        }
        if (path.startsWith('s/'))
          assert.equal(await page.getByRole('textbox', { name: /message|fork/i }).count(), 0, name);
        await page.keyboard.press('c');
        await page.keyboard.press('Enter');
      }
      assert.deepEqual(shown, []);
      assert.deepEqual(changing, []);
    } finally {
      await browser.close();
    }
  },
);
