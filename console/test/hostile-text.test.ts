import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agent, tool } from '../../src/index.ts';
import { ScriptedModel } from '../../src/testing/index.ts';
import { noBrowser, openBrowser, openPage } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { openScreen } from './screens.ts';

/** Texts that run a script, load something or leave their place if they are shown as HTML. */
const CORPUS = [
  '<img src=x onerror="window.hacked = 1">',
  '<script>window.hacked = 2</script>',
  '<svg onload="window.hacked = 3"><a xlink:href="javascript:window.hacked=3"><text>x</text></a></svg>',
  '[link](javascript:window.hacked=4) [data](data:text/html,<script>window.hacked=4</script>)',
  '![image](http://127.0.0.1:1/image.png) <img src="http://127.0.0.1:1/track.png">',
  '<a href="javascript:window.hacked=5" onclick="window.hacked=5">x</a>',
  '<iframe srcdoc="<script>parent.hacked=6</script>"></iframe><form action="//x"><input autofocus onfocus="hacked=6">',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=window.hacked=7&gt;">',
  '"><style>body{display:none}</style><base href="http://127.0.0.1:1/">',
  '`${window.hacked = 8}` {{constructor.constructor("window.hacked=8")()}}',
];
const hostile = CORPUS.join('\n\n');

const show = tool({
  name: 'show',
  description: hostile,
  readOnly: true,
  parameters: { type: 'object', properties: { text: { type: 'string', description: hostile } } },
  execute: () => ({ [hostile]: hostile, list: CORPUS }),
});
const fail = tool({
  name: 'fail',
  description: 'Fails.',
  readOnly: true,
  execute: () => {
    throw new Error(hostile);
  },
});
const pay = tool({ name: 'pay', description: hostile, needsApproval: true, execute: () => null });

const painter = agent({
  name: 'painter',
  description: hostile,
  instruction: hostile,
  model: new ScriptedModel([
    { thinking: hostile, text: hostile, toolCalls: [{ name: 'show', args: { text: hostile } }] },
    { text: hostile, toolCalls: [{ name: 'fail' }] },
    { text: hostile, toolCalls: [{ name: 'pay', args: { [hostile]: hostile } }] },
  ]),
  tools: [show, fail, pay],
});

test(
  'text of a model, a tool or a user runs nothing, loads nothing and stays in its place',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [painter] });
    const created = await fetch(`${server.url}/v1/sessions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'agent_painter', title: hostile.slice(0, 200) }),
    });
    const { id }: { readonly id: string } = Object(await created.json());
    const session = await server.runtime.find(id, { user: 'default' });
    await session?.ask(hostile).catch(() => undefined);
    const browser = await openBrowser();
    try {
      const page = await openPage(browser, { viewport: { width: 1440, height: 900 } });
      const outside: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith(`${server.url}/`) && !request.url().startsWith('blob:'))
          outside.push(request.url());
      });
      page.on('dialog', (dialog) => outside.push(dialog.message()));
      const paths = ['sessions', 'inbox', 'agents', `traces/${id}`, `s/${id}`];
      for (const path of paths) {
        await openScreen(page, server.url, path);
        for (const summary of await page
          .locator('main summary, main .tool-card button, main .trace-choose')
          .all())
          await summary.click({ timeout: 2000 }).catch(() => undefined);
        await check(path);
        // An open menu covers what is below it.
        await page.evaluate(
          `for (const menu of document.querySelectorAll('main details.menu')) menu.open = false`,
        );
      }
      for (const tab of ['State', 'Prompt', 'Log', 'Raw', 'Record']) {
        await page.getByRole('tab', { name: tab }).click();
        await check(tab);
      }
      for (let count = 0; count < 14; count++) {
        await page.getByRole('slider').press('ArrowLeft');
        await check(`record -${count + 1}`);
      }

      async function check(where: string): Promise<void> {
        assert.equal(await page.evaluate('window.hacked'), undefined, where);
        assert.equal(await page.evaluate('document.baseURI'), `${server.url}/console/`, where);
        const bad: unknown = await page.evaluate(
          `[...document.querySelectorAll('main script, main iframe, main form[action], main img, main style, main base, main [onerror], main [onload], main [onclick], main [onfocus], main a[href^="javascript:"], main a[href^="data:"]')].map(({ outerHTML }) => outerHTML)`,
        );
        assert.deepEqual(bad, [], where);
      }
      assert.deepEqual(outside, []);
    } finally {
      await browser.close();
    }
  },
);
