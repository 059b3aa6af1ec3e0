import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toWireNet } from '../../src/server/wire/to-wire-inspection.ts';
import { describeNet } from '../../src/runtime/internal.ts';
import { travel } from './agents.ts';
import { collapseSubnets, listBoxNames } from '../src/net/collapse.ts';
import { pickParts, toEdges, toPlaceNode } from '../src/net/story.ts';
import type { DrawnNet } from '../src/net/story.ts';

const PARTS = ['stops', 'failures', 'control', 'shared', 'looks'] as const;

function assertEdgesEndAtNodes({ transitions, places }: DrawnNet, what: string): void {
  const nodes = new Set([
    ...transitions.map(({ name }) => `t:${name}`),
    ...places.map(({ name }) => `p:${name}`),
  ]);
  const loose = toEdges({ transitions })
    .filter(
      ({ place, transition }) => !nodes.has(toPlaceNode(place)) || !nodes.has(`t:${transition}`),
    )
    .map(({ id }) => id);
  assert.deepEqual(loose, [], what);
}

test('each edge ends at nodes that are drawn, whatever is drawn', async () => {
  const net = toWireNet(await describeNet(travel.compiled, travel.net, {}));
  for (let chosen = 0; chosen < 2 ** PARTS.length; chosen++) {
    const [stops, failures, control, shared, looks] = PARTS.map(
      (_, bit) => (chosen >> bit) % 2 === 1,
    );
    const parts = { stops, failures, control, shared, looks } as Record<
      (typeof PARTS)[number],
      boolean
    >;
    const what = JSON.stringify(parts);
    const drawn = pickParts(net, parts);
    assertEdgesEndAtNodes({ ...drawn, boxes: [] }, what);
    assertEdgesEndAtNodes(
      pickParts(net, parts, new Set(['turn.interrupt'])),
      `${what} and an interrupt`,
    );
    for (const name of listBoxNames(net))
      assertEdgesEndAtNodes(
        collapseSubnets(drawn, new Set([name])),
        `${what}, ${name} as one node`,
      );
  }
});

test('an interrupt takes the effect that runs from its transition', async () => {
  const net = toWireNet(await describeNet(travel.compiled, travel.net, {}));
  const parts = { stops: true, failures: false, control: false, shared: false, looks: false };
  const edges = toEdges(pickParts(net, parts)).filter(
    ({ place, transition }) =>
      transition === 'turn.interrupt' && toPlaceNode(place) === 't:tool.run',
  );
  assert.deepEqual(
    edges.map(({ kind }) => kind),
    ['take'],
  );
});
