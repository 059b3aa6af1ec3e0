import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentDiagrams } from '../scripts/agent-diagrams.ts';
import { exampleDiagrams } from '../scripts/example-nets.ts';
import { diagramsOf } from '../scripts/shipped-nets.ts';

for (const { file, draw } of [...diagramsOf(), ...agentDiagrams(), ...exampleDiagrams()]) {
  test(`${file} is the net as it is: \`npm run diagrams\` draws it anew`, async () => {
    assert.equal(readFileSync(file, 'utf8'), await draw());
  });
}
