import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import packageJson from '../package.json' with { type: 'json' };
import {
  importsOtherFoldersByTheirDoors,
  internalDoorsOnlyPassOn,
  listPackageEntries,
  ROOM_DOORS,
} from './architecture/doors.ts';
import {
  namesUseKnownWords,
  noNameEndsInOf,
  typeNamesHaveOneMeaning,
} from './architecture/naming.ts';
import { onlyListedModulesReachOut, OUTGOING } from './architecture/outgoing-requests.ts';
import { readTree } from './architecture/read-tree.ts';
import {
  MODEL_RETRY,
  onlyListedModulesHostSessions,
  onlyListedModulesRetryModelCalls,
  SESSION_HOSTING,
  onlyListedModulesKnowWhereTheyAre,
  OWN_LOCATION,
} from './architecture/single-implementations.ts';
import { onlyListedModulesNameStateWrites, STATE_WRITES } from './architecture/state-writes.ts';
import { followsRoomOrder, ROOM_ORDER } from './architecture/rooms.ts';
import {
  compilesPatternsInOnePlace,
  coreAndNetDoNoInputOutput,
  exceptionsHaveReasons,
  fileNamesSaySomething,
  followsFolderOrder,
  hasNoCycles,
  hasNoModuleState,
  importsNoTestAndNotItselfByName,
  namesNoMachine,
  onlyMainTouchesTheProcess,
  onlyStoreKnowsSql,
  optionalPeersAreLazy,
  readSourceTree,
  rootIndexNamesItsExports,
  type Rule,
  type SourceTree,
} from './architecture/rules.ts';

const optionalPeers = Object.keys(packageJson.peerDependenciesMeta);
/**
 * Entries that only programs with the peer import, because a class of this package extends one of
 * the peer's.
 */
const ownEntries = { '@google/adk': 'src/interop/google-adk/', saxes: 'src/interop/pnml/' };

/** Folders that repeat the type names of ADK and of the wire protocol. */
const OTHER_VOCABULARIES = ['src/adk/', 'src/client/'];

