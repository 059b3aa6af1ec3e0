import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { agentSource } from '../../../test/cli/agent-source.ts';
import { CommandFolder } from '../../../test/cli/command-folder.ts';
import { placeBound } from '../../verify/index.ts';
import type { ProofReport } from '../../verify/index.ts';
import { toProofTestFile } from '../prove/proof-test-file.ts';

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
  assert.match(stdout.text, /^✔ deadlock-free: proved \(contracts, [\d,]+ states, [\d.]+ m?s/m);
  assert.match(stdout.text, /^✔ at most 1 in turn\.permit \+ turn\.current: proved/m);
  assert.match(
    stdout.text,
    /^✔ re-ask budget: model\.call at most 2 times per token of turn\.permit: p/m,
  );
  assert.match(stdout.text, /^6 proved in /m);
  assert.match(stdout.text, /^Proved means: /m);
  assert.match(stdout.text, /^✔ rules of an agent: kept \(by its arcs\)$/m);
});

test('--control also sends the inputs that pause, resume, complete and archive the session', async () => {
  const args = ['prove', 'agent.ts', ...smallBounds, '--control', '--faults', '1'];
  const { code, stdout } = await createFolder().run(args);
  assert.equal(code, 0);
  for (const input of ['pause', 'resume', 'complete', 'archive', 'event'])
    assert.match(stdout.text, new RegExp(`<= 1 in ${input}\\.in`));
  assert.match(stdout.text, /^✔ deadlock-free: proved \(contracts/m);
  assert.match(stdout.text, /^6 proved in /m);
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
  [
    'mutualExclusion(turn.permit)',
    /mutualExclusion\(turn\.permit\)': places must be at least two different places/,
  ],
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
const verify = new URL('../../verify/index.ts', import.meta.url).href;
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
  assert.match(proved.stdout.text, /^5 proved in /m);
});

/** A net that deadlocks: two workers take two locks in opposite order. */
const twoLocks = `
import { allOf, effect, initialToken, net, place } from '${nets}';
const [one, two] = [place('lock.one'), place('lock.two')];
const jobs = { a: place('a.in', { environment: true }), b: place('b.in', { environment: true }) };
const worker = (name, first, second) => {
  const held = place(name + '.held');
  const done = place(name + '.done');
  return [
    effect(name + '.lock', { take: { job: jobs[name], first }, give: allOf({ held }), failed: () => ({ held: null }), run: async () => ({ held: null }) }),
    effect(name + '.work', { take: { held, second }, give: allOf({ done, one, two }), failed: () => ({ done: null, one: null, two: null }), run: async () => ({ done: null, one: null, two: null }) }),
  ];
};
export const locks = net('locks', {
  initial: [initialToken(one, null), initialToken(two, null)],
  transitions: [...worker('a', one, two), ...worker('b', BROKEN ? two : one, BROKEN ? one : two)],
});
`;
const brokenLocks = twoLocks.replaceAll('BROKEN', 'true');
const mendedLocks = twoLocks.replaceAll('BROKEN', 'false');

test('a module without agents may export a net, which has default properties', async () => {
  const folder = createFolder(mendedLocks);
  const mended = await folder.run(['prove', 'agent.ts', '--json']);
  assert.equal(mended.code, 0);
  assert.deepEqual(
    mended.stdout.json.map(({ type, name, verdict }) => [type, name, verdict]),
    [
      ['property', 'every settling ends', 'proved'],
      ['property', 'deadlock-free', 'proved'],
      ['property', 'at most 10 in each place', 'proved'],
      ['report', undefined, undefined],
    ],
  );
  const broken = await createFolder(brokenLocks).run(['prove', 'agent.ts']);
  assert.equal(broken.code, 1);
  assert.match(broken.stdout.text, /^✖ deadlock-free: refuted/m);
  assert.match(broken.stdout.text, /^ +ends with: a\.held, b\.held$/m);
  assert.doesNotMatch(broken.stdout.text, /rules of an agent/);
});

test('verdicts come with their text, which proves the same property again', async () => {
  const folder = createFolder(brokenLocks);
  const all = await folder.run(['prove', 'agent.ts', '--json']);
  const text = all.stdout.json.find(({ verdict }) => verdict === 'refuted')?.['text'];
  assert.equal(typeof text, 'string');
  const again = await folder.run(['prove', 'agent.ts', '--property', String(text)]);
  assert.match(again.stdout.text, /^✖ deadlock-free: refuted/m);
});

test('--save-test writes a test that fails while the fault is there, and passes when it is mended', async () => {
  const folder = createFolder(brokenLocks);
  const { code, stderr } = await folder.run(['prove', 'agent.ts', '--save-test', 'locks.test.ts']);
  assert.equal(code, 1);
  assert.equal(stderr.text, 'Wrote locks.test.ts.\n');
  mkdirSync(join(folder.path, 'node_modules/petrichor'), { recursive: true });
  folder.write(
    'node_modules/petrichor/package.json',
    JSON.stringify({
      name: 'petrichor',
      type: 'module',
      exports: { './net': './net.js', './verify': './verify.js' },
    }),
  );
  folder.write('node_modules/petrichor/net.js', `export * from '${nets}';`);
  folder.write('node_modules/petrichor/verify.js', `export * from '${verify}';`);
  const run = (): { readonly status: number | null; readonly stdout: string } =>
    spawnSync(process.execPath, ['--test', '--test-reporter=tap', 'locks.test.ts'], {
      cwd: folder.path,
      encoding: 'utf8',
      // A test process that inherits this runs no tests of its own.
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    });
  const failing = run();
  assert.equal(failing.status, 1);
  assert.match(failing.stdout, /not ok \d+ - deadlock-free[^]*ends with: a\.held, b\.held/);
  folder.write('agent.ts', mendedLocks);
  const passing = run();
  assert.equal(passing.status, 0, passing.stdout);
  assert.match(passing.stdout, /ok \d+ - deadlock-free/);
});

test('--save-test writes nothing if nothing is refuted', async () => {
  const folder = createFolder(mendedLocks);
  const { code, stderr } = await folder.run(['prove', 'agent.ts', '--save-test', 'none.test.ts']);
  assert.equal(code, 0);
  assert.equal(stderr.text, 'Nothing was refuted; did not write none.test.ts.\n');
  assert.equal(existsSync(join(folder.path, 'none.test.ts')), false);
});

test('--save-test and --svg replace only files that the command has written', async () => {
  const folder = createFolder(brokenLocks);
  for (const option of ['--save-test', '--svg']) {
    const { code, stderr } = await folder.run(['prove', 'agent.ts', option, 'agent.ts']);
    assert.equal(code, 2);
    assert.match(stderr.text, new RegExp(`${option} would replace agent\\.ts`));
    assert.equal(readFileSync(join(folder.path, 'agent.ts'), 'utf8'), brokenLocks);
    const args = ['prove', 'agent.ts', option, `own${option}`];
    assert.equal((await folder.run(args)).code, 1);
    assert.equal((await folder.run(args)).code, 1);
  }
});

test('names with line ends and quotes stay text in a saved test', () => {
  const name = "q\r\nglobalThis.injected = 1; //\u2028\"'\\'";
  const report: ProofReport = {
    net: name,
    hash: '',
    places: 1,
    transitions: 0,
    results: [
      {
        property: placeBound(name, 0),
        verdict: 'refuted',
        by: 'search',
        over: [],
        states: 1,
        durationMs: 0,
        reason: name,
      },
    ],
    durationMs: 0,
    unfired: [],
    excluded: [],
    assumptions: [],
  };
  const text = toProofTestFile(report.results, {
    testFile: '/a/t.test.ts',
    moduleFile: '/a/n.ts',
    source: { net: 'net', bounds: {} },
  });
  const lines = (text ?? '').split(/[\r\n\u2028\u2029]+/).filter((line) => line !== '');
  for (const line of lines) assert.match(line, /^(?:\/\/|import |const |test\(| {2}|\}\);)/);
  assert.doesNotMatch(lines.filter((line) => !line.startsWith('//')).join('\n'), /^global/m);
});

