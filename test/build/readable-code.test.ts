import assert from 'node:assert/strict';
import { SourceMap } from 'node:module';
import { test } from 'node:test';
import { minifySync } from 'rolldown/utils';
import { makeReadable } from '../../scripts/readable-code.ts';

const source = `
export class Shop {
  #open = false;
  static #all = [];
  async #sellAll(things) {
    for (const one of things) this.sell(one);
  }
  get #isEmpty() {
    return this.#open;
  }
  sell(thing) {
    switch (thing) {
      case 'tea':
        this.#open = \`one
two; three\`;
        return first(second(thing));
      default:
        this.#sellAll(Shop.#all);
        for (const one of thing) third(one, this.#isEmpty);
    }
  }
}
`;

test('each statement begins a line, private members have their names, and the source map leads to where they were', () => {
  const { code, map } = minifySync('shop.js', source, { compress: false, sourcemap: true });
  assert.ok(map !== undefined);
  assert.doesNotMatch(code, /#(?:open|all|sellAll|isEmpty)/);
  const readable = makeReadable('shop.js', code, { ...map, sourcesContent: [source] });
  assert.deepEqual(
    readable.code.split('\n').map((line) => line.replaceAll(/\b[a-z]\b/g, '_')),
    [
      'export class Shop{',
      '#open=false;',
      'static#all=[];',
      'async#sellAll(_){',
      'for(const _ of _)this.sell(_)}',
      'get#isEmpty(){',
      'return this.#open}',
      'sell(_){',
      'switch(_){case`tea`:',
      'this.#open=`one',
      'two; three`;',
      'return first(second(_));default:',
      'this.#sellAll(Shop.#all);',
      'for(const _ of _)third(_,this.#isEmpty)}}}',
    ],
  );
  const sourceMap = new SourceMap({
    ...map,
    file: 'shop.js',
    sourceRoot: '',
    sourcesContent: [],
    mappings: readable.mappings,
  });
  for (const name of ['sell(', 'first(', 'second(', 'third(', 'this.#sellAll', 'this.#isEmpty']) {
    const { originalLine, originalColumn } = sourceMap.findEntry(
      ...findPosition(readable.code, name),
    ) as never;
    assert.deepEqual([originalLine, originalColumn], findPosition(source, name), name);
  }
});

function findPosition(text: string, name: string): [line: number, column: number] {
  const before = text.slice(0, text.indexOf(name)).split('\n');
  return [before.length - 1, before.at(-1)?.length ?? 0];
}
