import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';

/** The smallest agent whose proof covers every case. */
const smallBounds = ['--at-once', '1', '--faults', '0'];

function createFolder(source: string = agentSource): CommandFolder {
  const folder = new CommandFolder();
  folder.write('agent.ts', source);
  return folder;
}

test('the standard properties are proved, and printed with their bounds and meanings', async () => {
  const { code, stdout, stderr } = await createFolder().run(['prove', 'agent.ts', ...smallBounds]);
  assert.equal(stderr.raw, '');
  assert.equal(code, 0);
  assert.match(stdout.text, /^assistant \([0-9a-f]{16}\): \d+ places and \d+ transitions/);
  assert.match(stdout.text, /^for .*<= 1 in user\.in.*<= 0 faults, no shutdown$/m);
  assert.match(stdout.text, /^✔ deadlock-free: proved \(search.*, [\d,]+ states, [\d.]+ m?s/m);
  assert.match(stdout.text, /^✔ at most 1 in turn\.permit \+ turn\.current: proved/m);
  assert.match(
    stdout.text,
    /^✔ re-ask budget: model\.call at most 2 times per token of user\.in: p/m,
  );
  assert.match(stdout.text, /^4 proved in /m);
  assert.match(stdout.text, /^Proved means: /m);
  assert.match(stdout.text, /^✔ rules of an agent: kept \(by its arcs\)$/m);
});

test('a refuted property is printed step by step, and sets the exit code', async () => {
  const args = ['--property', 'unreachable(turn.waiting)'];
  const { code, stdout } = await createFolder().run(['prove', 'agent.ts', ...smallBounds, ...args]);
  assert.equal(code, 1);
  assert.match(stdout.text, /^✖ never 1 in turn\.waiting: refuted/m);
  assert.match(stdout.text, /^ +1\. from outside → user\.in$/m);
  assert.match(stdout.text, /^ +\d+\. fired turn\.wait → /m);
  assert.match(stdout.text, /^ +ends with: .*turn\.waiting/m);
  assert.match(stdout.text, /^ +0 +1 +2 +3/m);
  assert.match(stdout.text, /^ +user\.in +· +● +·/m);
  assert.match(stdout.text, /^1 refuted in /m);
});

test('an unknown result does not count as proved', async () => {
  const { code, stdout } = await createFolder().run([
    'prove',
    'agent.ts',
    '--states',
    '50',
    '--solver-seconds',
    '0',
  ]);
  assert.equal(code, 1);
  assert.match(stdout.text, /^\? deadlock-free: unknown/m);
  assert.match(stdout.text, /^ {2}because more than 50 states/m);
});

test('properties can be selected by name or as calls, several at once', async () => {
  const args = ['oneTurn', 'mutualExclusion(turn.permit, turn.current)'].flatMap((property) => [
    '--property',
    property,
  ]);
  const { code, stdout } = await createFolder().run([
    'prove',
    'agent.ts',
    ...smallBounds,
    ...args,
    '--json',
  ]);
  assert.equal(code, 0);
  const [one, two, rules, report, ...more] = stdout.json;
  assert.equal(more.length, 0);
  assert.deepEqual(
    [one, two].map((line) => [line?.['type'], line?.['kind'], line?.['verdict']]),
    [
      ['property', 'placeBound', 'proved'],
      ['property', 'mutualExclusion', 'proved'],
    ],
  );
  assert.deepEqual([rules?.['type'], rules?.['kept'], rules?.['problems']], ['rules', true, []]);
  assert.deepEqual(
    [report?.['type'], report?.['agent'], report?.['proved'], report?.['results']],
    ['report', 'assistant', true, undefined],
  );
});

test('with --json a refutation has its trace as data', async () => {
  const args = ['--property', 'atMost(model.call, 0)', '--json'];
  const { code, stdout } = await createFolder().run(['prove', 'agent.ts', ...smallBounds, ...args]);
  assert.equal(code, 1);
  const trace = stdout.json[0]?.['trace'] as { steps: { kind: string; transition?: string }[] };
  assert.deepEqual(
    [trace.steps[0]?.kind, trace.steps.at(-1)?.kind, trace.steps.at(-1)?.transition],
    ['injected', 'started', 'model.call'],
  );
  assert.equal(stdout.json.at(-1)?.['proved'], false);
});

test('a refutation is drawn to a file, and a proved property has no picture', async () => {
  const folder = createFolder();
  const refuted = ['--property', 'unreachable(turn.waiting)', '--svg', 'broken.svg'];
  const { code, stderr } = await folder.run(['prove', 'agent.ts', ...smallBounds, ...refuted]);
  assert.equal(code, 1);
  assert.equal(stderr.text, 'Wrote broken.svg.\n');
  const svg = readFileSync(join(folder.path, 'broken.svg'), 'utf8');
  assert.match(svg, /^<svg [^]*never 1 in turn\.waiting: refuted[^]*<circle [^]*<\/svg>\n$/);
  const proved = ['--property', 'oneTurn', '--svg', 'none.svg'];
  const other = await folder.run(['prove', 'agent.ts', ...smallBounds, ...proved]);
  assert.equal(other.code, 0);
  assert.equal(other.stderr.text, 'Nothing was refuted; did not write none.svg.\n');
});

test('an agent that violates a structural rule is reported, and the exit code is not 0', async () => {
  const folder = createFolder(withSecondWriter);
  const args = [...smallBounds, '--property', 'oneTurn'];
  const { code, stdout } = await folder.run(['prove', 'agent.ts', ...args]);
  assert.equal(code, 1);
  assert.match(stdout.text, /^✖ rules of an agent: broken[^]*shelf\.scribble/m);
});

const misuses: readonly (readonly [property: string, says: RegExp])[] = [
  ['unreachable(turn.permti)', /has no place "turn\.permti": it has .*turn\.permit/],
  ['atMostOnce(model.aks)', /has no transition "model\.aks"/],
  [
    'deadlockfree',
    /At character 1: there is no property "deadlockfree"\. Did you mean deadlockFree\? .*The default properties are deadlockFree, oneTurn/,
  ],
  [
    'placeBound(turn.permit)',
    /At character 24: places is missing\. Write placeBound\(PLACE, …, MAX/,
  ],
  ['mutualExclusion(turn.permit)', /mutualExclusion\(turn\.permit\)': places must be at least two/],
  [
    'atMostOnce(a, b)',
    /At character 15: there are too many arguments\. Write atMostOnce\(TRANSITION/,
  ],
  ['unreachable()', /marked is missing\. Write unreachable\(PLACE, …/],
  ['toString(a)', /there is no property "toString"/],
];

for (const [property, message] of misuses) {
  test(`--property '${property}' exits with 2 and an error message`, async () => {
    const { code, stdout, stderr } = await createFolder().run([
      'prove',
      'agent.ts',
      ...smallBounds,
      '--property',
      property,
    ]);
    assert.equal(code, 2);
    assert.equal(stdout.raw, '');
    assert.match(stderr.text, message);
  });
}

const source = new URL('../../index.ts', import.meta.url).href;
const agents = new URL('../../agents/index.ts', import.meta.url).href;
const nets = new URL('../../net/index.ts', import.meta.url).href;
const testing = new URL('../../testing/index.ts', import.meta.url).href;

/** An agent with an extension net that keeps a token forever. */
const withShelf = `
import { agent } from '${source}';
import { allOf, net, place, pure } from '${nets}';
import { ScriptedModel } from '${testing}';
const found = place('shelf.found', { environment: true });
const kept = place('shelf.kept');
const keep = pure('shelf.keep', { take: { found }, give: allOf({ kept }), run: () => ({ kept: null }) });
export const keeper = agent({
  name: 'keeper',
  model: new ScriptedModel([]),
  extensions: [net('shelf', { in: { found }, out: { kept }, transitions: [keep] })],
});
`;

/** An agent with a transition that writes state beside its session writer. */
const withSecondWriter = `
import { agent, state } from '${agents}';
import { allOf, net, place, pure, put } from '${nets}';
import { ScriptedModel } from '${testing}';
const found = place('shelf.found', { environment: true });
const scribble = pure('shelf.scribble', {
  take: { found }, give: allOf({ state: put(state) }), run: () => ({ state: [] }),
});
export const keeper = agent({
  name: 'keeper',
  model: new ScriptedModel([]),
  extensions: [net('shelf', { in: { found }, out: { state }, transitions: [scribble] })],
});
`;

test('the rest state of a custom net is a deadlock until it is declared', async () => {
  const folder = createFolder(withShelf);
  const args = [...smallBounds, '--property', 'deadlockFree'];
  const refused = await folder.run(['prove', 'agent.ts', ...args]);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout.text, /^ +2\. fired shelf\.keep → shelf\.kept$/m);
  const declared = await folder.run(['prove', 'agent.ts', ...args, '--rests', 'shelf.kept']);
  assert.equal(declared.code, 0);
  const misspelt = await folder.run(['prove', 'agent.ts', ...args, '--rests', 'shelf.keep']);
  assert.equal(misspelt.code, 2);
});

test('an agent that names its model is drawn and proved without a key', async () => {
  const index = new URL('../../index.ts', import.meta.url).href;
  const folder = createFolder(
    `import { agent } from '${index}'; export const a = agent({ name: 'a', model: 'gpt-5' });`,
  );
  const drawn = await folder.run(['graph', 'agent.ts', '--format', 'dot']);
  assert.deepEqual([drawn.code, drawn.stderr.raw], [0, '']);
  const proved = await folder.run(['prove', 'agent.ts', ...smallBounds]);
  assert.deepEqual([proved.code, proved.stderr.raw], [0, '']);
  assert.match(proved.stdout.text, /^4 proved in /m);
});
