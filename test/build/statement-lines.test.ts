import assert from 'node:assert/strict';
import { SourceMap } from 'node:module';
import { test } from 'node:test';
import { minifySync } from 'rolldown/utils';
import { breakStatementLines } from '../../scripts/statement-lines.ts';

const source = `
export class Shop {
  #open = false;
  sell(thing) {
    switch (thing) {
      case 'tea':
        this.#open = \`one
two; three\`;
        return first(second(thing));
      default:
        for (const one of thing) third(one);
    }
  }
}
`;

test('each statement begins a line, and the source map leads to where it was', () => {
  const { code, map } = minifySync('shop.js', source, {
    compress: false,
    mangle: false,
    sourcemap: true,
  });
  assert.ok(map !== undefined);
  const broken = breakStatementLines('shop.js', { code, mappings: map.mappings });
  assert.equal(
    broken.code
      .split('\n')
      .map((line) => line.trimStart().slice(0, 12))
      .join('|'),
    'export class|#open=false;|sell(thing){|switch(thing|this.#open=`|two; three`;|return first|for(const on',
  );
  assert.equal(broken.code.replaceAll('\n', ''), code.replaceAll('\n', ''));
  const sourceMap = new SourceMap({
    ...map,
    file: 'shop.js',
    sourceRoot: '',
    sourcesContent: [],
    mappings: broken.mappings,
  });
  for (const name of ['#open', 'sell', 'first', 'second', 'third']) {
    const generated = findPosition(broken.code, name);
    const { originalLine, originalColumn } = sourceMap.findEntry(...generated) as never;
    const [line, column] = findPosition(source, name);
    assert.equal(originalLine, line, name);
    assert.equal(originalColumn, column, name);
  }
});

function findPosition(text: string, name: string): [line: number, column: number] {
  const before = text.slice(0, text.indexOf(name)).split('\n');
  return [before.length - 1, before.at(-1)?.length ?? 0];
}