/** Each rule with trees that violate it, to show that the rule detects violations. */
const rules: readonly {
  readonly title: string;
  readonly rule: Rule;
  readonly broken: readonly SourceTree[];
  readonly kept: SourceTree;
}[] = [
  {
    title: 'a folder imports only itself and the folders before it',
    rule: followsFolderOrder,
    broken: [
      tree({ 'src/core/a.ts': `import { b } from '../net/b.ts';` }),
      tree({ 'src/store/a.ts': `import type { B } from '../agents/b.ts';` }),
      tree({ 'src/net/a.ts': `export { b } from '../cli/b.ts';` }),
      tree({ 'src/net/a.ts': `export const b = () => import('../cli/b.ts');` }),
      tree({ 'src/net/a.ts': `export type B = import('../cli/b.ts').B;` }),
      tree({ 'src/net/a.ts': `import { x } from '../index.ts';` }),
      tree({ 'src/net/a.ts': `import { x } from '../../test/x.ts';` }),
      tree({ 'src/elsewhere/a.ts': `export const a = 1;` }),
      tree({ 'src/stray.ts': `export const a = 1;` }),
    ],
    kept: tree({
      'src/index.ts': `export { a } from './cli/a.ts';`,
      'src/net/a.ts': `import { b } from '../core/b.ts'; import { c } from './deep/c.ts';`,
      'src/net/deep/c.ts': `// import { b } from '../../cli/b.ts';\nexport const c = 'from "../../cli/b.ts"';`,
      'src/net/a.test.ts': `import { b } from '../testing/b.ts';`,
    }),
  },
  {
    title: 'inside a folder, a sub-folder imports only itself and those before it',
    rule: followsRoomOrder(ROOM_ORDER),
    broken: [
      tree({ 'src/net/clock/a.ts': `import { b } from '../engine/b.ts';` }),
      tree({ 'src/net/clock/a.ts': `import type { B } from '../engine/b.ts';` }),
      tree({ 'src/net/clock/a.ts': `import { b } from '../index.ts';` }),
      tree({ 'src/net/clock/a.ts': `import { b } from '../internal.ts';` }),
      tree({ 'src/net/elsewhere/a.ts': `export const a = 1;` }),
      tree({ 'src/net/a.ts': `export const a = 1;` }),
      tree({ 'src/egress/room/a.ts': `export const a = 1;` }),
      tree({ 'src/egress/a.ts': `import { b } from './index.ts';` }),
      tree({ 'src/server/protocols/a/a.ts': `import { b } from '../b/b.ts';` }),
      tree({ 'src/server/routes/a.ts': `import { b } from '../protocols/b/b.ts';` }),
    ],
    kept: tree({
      'src/server/protocols/a/a.ts': `import { b } from '../b.ts'; import { c } from './c.ts';`,
      'src/net/index.ts': `export { a } from './engine/a.ts';`,
      'src/net/internal.ts': `export { c } from './engine/c.ts';`,
      'src/net/engine/a.ts': `import { b } from '../clock/b.ts'; import { c } from './c.ts';`,
      'src/net/engine/c.ts': `import { d } from '../../core/json/d.ts';`,
      'src/egress/a.ts': `export const a = 1;`,
    }),
  },
  {
    title: 'an internal.ts contains only named re-exports',
    rule: internalDoorsOnlyPassOn,
    broken: [
      tree({ 'src/net/internal.ts': `export const a = 1;` }),
      tree({ 'src/net/internal.ts': `export * from './a.ts';` }),
      tree({ 'src/net/internal.ts': `export { a } from './a.ts'; run();` }),
      tree({ 'src/net/internal.ts': `export { a } from '../core/index.ts';` }),
      tree({ 'src/net/internal.ts': `export { a } from './index.ts';` }),
      tree({ 'src/net/internal.ts': `export { a } from 'valibot';` }),
    ],
    kept: tree({
      'src/net/internal.ts': `export { a } from './engine/a.ts'; export type { B } from './b.ts';`,
    }),
  },
  {
    title: 'names use the words of the field, in American spelling',
    rule: namesUseKnownWords,
    broken: [
      tree({ 'src/net/a.ts': `export const heardBy = 1;` }),
      tree({ 'src/net/a.ts': `export function f(whatWasTold: string): void {}` }),
      tree({ 'src/net/a.ts': `export interface A { readonly lastSaying: string }` }),
      tree({ 'src/net/a.ts': `class A { #saidInstead = 1; }` }),
      tree({ 'src/net/a.ts': `export const f = ({ a: toldOne }: { a: 1 }) => toldOne;` }),
      tree({ 'src/net/normalise-schema.ts': `` }),
    ],
    kept: tree({ 'src/net/a.ts': `export const fromSeq = 1; // as it was told` }),
  },
  {
    title: 'no name ends in Of',
    rule: noNameEndsInOf,
    broken: [
      tree({ 'src/net/a.ts': `export const keyOf = () => 1;` }),
      tree({ 'src/net/a.ts': `class A { keyOf() {} }` }),
      tree({ 'src/net/a.ts': `export type ArgsOf<T> = T;` }),
    ],
    kept: tree({
      'src/net/a.ts': `export const oneOf = 1; export type AllOf<T> = T; const f = (of: string) => of;`,
    }),
  },
  {
    title: 'an exported type name has one meaning',
    rule: typeNamesHaveOneMeaning(OTHER_VOCABULARIES),
    broken: [
      tree({
        'src/net/a.ts': `export interface Page {}`,
        'src/server/b.ts': `export type Page = 1;`,
      }),
    ],
    kept: tree({
      'src/net/a.ts': `export class Session {} export class Session2 {}`,
      'src/adk/b.ts': `export interface Session {}`,
      'src/server/c.ts': `interface Session {}`,
    }),
  },
  {
    title: 'no file reaches itself by imports',
    rule: hasNoCycles,
    broken: [
      tree({
        'src/net/a.ts': `import { b } from './b.ts';`,
        'src/net/b.ts': `import { c } from './c.ts';`,
        'src/net/c.ts': `import type { A } from './a.ts';`,
      }),
    ],
    kept: tree({
      'src/net/a.ts': `import { b } from './b.ts'; import { c } from './c.ts';`,
      'src/net/b.ts': `import { c } from './c.ts';`,
      'src/net/c.ts': `export const c = 1;`,
    }),
  },
  {
    title: 'the root index names each export',
    rule: rootIndexNamesItsExports,
    broken: [
      tree({ 'src/index.ts': `export * from './core/index.ts';` }),
      tree({ 'src/index.ts': `export * as core from './core/index.ts';` }),
    ],
    kept: tree({ 'src/index.ts': `export { a } from './core/index.ts';` }),
  },
  {
    title: 'only store/ contains SQL',
    rule: onlyStoreKnowsSql,
    broken: [
      tree({ 'src/runtime/a.ts': `import { DatabaseSync } from 'node:sqlite';` }),
      tree({ 'src/runtime/a.ts': `export const open = () => import('node:sqlite');` }),
    ],
    kept: tree({ 'src/store/a.ts': `import { DatabaseSync } from 'node:sqlite';` }),
  },
  {
    title: 'only cli/main.ts touches the process and the console',
    rule: onlyMainTouchesTheProcess,
    broken: [
      tree({ 'src/runtime/a.ts': `export const home = process.env['HOME'];` }),
      tree({ 'src/runtime/a.ts': `console.log('hello');` }),
      tree({ 'src/runtime/a.ts': `globalThis.console.log('hello');` }),
      tree({ 'src/cli/run.ts': `import { argv } from 'node:process';` }),
    ],
    kept: tree({
      'src/cli/main.ts': `console.log(process.argv);`,
      'src/net/a.ts': `// process.exit\nexport const a = (order: { process: string }) => order.process;`,
      'src/net/a.test.ts': `console.log(process.argv);`,
    }),
  },
  {
    title: 'core/ and net/ do no input or output',
    rule: coreAndNetDoNoInputOutput,
    broken: [
      tree({ 'src/core/a.ts': `import { readFile } from 'node:fs/promises';` }),
      tree({ 'src/net/a.ts': `import { connect } from 'net';` }),
      tree({ 'src/net/a.ts': `export const a = () => fetch('x');` }),
    ],
    kept: tree({
      'src/net/a.ts': `import { createHash } from 'node:crypto';`,
      'src/store/a.ts': `import { readFile } from 'node:fs/promises';`,
    }),
  },
  {
    title: 'an optional peer is loaded where it is needed',
    rule: optionalPeersAreLazy(['@viz-js/viz']),
    broken: [tree({ 'src/net/a.ts': `import { instance } from '@viz-js/viz';` })],
    kept: tree({
      'src/net/a.ts': `import type { Viz } from '@viz-js/viz';\nexport const viz = () => import('@viz-js/viz');`,
    }),
  },
  {
    title: 'a peer with its own entry is loaded only by that entry',
    rule: optionalPeersAreLazy(['@google/adk'], ownEntries),
    broken: [
      tree({ 'src/adk/a.ts': `import { BaseAgent } from '@google/adk';` }),
      tree({ 'src/server/a.ts': `import { a } from '../interop/google-adk/a.ts';` }),
    ],
    kept: tree({ 'src/interop/google-adk/a.ts': `import { BaseAgent } from '@google/adk';` }),
  },
  {
    title: 'only one file compiles regular expressions that are not written in the program',
    rule: compilesPatternsInOnePlace,
    broken: [
      tree({ 'src/server/a.ts': `export const find = (p: string) => new RegExp(p);` }),
      tree({ 'src/server/a.ts': `export const find = (p: string) => globalThis.RegExp(p, 'u');` }),
      tree({ 'src/tools/a.ts': `import { RE2JS } from 're2js';` }),
    ],
    kept: tree({
      'src/tools/a.ts': `export const isName = /^[a-z]+$/;`,
      'src/tools/schema/linear-pattern.ts': `import { RE2JS } from 're2js';`,
    }),
  },
  {
    title: 'the product imports no test, and itself only by relative paths',
    rule: importsNoTestAndNotItselfByName,
    broken: [
      tree({ 'src/net/a.ts': `import { b } from './b.test.ts';` }),
      tree({ 'src/net/a.ts': `import { b } from 'petrichor/core';` }),
    ],
    kept: tree({ 'src/net/a.ts': `import { b } from './b.ts';` }),
  },
  {
    title: 'no module has mutable state',
    rule: hasNoModuleState,
    broken: [
      tree({ 'src/net/a.ts': `let count = 0;` }),
      tree({ 'src/net/a.ts': `export var count = 0;` }),
      tree({ 'src/net/a.ts': `const seen = new Map<string, number>();` }),
    ],
    kept: tree({
      'src/net/a.ts': `const known = new Set(['a']);\nexport const f = () => { let n = 0; return (n += known.size); };`,
    }),
  },
  {
    title: 'a comment that silences a gate has a reason',
    rule: exceptionsHaveReasons,
    broken: [tree({ 'src/net/a.ts': `// oxlint-disable-next-line no-console\nf();` })],
    kept: tree({
      'src/net/a.ts': `// oxlint-disable-next-line no-console -- a reason\nf();`,
    }),
  },
  {
    title: 'file names are kebab-case and specific',
    rule: fileNamesSaySomething,
    broken: [
      tree({ 'src/net/theNet.ts': '' }),
      tree({ 'src/net/the_net.ts': '' }),
      tree({ 'src/net/utils.ts': '' }),
      tree({ 'src/net/event-handler.ts': '' }),
      tree({ 'test/Long.test.ts': '' }),
    ],
    kept: tree({
      'src/net/token-id.ts': '',
      'src/net/token-id.test.ts': '',
      'docs/READ_ME.md': '',
    }),
  },
  {
    title: 'the tree names no machine and no registry',
    rule: namesNoMachine,
    // Joined here, so that this file does not contain the forbidden texts.
    broken: [
      tree({ 'docs/a.md': ['see ', 'work', 'main'].join('/') }),
      tree({ 'docs/a.md': ['"', 'home', 'someone', 'x'].join('/') }),
      tree({ 'docs/a.md': ['..', 'shared', 'design'].join('/') }),
      tree({ 'package-lock.json': ['https://registry', 'npmjs', 'org/zod'].join('.') }),
      tree({ '.npmrc': ['registry=https://npm', 'artifactory', 'example'].join('.') }),
    ],
    kept: tree({
      'docs/a.md':
        'src/work/a.ts, /v1/environments/{id}/work/poll, artwork/, ~/notes, the model registry',
    }),
  },
];

