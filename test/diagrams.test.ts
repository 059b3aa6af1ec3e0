import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentDiagrams } from '../scripts/agent-diagrams.ts';
import { exampleDiagrams } from '../scripts/example-nets.ts';
import { liveDiagrams } from '../scripts/live-nets.ts';
import {
  managedDiagrams,
  managedNet,
  managedPictures,
  toDiagramOptions,
} from '../scripts/managed-nets.ts';
import { listDiagrams } from '../scripts/shipped-nets.ts';
import { netGraph } from '../src/net/diagram/net-graph.ts';
import type { GraphCluster } from '../src/net/diagram/net-graph.ts';

const MAX_NODES = 25;

for (const { file, draw } of [
  ...listDiagrams(),
  ...agentDiagrams(),
  ...exampleDiagrams(),
  ...liveDiagrams(),
  ...(await managedDiagrams()),
]) {
  test(`${file} is up to date (npm run diagrams)`, async () => {
    assert.equal(readFileSync(file, 'utf8'), await draw());
  });
}

const managed = await managedNet();

for (const picture of managedPictures) {
  test(`${picture.name} has at most 25 places and transitions`, () => {
    const { nodes, subgraphs } = netGraph(managed, toDiagramOptions(picture));
    const count = nodes.length + subgraphs.reduce((sum, part) => sum + countNodes(part), 0);
    assert.ok(count > 2 && count <= MAX_NODES, `${count} of them`);
  });
}

test('every transition of a managed session is in a diagram, and every diagram is on docs/managed-nets.md', () => {
  const drawn = new Set(managedPictures.flatMap(({ transitions }) => transitions));
  assert.deepEqual(managed.transitions.map(({ name }) => name).toSorted(), [...drawn].toSorted());
  const page = readFileSync('docs/managed-nets.md', 'utf8');
  for (const { name } of managedPictures) assert.ok(page.includes(`nets/${name}.svg`), name);
});

function countNodes({ nodes, subgraphs }: GraphCluster): number {
  return nodes.length + subgraphs.reduce((sum, part) => sum + countNodes(part), 0);
}
