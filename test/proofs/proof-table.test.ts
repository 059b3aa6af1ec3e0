import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exampleNets } from '../../scripts/example-nets.ts';
import { shippedAgent } from '../../scripts/shipped-nets.ts';
import { allProofs } from './all-proofs.ts';
import { toFacts } from './proof-table.ts';
import { stock } from './subnets.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The cells of all table rows in a text. */
function parseRows(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((text) => text.trim()),
    );
}

test('every shipped net has a proof, and at least two mutants that are refuted', () => {
  const proved = new Set(allProofs.map(({ net }) => net.name));
  const shipped = [...exampleNets(), shippedAgent().net, ...Object.values(stock)]
    .map(({ name }) => name)
    // Turn control names the effects that it stops, so it builds only with them; the proof of the
    // agent covers it.
    .filter((name) => name !== stock.turnControl.name);
  assert.deepEqual(
    shipped.filter((name) => !proved.has(name)),
    [],
  );
  for (const { name, claims, mutants } of allProofs) {
    assert.ok(claims.length > 0, name);
    assert.ok(mutants.length >= 2, `${name}: ${mutants.length} mutants`);
  }
});

test('every transition in the source is part of a proved net', () => {
  const proved = new Set(
    allProofs.flatMap(({ net }) => net.transitions.map(({ name }) => name.replace(/^.*\//, ''))),
  );
  const files = globSync(['src/**/*.ts', 'examples/{cases,patterns}/**/*.ts'], {
    cwd: root,
    exclude: ['**/*.test.ts'],
  });
  const shipped = files.flatMap((file) =>
    [...read(file).matchAll(/\b(?:pure|effect)\(\s*'([^']+)'/g)].map(([, name = '']) => name),
  );
  assert.ok(shipped.includes('model.call') && shipped.includes('session.append-content'));
  assert.deepEqual(
    shipped.filter((name) => !proved.has(name)),
    [],
    'a net without a proof: see test/proofs/all-proofs.ts',
  );
});

test('the proof of an agent covers all transitions of turn control', () => {
  const agent = allProofs.find(({ net }) => net.name === shippedAgent().net.name);
  const transitionNames = new Set(agent?.net.transitions.map(({ name }) => name));
  for (const { name } of stock.turnControl.transitions) assert.ok(transitionNames.has(name), name);
});

test('docs/conformance/proof-results.md lists every proof, and docs/conformance/proofs.md its properties', () => {
  const rows = parseRows(read('docs/conformance/proof-results.md'));
  const claims = read('docs/conformance/proofs.md');
  for (const proof of allProofs) {
    const facts = toFacts(proof).map(String);
    const row = rows.find(([name]) => name === proof.name);
    assert.deepEqual(row?.slice(0, facts.length), facts, 'npm run proofs -- --write');
    assert.ok(claims.includes(`### ${proof.name}\n`), proof.name);
    for (const property of proof.claims.flatMap(({ properties }) => properties))
      assert.ok(claims.includes(`- ${property.name}\n`), `${proof.name}: ${property.name}`);
    for (const { that } of proof.mutants) assert.ok(claims.includes(that), that);
  }
});
