import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawTrace } from './draw-trace.ts';
import { traceToSvg } from './trace-to-svg.ts';
import type { Trace } from './trace.ts';

const trace: Trace = {
  steps: [
    { kind: 'injected', gives: { asked: 1 } },
    { kind: 'fired', transition: 'a<b', gives: { done: 12 } },
  ],
  markings: [{ permit: 1 }, { permit: 1, asked: 1 }, { done: 12 }],
  marking: { done: 12 },
};

test('the markings of a trace are drawn as a table with a row for each place and a column for each step', () => {
  assert.equal(
    drawTrace(trace),
    ['        0  1  2', 'permit  ●  ●  ·', 'asked   ·  ●  ·', 'done    ·  · 12'].join('\n'),
  );
});

test('a trace that is too long for one line continues in another block', () => {
  const markings = Array.from({ length: 7 }, (_, n) => ({ p: n === 3 ? 1 : 0 }));
  const steps = markings.slice(1).flatMap(() => trace.steps.slice(0, 1));
  assert.equal(
    drawTrace({ ...trace, markings, steps }, { width: 9 }),
    ['  0 1 2 3', 'p · · · ●', '', '  4 5 6', 'p · · ·']
      .join('\n')
      .replaceAll(/^ {2}(?=\d)/gm, '  '),
  );
});

test('an SVG of a trace shows every place, every step and the number of tokens', () => {
  const svg = traceToSvg(trace, 'never <done>');
  assert.match(svg, /^<svg [^]*<\/svg>\n$/);
  assert.equal(svg.match(/<circle /g)?.length, 4);
  for (const drawing of [
    'never &lt;done&gt;',
    '>permit<',
    '>12<',
    '1. from outside → asked',
    'a&lt;b',
  ])
    assert.ok(svg.includes(drawing), drawing);
});