test('the test of an agent imports the agent, and proves it through the contracts of its components', async () => {
  const folder = createFolder();
  const args = ['--property', 'unreachable(turn.waiting)', '--save-test', 'tests/agent.test.ts'];
  mkdirSync(join(folder.path, 'tests'));
  await folder.run(['prove', 'agent.ts', ...smallBounds, ...args]);
  const text = readFileSync(join(folder.path, 'tests/agent.test.ts'), 'utf8');
  assert.match(text, /^import \* as subject from '\.\.\/agent\.ts';$/m);
  assert.match(text, /^const net = subject\.assistant\.compiled;$/m);
  assert.match(
    text,
    /^const \{ bounds, components \} = agentProof\(subject\.assistant, \{"atOnce":1,"faults":0.*\}\);$/m,
  );
  assert.match(text, /await prove\(net, \{ properties, bounds, components \}\);$/m);
  assert.match(text, /parseProperty\('unreachable\(\{turn\.waiting: 1\}\)'\)/);
  assert.match(text, /^\/\/ +1\. from outside → user\.in$/m);
});

test('--explain shows what a property states, where, and why it holds or fails', async () => {
  const folder = createFolder(brokenLocks);
  const held = await folder.run([
    'prove',
    'agent.ts',
    '--explain',
    'placeBound(a.held, b.held, 2)',
  ]);
  assert.equal(held.code, 0);
  assert.match(held.stdout.text, /^ {2}text: placeBound\(a\.held, b\.held, 2\)$/m);
  assert.match(held.stdout.text, /^ {2}states: these places together never hold more/m);
  assert.match(held.stdout.text, /^ {2}places: a\.held, b\.held$/m);
  assert.match(held.stdout.text, /^ {2}It holds: /m);
  const failed = await folder.run([
    'prove',
    'agent.ts',
    '--property',
    'deadlockFree',
    '--explain',
    'deadlockFree',
  ]);
  assert.equal(failed.code, 1);
  // A property that is named twice is proved and shown once.
  assert.match(failed.stdout.text, /^1 refuted in /m);
  assert.match(failed.stdout.text, /^ {2}It fails: the executor follows the \d+ steps above/m);
});

