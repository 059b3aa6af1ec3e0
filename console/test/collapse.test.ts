import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toWireNet } from '../../src/server/wire/to-wire-inspection.ts';
import { describeNet } from '../../src/runtime/internal.ts';
import { travel } from './agents.ts';
import { noBrowser, openBrowser } from './browser.ts';
import { openConsoleServer } from './console-server.ts';
import { openScreen } from './screens.ts';
import { collapseSubnets, listBoxNames, viewBoxes } from '../src/net/collapse.ts';
import { pickParts } from '../src/net/story.ts';
import type { DrawnNet } from '../src/net/story.ts';

const EVERYTHING = { stops: true, failures: true, control: true, shared: true, looks: true };

async function drawTravel(): Promise<DrawnNet> {
  const net = toWireNet(await describeNet(travel.compiled, travel.net, {}));
  return pickParts(net, EVERYTHING);
}

test('a subnet becomes one node with the arcs to the places outside, and loses no token', async () => {
  const net = await drawTravel();
  const names = listBoxNames(net);
  assert.ok(names.includes('tool-dispatch'));
  const { transitions, places, boxes } = collapseSubnets(net, new Set(['tool-dispatch']));
  const box = boxes.find(({ name }) => name === 'tool-dispatch') ?? assert.fail();
  assert.equal(boxes.length, 1);
  assert.equal(transitions.length, net.transitions.length - box.transitions.length + 1);
  assert.equal(places.length + box.places.length, net.places.length);
  const drawn = new Set(places.map(({ name }) => name));
  const node = transitions.find(({ name }) => name === 'tool-dispatch') ?? assert.fail();
  assert.ok(node.arcs.length > 0);
  assert.ok(node.arcs.every(({ place }) => drawn.has(place)));
  // Places where others put or take tokens stay.
  for (const place of ['answer.in', 'model.request']) assert.ok(drawn.has(place), place);
});

test('with all subnets as nodes, each token is in a place that is drawn or in one node', async () => {
  const net = await drawTravel();
  const { places, boxes, transitions } = collapseSubnets(net, new Set(listBoxNames(net)));
  const all = [...places.map(({ name }) => name), ...boxes.flatMap((box) => box.places)];
  assert.deepEqual(all.toSorted(), net.places.map(({ name }) => name).toSorted());
  assert.equal(transitions.length, boxes.length);
  const one = { count: 1, timed: false };
  const marking = {
    places: new Map(net.places.map(({ name }) => [name, one])),
    running: new Map([
      ['tool.run', [{ firing: 3, startedAt: 1, attempt: 1, crashes: 0, retryAt: undefined }]],
    ]),
  };
  const view = viewBoxes(boxes, marking, 'tool.answer');
  assert.equal(view.fired, 'tool-dispatch');
  assert.equal(view.running.get('tool-dispatch')?.length, 1);
  const inside = [...view.tokens.values()].reduce((sum, count) => sum + count, 0);
  assert.equal(inside + places.length, net.places.length);
});

test(
  'the net pane draws one node per subnet, and expands one of them',
  { skip: noBrowser },
  async () => {
    await using server = await openConsoleServer({ agents: [travel] });
    await (
      await server.runtime.session('trip', { user: 'default' })
    )
      .ask('Book')
      .catch(() => undefined);
    const browser = await openBrowser();
    try {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
      page.setDefaultTimeout(20_000);
      await openScreen(page, server.url, 's/trip');
      await page.locator('[data-node="t:tool.run"]').waitFor();
      await page.locator('.net-pane summary').click();
      await page.getByLabel('one node per subnet').check();
      await page.locator('[data-node="t:tool.run"]').waitFor({ state: 'detached' });
      await page.locator('.net-pane summary').click();
      const box = page.locator('[data-node="t:tool-dispatch"]');
      // The call that waits is inside.
      await box.locator('.net-inside').waitFor();
      await box.click();
      await page.getByRole('button', { name: 'Expand' }).click();
      await page.locator('[data-node="t:tool.run"]').waitFor();
      assert.equal(await page.locator('[data-node="t:model-step"]').count(), 1);
    } finally {
      await browser.close();
    }
  },
);