function tree(files: Readonly<Record<string, string>>): SourceTree {
  return readSourceTree(Object.entries(files).map(([path, text]) => ({ path, text })));
}

describe('architecture', () => {
  const repository = readSourceTree(readTree(join(import.meta.dirname, '..')));

  it('the tree under test is the repository', () => {
    assert.ok(repository.files.some(({ path }) => path === 'test/architecture.test.ts'));
    assert.ok(repository.files.some(({ path }) => path.startsWith('src/')));
  });

  for (const { title, rule, broken, kept } of rules) {
    it(title, () => assert.deepEqual(rule(repository), []));
    it(`detects violations: ${title}`, () => {
      for (const violating of broken)
        assert.notDeepEqual(rule(violating), [], JSON.stringify(violating.files));
      assert.deepEqual(rule(kept), []);
    });
  }

  it('other folders are imported by their index.ts or internal.ts', () => {
    const entries = listPackageEntries(packageJson.exports);
    assert.ok(entries.includes('src/tools/mcp/index.ts'));
    assert.deepEqual(importsOtherFoldersByTheirDoors(entries, ROOM_DOORS)(repository), []);
  });

  it('detects violations: other folders are imported by their index.ts or internal.ts', () => {
    const door = 'src/tools/contract/index.ts';
    const use = `export { check } from '../tools/contract/index.ts';`;
    const rule = importsOtherFoldersByTheirDoors(['src/tools/mcp/index.ts'], { [door]: 'test' });
    const kept = { [door]: '', 'src/testing/index.ts': use };
    for (const text of [
      `import { b } from '../net/engine/b.ts';`,
      `import type { B } from '../net/engine/b.ts';`,
      `export { b } from '../net/engine/b.ts';`,
      `export const b = () => import('../net/engine/b.ts');`,
      `export type B = import('../net/engine/b.ts').B;`,
      `import { b } from '../net/engine/index.ts';`,
      `import { b } from '../net/engine/internal.ts';`,
      `import { b } from '../tools/artifacts/index.ts';`,
    ]) {
      for (const path of ['src/adk/a.ts', 'src/adk/a.test.ts'])
        assert.equal(rule(tree({ ...kept, [path]: text })).length, 1, `${path}: ${text}`);
    }
    assert.deepEqual(rule(tree({})), [`${door} is listed and not there`]);
    assert.deepEqual(rule(tree({ [door]: '' })), [
      `${door} is listed and no other folder imports it`,
    ]);
    const doors = [
      'net/index.ts',
      'net/internal.ts',
      'tools/mcp/index.ts',
      'tools/contract/index.ts',
    ];
    const deep = `import { b } from '../src/net/engine/b.ts';`;
    assert.deepEqual(
      rule(
        tree({
          ...kept,
          'src/index.ts': `export { b } from './net/engine/b.ts';`,
          'src/net/a.test.ts': `import { b } from './engine/b.ts';`,
          'src/adk/a.ts': doors.map((path) => `import '../${path}';`).join('\n'),
          'test/a.test.ts': deep,
          'scripts/a.ts': deep,
        }),
      ),
      [],
    );
  });

  it('only the listed modules can open network connections', () => {
    assert.deepEqual(onlyListedModulesReachOut(OUTGOING)(repository), []);
  });

  it('detects violations: only the listed modules can open network connections', () => {
    const listed = { 'src/egress/a.ts': 'it is the rule' };
    const rule = onlyListedModulesReachOut(listed);
    const own = `import { request } from 'node:https';`;
    for (const text of [
      `export const page = await fetch('https://example.com');`,
      `export const page = await globalThis.fetch('https://example.com');`,
      `import { connect } from 'node:tls';`,
      `export const load = () => import('undici');`,
      `import { createOpenAI } from '@ai-sdk/openai';`,
      `export const socket = new WebSocket('wss://example.com');`,
    ]) {
      const violating = tree({ 'src/egress/a.ts': own, 'src/tools/b.ts': text });
      assert.equal(rule(violating).length, 1, text);
    }
    assert.deepEqual(rule(tree({})), ['src/egress/a.ts is listed and not there']);
    const types = `import type { IncomingMessage } from 'node:http';`;
    assert.deepEqual(rule(tree({ 'src/egress/a.ts': own, 'src/tools/b.ts': types })), []);
  });

  it('state writes have one implementation', () => {
    assert.deepEqual(onlyListedModulesNameStateWrites(STATE_WRITES)(repository), []);
  });

  it('detects violations: state writes have one implementation', () => {
    const own = `export type Writes = { increment?: object; append?: object };`;
    const kept = { 'src/core/a.ts': own };
    const rule = onlyListedModulesNameStateWrites({ 'src/core/a.ts': 'the implementation' });
    for (const text of [
      `for (const [k, by] of Object.entries(w.increment)) s[k] += by;
       for (const [k, items] of Object.entries(w.append)) s[k] = [...s[k], ...items];`,
      `const { set = {}, increment = {}, append = {} } = writes;`,
      `const merged = { increment: { ...a, ...b }, append: { ...c, ...d } };`,
      `switch (kind) { case 'increment': n += by; break; case 'append': l.push(x); }`,
      `n = w['increment'][k]; l = w['append'][k];`,
    ]) {
      const violating = tree({ ...kept, 'src/store/b.ts': text });
      assert.equal(rule(violating).length, 1, text);
    }
    assert.deepEqual(rule(tree({ 'src/core/a.ts': `export const a = 1;` })), [
      'src/core/a.ts is listed, and no module that names the kinds of state writes',
    ]);
    const others = {
      'src/store/b.ts': `// increment and append merge\nexport const b = (l: L) => l.append(1);`,
      'src/store/b.test.ts': own,
      'test/c.ts': own,
    };
    assert.deepEqual(rule(tree({ ...kept, ...others })), []);
  });

  it('session hosting has one construction', () => {
    assert.deepEqual(onlyListedModulesHostSessions(SESSION_HOSTING)(repository), []);
  });

  it('detects violations: session hosting has one construction', () => {
    const own = `export const host = (o: Options) => new ActiveSessions({ ...o });`;
    const rule = onlyListedModulesHostSessions({ 'src/runtime/a.ts': 'the construction' });
    for (const text of [
      `const hosts = new ActiveSessions({ store, clock });`,
      `const host = await HostedSession.open({ store, row });`,
      `const driver = new Driver({ executor, commit });`,
    ]) {
      const violating = tree({ 'src/runtime/a.ts': own, 'src/adk/b.ts': text });
      assert.equal(rule(violating).length, 1, text);
    }
    assert.equal(rule(tree({ 'src/runtime/a.ts': '' })).length, 1);
    const others = {
      'src/adk/b.ts': `// not new ActiveSessions({})\nexport const b = (s: ActiveSessions) => s.size;`,
      'src/runtime/b.test.ts': own,
    };
    assert.deepEqual(rule(tree({ 'src/runtime/a.ts': own, ...others })), []);
  });

  it('model calls are retried in one place', () => {
    assert.deepEqual(onlyListedModulesRetryModelCalls(MODEL_RETRY)(repository), []);
  });

  it('detects violations: model calls are retried in one place', () => {
    const own = `export const give = { waiting: modelRescheduled };`;
    const rule = onlyListedModulesRetryModelCalls({ 'src/agents/a.ts': 'the implementation' });
    for (const text of [
      `const again = pure('again', { give: allOf({ waiting: modelRescheduled }) });`,
      `const ask = effect('ask', { retry: { attempts: 4 }, run: () => model.generate(request) });`,
    ]) {
      const violating = tree({ 'src/agents/a.ts': own, 'src/managed/b.ts': text });
      assert.equal(rule(violating).length, 1, text);
    }
    assert.equal(rule(tree({ 'src/agents/a.ts': '' })).length, 1);
    const others = {
      'src/managed/b.ts': `export const b = effect('run', { retry: { attempts: 4 }, run: work });`,
      'src/managed/c.ts': `export const c = async () => model.generate(request);`,
    };
    assert.deepEqual(rule(tree({ 'src/agents/a.ts': own, ...others })), []);
  });

  it('the files of the package are found in one place', () => {
    assert.deepEqual(onlyListedModulesKnowWhereTheyAre(OWN_LOCATION)(repository), []);
  });

  it('detects violations: the files of the package are found in one place', () => {
    const own = `export const root = import.meta.resolve('petrichor/package.json');`;
    const rule = onlyListedModulesKnowWhereTheyAre({ 'src/core/a.ts': 'the implementation' });
    for (const text of [
      `export const child = new URL('./child.js', import.meta.url);`,
      `export const folder = import.meta.dirname;`,
    ])
      assert.equal(rule(tree({ 'src/core/a.ts': own, 'src/cli/b.ts': text })).length, 1, text);
    assert.equal(rule(tree({ 'src/core/a.ts': '' })).length, 1);
    assert.deepEqual(rule(tree({ 'src/core/a.ts': own, 'src/cli/b.test.ts': own })), []);
  });

  it('every optional peer of package.json is loaded lazily', () => {
    assert.deepEqual(optionalPeersAreLazy(optionalPeers, ownEntries)(repository), []);
  });
});