test('--fail-fast leaves the other properties open after a refutation', async () => {
  const args = ['atMost(a.lock, 0)', 'atMost(b.lock, 0)'].flatMap((text) => ['--property', text]);
  const { code, stdout } = await createFolder(brokenLocks).run([
    'prove',
    'agent.ts',
    ...args,
    '--fail-fast',
  ]);
  assert.equal(code, 1);
  assert.match(stdout.text, /^1 refuted, 1 unknown in /m);
  assert.match(stdout.text, /because not checked, because another property was refuted/);
});

/** A net whose search takes hours: four places grow, and the property is about 60 tokens in each. */
const growing = `
import { allOf, effect, initialToken, net, oneOf, place } from '${nets}';
const [start, a, b, c, d] = ['start', 'a', 'b', 'c', 'd'].map((name) => place(name));
const grow = effect('grow', {
  take: { start },
  give: oneOf({ a: allOf({ start, a }), b: allOf({ start, b }), c: allOf({ start, c }), d: allOf({ start, d }) }),
  failed: () => ({ a: { start: null, a: null } }),
  run: async () => ({ a: { start: null, a: null } }),
});
export const growing = net('growing', { initial: [initialToken(start, null)], transitions: [grow] });
`;

test('Ctrl-C ends a proof, keeps the verdicts that are known, and leaves the others open', async () => {
  const properties = ['unreachable(a)', 'unreachable({a: 60, b: 60, c: 60, d: 60})'];
  const args = properties.flatMap((text) => ['--property', text]);
  const running = createFolder(growing).start([
    'prove',
    'agent.ts',
    '--states',
    '100000000',
    ...args,
  ]);
  await running.stdout.shows(/never 1 in a: refuted/);
  await running.stdout.shows(/states: never 60 in a/);
  running.signal('SIGINT');
  assert.equal(await running.exit, 1);
  assert.match(running.stdout.text, /^\? never 60 in a .*: unknown/m);
  assert.match(running.stdout.text, /because canceled/);
  assert.match(running.stdout.text, /^1 refuted, 1 unknown in /m);
  assert.equal(running.listened(), 0);
});

test('a module with several nets needs a name, and a wrong name lists them', async () => {
  const folder = createFolder(`${mendedLocks}export const other = { ...locks, name: 'other' };`);
  const several = await folder.run(['prove', 'agent.ts']);
  assert.match(several.stderr.text, /exports 2 nets: locks, other\. Choose one with --agent NAME/);
  const wrong = await folder.run(['prove', 'agent.ts', '--agent', 'lock']);
  assert.match(wrong.stderr.text, /exports no net "lock"\. Its nets are: locks, other/);
  assert.equal((await folder.run(['prove', 'agent.ts', '--agent', 'other'])).code, 0);
});

test('--watch proves again when the module changes, until Ctrl-C', async () => {
  const folder = createFolder(brokenLocks);
  const running = folder.start(['prove', 'agent.ts', '--watch'], { input: '' });
  await running.stdout.shows(/deadlock-free: refuted[^]*Proved means/);
  folder.write('agent.ts', mendedLocks);
  await running.stdout.shows(/deadlock-free: proved/);
  running.signal('SIGINT');
  assert.equal(await running.exit, 0);
});

/** Runs a proof, and returns its lines without the time of the run. */
async function proveAgain(
  folder: CommandFolder,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly text: string }> {
  const property = ['--property', 'oneTurn', '--property', 'unreachable(turn.waiting)'];
  const running = folder.start(['prove', 'agent.ts', ...smallBounds, ...property, ...args], {
    input: '',
    env,
  });
  const code = await running.exit;
  return { code, text: running.stdout.text.replace(/(1 proved, 1 refuted) in .*/, '$1') };
}

