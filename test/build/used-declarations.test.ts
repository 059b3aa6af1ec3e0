import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepUsedDeclarations } from '../../scripts/used-declarations.ts';

function keep(files: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const kept = keepUsedDeclarations(['index.d.ts'], (path) => files[path] ?? assert.fail(path));
  return Object.fromEntries(kept);
}

test('a declaration stays with what it refers to, in its file and in others', () => {
  const kept = keep({
    'index.d.ts': "export { open, type Options as OpenOptions } from './open/open.ts';\n",
    'open/open.d.ts': [
      "import type { Key } from '../key.ts';",
      "import { type Unused, Base } from '../base.ts';",
      "import * as all from '../all.ts';",
      '/** Opens. */',
      'export declare function open(options: Options): Hidden;',
      '/** For open. */',
      'export interface Options extends Base { readonly key: (key: Key) => typeof mark; }',
      '/** Only other modules close. */',
      'export declare function close(of: all.Things): void;',
      "type Hidden = import('../deep.ts').Outer.Inner;",
      'declare const mark: unique symbol;',
      'export {};',
    ].join('\n'),
    'key.d.ts': "export type { Original as Key } from './original.ts';",
    'original.d.ts': 'export type Original = 1;\nexport type Other = 2;',
    'base.d.ts': "export * from './more.ts';",
    'more.d.ts': 'export declare class Base {}\nexport declare class Unused {}',
    'deep.d.ts': 'export namespace Outer { type Inner = 1; }\nexport type Beside = 1;',
  });
  assert.deepEqual(kept, {
    'index.d.ts': "export { open, type Options as OpenOptions } from './open/open.ts';\n",
    'open/open.d.ts': [
      "import type { Key } from '../key.ts';",
      "import { Base } from '../base.ts';",
      '/** Opens. */',
      'export declare function open(options: Options): Hidden;',
      '/** For open. */',
      'export interface Options extends Base { readonly key: (key: Key) => typeof mark; }',
      "type Hidden = import('../deep.ts').Outer.Inner;",
      'declare const mark: unique symbol;',
      'export {};',
      '',
    ].join('\n'),
    'key.d.ts': "export type { Original as Key } from './original.ts';\n",
    'original.d.ts': 'export type Original = 1;\n',
    'base.d.ts': "export * from './more.ts';\n",
    'more.d.ts': 'export declare class Base {}\n',
    'deep.d.ts': 'export namespace Outer { type Inner = 1; }\n',
  });
});

test('names of packages, namespaces, overloads and default exports stay', () => {
  const text = [
    "import type { Readable, Writable } from 'node:stream';",
    "import * as everything from './everything.ts';",
    'export declare function read(from: Readable): everything.One;',
    'export declare function read(from: string): typeof everything;',
    'declare const value: 1, other: 2;',
    'export default value;',
  ];
  const kept = keep({
    'index.d.ts': text.join('\n'),
    'everything.d.ts': 'export type One = 1;\nexport type Two = 2;',
  });
  assert.deepEqual(kept, {
    'index.d.ts': `${text.join('\n').replace('Readable, Writable', 'Readable')}\n`,
    'everything.d.ts': 'export type One = 1;\nexport type Two = 2;\n',
  });
});