test('a second run reads the results from the cache and prints the same', async () => {
  const folder = createFolder();
  const cold = await proveAgain(folder, ['--cache', 'proofs']);
  assert.equal(cold.code, 1);
  const names = readdirSync(join(folder.path, 'proofs'));
  assert.equal(names.length, 2);
  // With the durations of the first run, because nothing is searched.
  assert.deepEqual(await proveAgain(folder, ['--cache', 'proofs']), cold);
  for (const name of names) folder.write(join('proofs', name), 'damaged');
  const { code, text } = await proveAgain(folder, ['--cache', 'proofs']);
  assert.equal(code, 1);
  assert.match(text, /✔ at most 1 in [^]*✖ never 1 in turn\.waiting: refuted/);
});

test('proofs are stored in node_modules of the project, or in the folder of caches', async () => {
  const folder = createFolder();
  const caches = join(folder.path, 'caches');
  await proveAgain(folder, ['--no-cache'], { XDG_CACHE_HOME: caches });
  assert.equal(existsSync(caches), false);
  await proveAgain(folder, [], { XDG_CACHE_HOME: caches });
  assert.equal(readdirSync(join(caches, 'petrichor', 'proofs', '1.2.3')).length, 2);
  await proveAgain(folder, [], { HOME: folder.path, XDG_CACHE_HOME: 'relative' });
  assert.equal(readdirSync(join(folder.path, '.cache/petrichor/proofs/1.2.3')).length, 2);
  mkdirSync(join(folder.path, 'node_modules'));
  await proveAgain(folder, [], { XDG_CACHE_HOME: caches });
  const inProject = join(folder.path, 'node_modules/.cache/petrichor/proofs/1.2.3');
  assert.equal(readdirSync(inProject).length, 2);
});

test('a cache and no cache exclude each other', async () => {
  const args = ['prove', 'agent.ts', '--cache', 'proofs', '--no-cache'];
  const { code, stderr } = await createFolder().run(args);
  assert.equal(code, 2);
  assert.match(stderr.text, /--cache and --no-cache exclude each other/);
});

test('for a program, the net, its bounds and the progress of the search are lines of JSON on request', async () => {
  const args = ['--property', 'oneTurn', '--no-cache', '--json', '--progress'];
  const { stdout } = await createFolder().run(['prove', 'agent.ts', ...smallBounds, ...args]);
  const [start, ...lines] = stdout.json;
  assert.deepEqual([start?.['type'], start?.['net']], ['start', 'assistant']);
  const progress = lines.find(({ type }) => type === 'progress');
  assert.deepEqual(progress?.['properties'], ['at most 1 in turn.permit + turn.current']);
  assert.equal(typeof progress['states'], 'number');
  assert.deepEqual(
    lines.flatMap(({ type }) => (type === 'progress' ? [] : type)),
    ['property', 'rules', 'report'],
  );
});

const definitionsSource = `
import { tool } from '${new URL('../../index.ts', import.meta.url).href}';
export const agents = [
  { name: 'Greeter', model: 'gpt-5', tools: [{ type: 'builtin', name: 'clock' }] },
  { name: 'Reader', model: 'gpt-5' },
];
export const tools = [tool({ name: 'clock', description: 'Returns the time', execute: () => 9 })];
`;

test('the net of a definition is proved, with the tools of its file and without a key', async () => {
  const folder = createFolder(definitionsSource);
  const property = ['--property', 'oneTurn', ...smallBounds];
  const several = await folder.run(['prove', 'agent.ts', ...property]);
  assert.equal(several.code, 1);
  assert.match(several.stderr.text, /exports 2 agents: Greeter, Reader\. Choose one with --agent/);
  const wrong = await folder.run(['prove', 'agent.ts', '--agent', 'Writer', ...property]);
  assert.match(wrong.stderr.text, /exports no agent "Writer"\. Its agents are: Greeter, Reader\./);
  const saved = await folder.run(['prove', 'agent.ts', '--agent', 'Reader', '--save-test', 'x.ts']);
  assert.match(saved.stderr.text, /An ADK agent or a definition has no net/);
  const proved = await folder.run(['prove', 'agent.ts', '--agent', 'Greeter', ...property]);
  assert.equal(proved.stderr.raw, '');
  assert.match(proved.stdout.text, /^Greeter [^]*^✔ at most 1 in turn/m);
  folder.write('agents.json', JSON.stringify([{ name: 'Reader', model: 'gpt-5' }]));
  const fromJson = await folder.run(['prove', 'agents.json', ...property]);
  assert.match(fromJson.stdout.text, /^Reader [^]*^✔ at most 1 in turn/m);
  folder.write(
    'agents.json',
    JSON.stringify([
      { name: 'Reader', model: 'gpt-5', tools: [{ type: 'builtin', name: 'clock' }] },
    ]),
  );
  const missing = await folder.run(['prove', 'agents.json', ...property]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr.text, /clock/);
});
